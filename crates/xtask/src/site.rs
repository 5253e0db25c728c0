//! `cargo xtask site`: README.md, docs/, the Python guide and the help of every command as one site that asks for nothing from elsewhere.
//!
//! ```text
//! pages of the repository, links followed -> target/site/pages -> mkdocs, strict -> target/site/html
//! ```
//!
//! Pages keep their places, so that links stay as they are; a link to a folder becomes one to a page that lists it. A link to
//! nothing, a page of docs/ that is in no section and a heading that is not there are errors. Without Python, or where its packages
//! cannot be had, links are checked all the same, and that there is no site is said aloud.

mod help;
mod markdown;

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::check::{Skipped, cargo, root, run, target_folder};
use crate::python;

/// Sections with their pages; every page of docs/ is in one of them.
const SECTIONS: [(&str, &[&str]); 4] = [
    (
        "Tutorials",
        &[
            "docs/svm.md",
            "docs/lasso.md",
            "docs/constrained.md",
            "docs/fused.md",
            "docs/allocate.md",
            "docs/portfolio.md",
            "docs/consensus.md",
        ],
    ),
    (
        "Reference",
        &[
            "docs/command-line.md",
            "docs/results.md",
            "docs/problem-file.md",
            "docs/checkpoints.md",
            "docs/glossary.md",
        ],
    ),
    (
        "How it works",
        &[
            "docs/methods.md",
            "docs/limits.md",
            "docs/cluster.md",
            "docs/scale.md",
            "docs/lock-free.md",
            "docs/pair-step.md",
            "docs/violating-pairs.md",
            "docs/certificate.md",
            "docs/theory.md",
            "docs/reproduction.md",
        ],
    ),
    ("The project", &["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]),
];
/// The Python guide; its examples and its reference are made by `python/docs/build.py`.
const GUIDE: &str = "python/docs/pages";
/// Larger files are listed, not copied.
const MOST_BYTES: u64 = 1 << 20;
/// What makes the site.
const MKDOCS: &str = "mkdocs-material>=9.5,<10";

pub(crate) fn test() -> Result<()> {
    cargo(&["build", "--workspace", "--lib", "--bins", "--examples"])?;
    let folder = target_folder().join("site");
    let pages = folder.join("pages");
    if pages.exists() {
        fs::remove_dir_all(&pages).with_context(|| format!("cannot remove {}", pages.display()))?;
    }
    let guide = guide();
    let mut site = Site::new(pages);
    site.ask("README.md");
    for (_, names) in SECTIONS {
        names.iter().for_each(|name| site.ask(name));
    }
    if let Ok(guide) = &guide {
        guide.iter().for_each(|name| site.ask(name));
    }
    site.check_sections()?;
    let count = site.assemble()?;
    let commands = help::write(&site.pages)?;
    println!("    {count} files, all links lead somewhere; {} pages of commands", commands.len());
    let settings = folder.join("mkdocs.yml");
    fs::write(&settings, mkdocs(&commands, guide.as_deref().unwrap_or_default()))?;
    let program = environment(&folder)?;
    let settings = settings.display().to_string();
    let quiet = [("NO_MKDOCS_2_WARNING", "1")];
    run(&program, &["build", "--strict", "--quiet", "--config-file", &settings], &quiet)?;
    println!("    {}", folder.join("html/index.html").display());
    match guide {
        Err(error) if error.is::<Skipped>() => {
            Err(Skipped(format!("the site has no Python guide: {error}")).into())
        }
        guide => guide.map(drop),
    }
}

/// The Python guide with its examples run, by its pages.
fn guide() -> Result<Vec<String>> {
    let interpreter = python::environment(&["test"])?;
    let package = python::assemble()?.display().to_string();
    let script = root().join("python/docs/build.py").display().to_string();
    run(
        &interpreter,
        &[&script, "--no-site"],
        &[("PYTHONPATH", &package), ("PYTHONDONTWRITEBYTECODE", "1")],
    )?;
    let mut names = vec![format!("{GUIDE}/index.md")];
    for folder in [GUIDE.to_owned(), format!("{GUIDE}/examples")] {
        for name in list(&root().join(&folder))? {
            let name = format!("{folder}/{name}");
            if is_page(&name) && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    Ok(names)
}

/// `mkdocs` of an environment that has nothing else.
fn environment(folder: &Path) -> Result<String> {
    let venv = folder.join("venv");
    let python = python::binary(&venv);
    let mkdocs = python.with_file_name(if cfg!(windows) { "mkdocs.exe" } else { "mkdocs" });
    if !mkdocs.exists() {
        let interpreter = python::interpreter()?;
        python::make(&interpreter, &venv)?;
        if let Err(error) = python::pip(&python, &[MKDOCS]) {
            return Err(
                Skipped(format!("THE SITE WAS NOT MADE: mkdocs cannot be installed ({error})")).into()
            );
        }
    }
    Ok(mkdocs.display().to_string())
}

/// Names in a folder, in their order.
fn list(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut names = entries
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}

/// Pages on their way into the site.
struct Site {
    pages: PathBuf,
    /// Asked for and not yet there, by their paths in the repository.
    queue: VecDeque<String>,
    /// What has been asked for, each with who asked first.
    known: BTreeMap<String, String>,
}

impl Site {
    fn new(pages: PathBuf) -> Self {
        Self { pages, queue: VecDeque::new(), known: BTreeMap::new() }
    }

    fn ask(&mut self, name: &str) {
        self.ask_for(name, "the sections of the site");
    }

    fn ask_for(&mut self, name: &str, who: &str) {
        if self.known.insert(name.to_owned(), who.to_owned()).is_none() {
            self.queue.push_back(name.to_owned());
        }
    }

    fn check_sections(&self) -> Result<()> {
        for name in list(&root().join("docs"))?.iter().filter(|name| is_page(name)) {
            ensure!(
                self.known.contains_key(&format!("docs/{name}")),
                "docs/{name} is in no section of the site; add it to `SECTIONS` in crates/xtask/src/site.rs"
            );
        }
        Ok(())
    }

    /// Copies everything that is asked for, and what that asks for; how many files.
    fn assemble(&mut self) -> Result<usize> {
        while let Some(name) = self.queue.pop_front() {
            let (source, target) = (root().join(&name), self.pages.join(&name));
            if let Some(folder) = target.parent() {
                fs::create_dir_all(folder)?;
            }
            if source.is_dir() {
                fs::create_dir_all(&target)?;
                let page = self.listing(&name)?;
                fs::write(target.join("index.md"), page)?;
            } else if is_page(&name) {
                let text = fs::read_to_string(&source)
                    .with_context(|| format!("cannot read {}", source.display()))?;
                let page = markdown::page(&text, |link| self.follow(&name, link))?;
                fs::write(&target, page)?;
            } else {
                fs::copy(&source, &target).with_context(|| format!("cannot copy {}", source.display()))?;
            }
        }
        Ok(self.known.len())
    }

    /// Where a link of a page leads in the site.
    fn follow(&mut self, page: &str, link: &str) -> Result<String> {
        if link.contains("://") || link.starts_with('#') || link.starts_with("mailto:") {
            return Ok(link.to_owned());
        }
        let (path, anchor) = link.split_once('#').map_or((link, ""), |(path, anchor)| (path, anchor));
        let folder = Path::new(page).parent().unwrap_or(Path::new(""));
        let found = plain(&folder.join(path))
            .with_context(|| format!("{page}: {link} leads out of the repository"))?;
        let place = root().join(&found);
        if place.is_dir() {
            let inside = if place.join("README.md").is_file() { "README.md" } else { "index.md" };
            let readme = format!("{found}/README.md");
            self.ask_for(if inside == "README.md" { &readme } else { &found }, page);
            return Ok(format!("{}/{inside}", path.trim_end_matches('/')));
        }
        ensure!(place.is_file(), "{page}: nothing is at {link}");
        self.ask_for(&found, page);
        Ok(if anchor.is_empty() { path.to_owned() } else { format!("{path}#{anchor}") })
    }

    /// A page in place of a folder: what is in it.
    fn listing(&mut self, name: &str) -> Result<String> {
        let mut page = format!("# {name}\n\n");
        for entry in list(&root().join(name))? {
            let path = format!("{name}/{entry}");
            let place = root().join(&path);
            if place.is_dir() {
                let inside = self.follow(&format!("{name}/x"), &entry)?;
                let _ = writeln!(page, "- [{entry}]({inside})");
            } else if fs::metadata(&place)?.len() <= MOST_BYTES {
                self.ask_for(&path, name);
                let _ = writeln!(page, "- [{entry}]({entry})");
            } else {
                let _ = writeln!(page, "- {entry} (in the repository)");
            }
        }
        Ok(page)
    }
}

fn is_page(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending == "md")
}

/// A path without `.` and `..`; none where it leaves the root.
fn plain(path: &Path) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
            Component::ParentDir => drop(parts.pop()?),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

/// The settings of mkdocs.
fn mkdocs(commands: &[String], guide: &[String]) -> String {
    let mut text = "site_name: equipoise\n\
        docs_dir: pages\n\
        site_dir: html\n\
        use_directory_urls: false\n\
        theme:\n  name: material\n  font: false\n  features: [navigation.sections, navigation.top, content.code.copy]\n  palette:\n\
        \x20   - media: \"(prefers-color-scheme: light)\"\n      scheme: default\n\
        \x20   - media: \"(prefers-color-scheme: dark)\"\n      scheme: slate\n\
        plugins: [search]\n\
        markdown_extensions: [tables, admonition, pymdownx.highlight, pymdownx.superfences]\n\
        validation:\n  nav: {omitted_files: ignore, not_found: warn}\n  links: {not_found: warn, anchors: warn, unrecognized_links: warn}\n\
        nav:\n  - Home: README.md\n"
        .to_owned();
    let section = |text: &mut String, title: &str, pages: &mut dyn Iterator<Item = &str>| {
        let _ = writeln!(text, "  - {title}:");
        for page in pages {
            let _ = writeln!(text, "      - {page}");
        }
    };
    for (title, pages) in SECTIONS {
        if title == "The project" && !guide.is_empty() {
            section(&mut text, "Python", &mut guide.iter().map(String::as_str));
        }
        section(&mut text, title, &mut pages.iter().copied());
        if title == "Reference" {
            section(&mut text, "Every option", &mut commands.iter().map(String::as_str));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_in_the_repository() {
        let of = |path: &str| plain(Path::new(path));
        assert_eq!(of("docs/../README.md").as_deref(), Some("README.md"));
        assert_eq!(of("docs/./images/a.svg").as_deref(), Some("docs/images/a.svg"));
        assert_eq!(of("docs/../../elsewhere"), None);
        assert_eq!(of("/etc/passwd"), None);
    }

    #[test]
    fn links_are_followed_and_those_to_nothing_are_refused() {
        let mut site = Site::new(PathBuf::new());
        assert_eq!(
            site.follow("docs/svm.md", "lasso.md#against-others").expect("there"),
            "lasso.md#against-others"
        );
        assert_eq!(site.follow("README.md", "benchmarks/svm").expect("a folder"), "benchmarks/svm/README.md");
        assert_eq!(site.follow("docs/svm.md", "../examples/").expect("a folder"), "../examples/index.md");
        for page in ["docs/lasso.md", "benchmarks/svm/README.md", "examples"] {
            assert!(site.known.contains_key(page), "{page}");
        }
        let error = site.follow("docs/svm.md", "nowhere.md").expect_err("nothing there");
        assert_eq!(error.to_string(), "docs/svm.md: nothing is at nowhere.md");
        assert!(site.follow("README.md", "../other").is_err());
    }
}
