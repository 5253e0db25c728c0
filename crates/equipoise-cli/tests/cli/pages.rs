//! What the pages of docs/ list is what there is: commands and their options, keys of problem files, fields of results.
//!
//! The program is asked, never its code: help texts list commands and options, messages the kinds and keys that are known, and
//! results have their fields.

mod fields;
mod options;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use equipoise::{Method, Named as _};

use crate::{equipoise, solve_text};

type Names = BTreeSet<String>;

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    fs::read_to_string(path).expect("the page")
}

/// What is below a heading, up to the next one.
fn below<'a>(page: &'a str, heading: &str) -> &'a str {
    let start = page.find(&format!("\n{heading}\n")).expect(heading) + heading.len() + 2;
    let rest = &page[start..];
    &rest[..rest.find("\n#").unwrap_or(rest.len())]
}

/// The cells of a row of a table; bars in code do not count.
fn cells(row: &str) -> Vec<String> {
    let plain = row.trim().trim_matches('|').replace("\\|", "\u{0}");
    plain.split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect()
}

/// The rows of the first table, without its head.
fn rows(text: &str) -> Vec<Vec<String>> {
    let table =
        text.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    table.skip(2).map(cells).collect()
}

/// Everything in backticks.
fn in_code(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

fn names<'a>(list: impl IntoIterator<Item = &'a str>) -> Names {
    list.into_iter().map(str::to_owned).collect()
}

/// What a message lists behind `known: `.
fn known(test: &str, problem: &str) -> Names {
    let said = solve_text(test, problem, &[]).expect(2).stderr;
    let list = said.trim().rsplit_once("known: ").expect("a message that lists what is known").1;
    let list = list.split(';').next().unwrap_or_default();
    names(list.split(", "))
}

/// What a problem needs before anything else is looked at.
const SMOOTH: &str = "[smooth]\nkind = \"linear\"\nlinear = [1, 2]\n";

#[test]
fn kinds_and_keys_of_problem_files_are_those_of_the_page() {
    let page = page("problem-file.md");
    let all = rows(below(&page, "## Tables and kinds"));
    let mut table = String::new();
    let mut listed: Vec<(String, Names)> = Vec::new();
    for row in &all {
        if !row[0].is_empty() {
            table = row[0].trim_matches('`').to_owned();
        }
        let before = if table == "[smooth]" { "" } else { SMOOTH };
        // What is in brackets is about the values, and what follows a sign is one.
        let plain = row[2].split('(').map(|part| part.split_once(')').map_or(part, |(_, rest)| rest));
        let plain = plain.collect::<String>();
        let key = |code: &str| code.split(' ').next().unwrap_or_default().to_owned();
        let mut keys: Names = in_code(&plain).into_iter().map(key).collect();
        let kind = in_code(&row[1]).first().map(|kind| (*kind).to_owned());
        let asked = kind.as_ref().map_or(String::new(), |kind| format!("kind = \"{kind}\"\n"));
        if let Some(kind) = kind {
            keys.insert("kind".into());
            match listed.iter_mut().find(|(name, _)| *name == table) {
                Some((_, kinds)) => drop(kinds.insert(kind)),
                None => listed.push((table.clone(), Names::from([kind]))),
            }
        }
        let found = known("pages-kinds", &format!("{before}{table}\n{asked}unheard-of = 1\n"));
        assert_eq!(keys, found, "{table} {asked}");
    }
    assert_eq!(listed.len(), 3);
    for (table, kinds) in listed {
        let before = if table == "[smooth]" { "" } else { SMOOTH };
        assert_eq!(
            kinds,
            known("pages-kinds", &format!("{before}{table}\nkind = \"unheard-of\"\n")),
            "{table}"
        );
    }
}

#[test]
fn every_method_is_in_the_help_and_on_the_pages() {
    let all = names(Method::ALL.iter().map(|(name, _)| *name));
    let help = equipoise(&["solve", "--help"]).expect(0).stdout;
    let lines = help.lines().skip_while(|line| !line.trim_start().starts_with("--method "));
    let option: Vec<&str> = lines
        .enumerate()
        .take_while(|(k, line)| *k == 0 || !line.trim_start().starts_with('-'))
        .map(|one| one.1)
        .collect();
    let listed = in_code(&option.join(" ")).into_iter().map(str::to_owned).collect::<Names>();
    assert_eq!(listed, all, "in the help");
    let page_of_methods = page("methods.md");
    let table = rows(below(&page_of_methods, "## Which method"));
    let first: Names = table.iter().flat_map(|row| in_code(&row[0])).map(str::to_owned).collect();
    assert_eq!(first, all, "in docs/methods.md");
    let commands = page("command-line.md");
    let solve =
        rows(&commands).into_iter().find(|row| row[0].starts_with("`solve")).expect("the row of solve");
    let typed =
        in_code(&solve[1]).into_iter().find_map(|code| code.strip_prefix("--method ").map(str::to_owned));
    assert_eq!(names(typed.expect("the option").split('|')), all, "in docs/command-line.md");
}

#[test]
fn keys_of_solve_and_topologies_are_those_of_the_page() {
    let page = page("problem-file.md");
    let first = |rows: Vec<Vec<String>>| -> Names {
        rows.iter().flat_map(|row| in_code(&row[0])).map(str::to_owned).collect()
    };
    let solve = known("pages-solve", &format!("{SMOOTH}[solve]\nunheard-of = 1\n"));
    assert_eq!(first(rows(below(&page, "## `[solve]`"))), solve);
    let mut topologies = first(rows(below(&page, "## `[graph]`")));
    topologies.retain(|name| !name.contains(':'));
    assert_eq!(topologies, known("pages-solve", &format!("{SMOOTH}[graph]\ntopology = \"unheard-of\"\n")));
}
