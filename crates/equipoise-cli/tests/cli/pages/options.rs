//! Commands and options, against help texts.

use std::fs;
use std::path::Path;

use super::{Names, below, in_code, names, page, rows};
use crate::equipoise;

/// Where the options of a command are described.
const DESCRIBED: [(&str, &[&str]); 7] = [
    ("svm.md", &["svm train", "svm predict", "svm verify", "svm cv", "svm path"]),
    (
        "lasso.md",
        &["lasso fit", "lasso path", "lasso cv", "lasso stability", "lasso verify", "lasso predict"],
    ),
    ("constrained.md", &["constrained fit", "constrained verify"]),
    ("fused.md", &["fused fit", "fused path", "fused verify"]),
    ("allocate.md", &["allocate", "allocate verify"]),
    ("portfolio.md", &["portfolio", "portfolio verify"]),
    ("consensus.md", &["consensus", "consensus verify"]),
];

/// Options of other programs that a page shows: those of mpirun and of Slurm.
const OF_OTHERS: [(&str, &[&str]); 1] = [(
    "cluster.md",
    &[
        "--bind-to",
        "--cpu-bind",
        "--cpus-per-task",
        "--hostfile",
        "--map-by",
        "--mca",
        "--ntasks-per-node",
        "--oversubscribe",
        "--time",
    ],
)];

fn help(words: &str) -> String {
    let args: Vec<&str> = words.split_whitespace().chain(["--help"]).collect();
    equipoise(&args).expect(0).stdout
}

/// The commands that a help lists.
fn commands(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = lines.take_while(|line| !line.trim().is_empty());
    let own = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let name = |line: &str| line.split_whitespace().next().unwrap_or_default().to_owned();
    own.map(name).filter(|name| name != "help").collect()
}

/// The long options in a line or a text.
fn long(text: &str) -> Names {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    let option = |word: &&str| {
        word.strip_prefix("--").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
    };
    words.filter(option).map(|word| word.trim_end_matches('-').to_owned()).collect()
}

/// The options of a command, those that all have left out.
fn options(words: &str) -> Names {
    let help = help(words);
    let lines = help.lines().filter(|line| line.trim_start().starts_with('-'));
    let first = |line: &str| long(line.trim_start().split("  ").next().unwrap_or_default());
    lines.flat_map(first).filter(|option| !["--help", "--version"].contains(&option.as_str())).collect()
}

#[test]
fn every_command_is_listed_with_what_is_below_it() {
    let page = page("command-line.md");
    let mut listed = Names::new();
    for row in rows(&page) {
        for code in in_code(&row[0]) {
            let name = code.split([' ', '|']).next().unwrap_or_default().to_owned();
            for below in commands(&help(&name)) {
                let there = row[0].contains(&below) || row[1].contains(&format!("`{below}`"));
                // `fit` is what is done where no word is typed.
                assert!(there || below == "fit", "`{name} {below}` is not in its row");
            }
            listed.insert(name);
        }
    }
    assert_eq!(listed, commands(&help("")).into_iter().collect());
}

#[test]
fn options_of_solve_and_verify_are_those_of_the_page() {
    let page = page("command-line.md");
    for command in ["solve", "verify"] {
        let row = rows(&page).into_iter().find(|row| row[0].starts_with(&format!("`{command} ")));
        let row = row.expect("the row of the command");
        let mut found = options(command);
        // These two have a page of their own.
        if command == "solve" {
            let checkpoints = self::page("checkpoints.md");
            found.retain(|option| !checkpoints.contains(&format!("{option} ")) || row[1].contains(&**option));
        }
        assert_eq!(long(&row[1]), found, "{command}");
    }
}

#[test]
fn every_option_of_a_model_is_on_its_page() {
    let shared = page("command-line.md") + &page("checkpoints.md");
    let mut missing = Vec::new();
    for (name, commands) in DESCRIBED {
        let text = page(name);
        let there = long(&text);
        for command in commands {
            for option in options(command) {
                if !there.contains(&option) && !long(&shared).contains(&option) {
                    missing.push(format!("{name}: `{command} {option}`"));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Options that pages speak of, but for those of cargo and others.
#[test]
fn every_option_on_a_page_exists() {
    let mut all = names(["--help", "--version"]);
    let mut queue = vec![String::new()];
    while let Some(words) = queue.pop() {
        all.extend(options(&words));
        queue.extend(
            commands(&help(&words)).into_iter().map(|next| format!("{words} {next}").trim().to_owned()),
        );
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = fs::read_dir(root.join("docs")).expect("the pages").flatten().map(|entry| entry.path());
    let pages = docs.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let mut unknown = Vec::new();
    for path in pages.chain([root.join("README.md")]) {
        let text = fs::read_to_string(&path).expect("a page");
        let own = text.lines().filter(|line| !["cargo ", "pip "].iter().any(|other| line.contains(other)));
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let of_others = OF_OTHERS.iter().filter(|(page, _)| *page == name).flat_map(|(_, options)| *options);
        let of_others = names(of_others.copied());
        let is_known = |option: &String| all.contains(option) || of_others.contains(option);
        for option in own.flat_map(long).filter(|option| !is_known(option)) {
            unknown.push(format!("{}: {option}", path.display()));
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
    assert!(below(&page("command-line.md"), "## Exit statuses").contains("130"));
}
