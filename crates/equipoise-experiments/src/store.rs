//! Records on disk: a CSV file of rows and a JSON file of everything else, for every cell.
//!
//! ```text
//! DIR/cells/EXPERIMENT/NAME.csv     written first, whole
//! DIR/cells/EXPERIMENT/NAME.json    written last, whole: a cell with this file is finished
//! ```
//!
//! - Given: a folder. Returns: the records in it that are of this machine and this version.
//! - Must not know: what was run.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use equipoise_formats::{check_writable, numeral, write_whole};

use crate::cell::{Cell, Record};

/// A folder of records.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
    machine: String,
    version: String,
}

impl Store {
    /// Opens a folder, makes it where it is missing, and sees that it can be written to. The commit that a program was made of,
    /// where it is known, is part of the version: what another one recorded is run again.
    pub fn open(folder: &Path, commit: Option<&str>) -> Result<Self> {
        let cells = folder.join("cells");
        fs::create_dir_all(&cells).with_context(|| {
            format!("cannot make the folder {}; name another with --out", cells.display())
        })?;
        check_writable(folder.join("index.html"))?;
        check_writable(cells.join("probe"))?;
        Ok(Self { folder: folder.to_path_buf(), machine: machine(), version: version(commit) })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The machine that records are of.
    pub fn machine(&self) -> &str {
        &self.machine
    }

    /// The version that records are of.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The record of a cell, where it is finished and of this machine and version.
    pub fn find(&self, cell: &Cell) -> Option<Record> {
        let path = self.path(cell);
        let mut record: Record = serde_json::from_slice(&fs::read(path.with_extension("json")).ok()?).ok()?;
        let same = record.cell == Cell { weight: 0, ..cell.clone() }
            && record.machine == self.machine
            && record.version == self.version;
        if !same {
            return None;
        }
        record.cell.weight = cell.weight;
        record.outcome.rows = rows(&fs::read_to_string(path.with_extension("csv")).ok()?)?;
        Some(record)
    }

    /// Makes a record of what a cell left.
    pub fn keep(&self, cell: &Cell, outcome: crate::Outcome, seconds: f64) -> Result<Record> {
        let (machine, version) = (self.machine.clone(), self.version.clone());
        let record = Record { cell: cell.clone(), outcome, machine, version, seconds };
        let path = self.path(cell);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        }
        let mut csv = record.outcome.columns.join(",") + "\n";
        for row in &record.outcome.rows {
            let cells: Vec<String> = row.iter().map(|cell| numeral(*cell)).collect();
            csv.push_str(&(cells.join(",") + "\n"));
        }
        write_whole(path.with_extension("csv"), |out| out.write_all(csv.as_bytes()))?;
        let json = serde_json::to_string_pretty(&record)?;
        write_whole(path.with_extension("json"), |out| writeln!(out, "{json}"))?;
        Ok(record)
    }

    /// The record of a cell: the one that is there, or that of a run which is made and recorded now. All that is measured in this
    /// project without other programs is measured through here.
    pub fn found_or(&self, cell: &Cell, run: impl FnOnce() -> Result<crate::Outcome>) -> Result<Record> {
        if let Some(record) = self.find(cell) {
            return Ok(record);
        }
        let begun = Instant::now();
        let outcome = run().with_context(|| format!("cell {} of {}", cell.file(), cell.experiment))?;
        self.keep(cell, outcome, begun.elapsed().as_secs_f64())
    }

    /// Writes a file of the page.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf> {
        let path = self.folder.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        }
        write_whole(&path, |out| out.write_all(content))?;
        Ok(path)
    }

    fn path(&self, cell: &Cell) -> PathBuf {
        // A dot in a value must not be taken for the beginning of an ending.
        self.folder.join("cells").join(&cell.experiment).join(cell.file().replace('.', "p"))
    }
}

/// Numbers under a first line of names.
fn rows(text: &str) -> Option<Vec<Vec<f64>>> {
    let row = |line: &str| line.split(',').map(|cell| cell.parse().ok()).collect();
    text.lines().skip(1).map(row).collect()
}

/// Processor, cores and memory, in words.
pub fn machine() -> String {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find(|line| line.starts_with("model name"));
    let model =
        model.and_then(|line| line.split_once(':')).map_or("unknown processor", |(_, model)| model.trim());
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory = memory.lines().next().and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    let memory = memory.map_or(String::new(), |kib| format!(", {:.0} GiB", kib / f64::from(1 << 20)));
    format!("{model}, {} cores{memory}, {}", cores(), std::env::consts::OS)
}

/// Cores that this process may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The version of this crate, and the commit.
fn version(commit: Option<&str>) -> String {
    let version = env!("CARGO_PKG_VERSION");
    commit.map_or_else(|| format!("equipoise {version}"), |commit| format!("equipoise {version} ({commit})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("equipoise-store-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn a_record_is_found_again_and_half_of_one_is_not() {
        let store = Store::open(&scratch("again"), None).expect("writable");
        let cell = Cell::new("theory", 1, 5).with("b", &0.5);
        assert!(store.find(&cell).is_none());
        let mut outcome = Outcome::under(&["k", "gap"]).value("slope", -0.1).word("status", "done");
        outcome.rows = vec![vec![0.0, 0.1 + 0.2], vec![1.0, f64::INFINITY]];
        let kept = store.keep(&cell, outcome, 0.25).expect("written");
        assert_eq!(store.find(&cell), Some(kept), "every digit");
        assert!(store.find(&Cell { seed: 2, ..cell.clone() }).is_none());
        // Killed between the two files, or of another machine: to be run again.
        fs::remove_file(store.path(&cell).with_extension("json")).expect("there");
        assert!(store.find(&cell).is_none());
    }

    #[test]
    fn another_version_is_run_again() {
        let store = Store::open(&scratch("version"), Some("one")).expect("writable");
        let cell = Cell::new("theory", 1, 5);
        store.keep(&cell, Outcome::under(&["k"]), 0.0).expect("written");
        assert!(store.find(&cell).is_some());
        assert!(Store::open(store.folder(), Some("two")).expect("there").find(&cell).is_none());
        assert!(Store { version: "older".into(), ..store.clone() }.find(&cell).is_none());
        assert!(Store { machine: "other".into(), ..store }.find(&cell).is_none());
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let error = Store::open(Path::new("/proc/no-such-place"), None).expect_err("not writable");
        assert!(format!("{error:#}").contains("/proc/no-such-place"), "{error:#}");
    }
}
