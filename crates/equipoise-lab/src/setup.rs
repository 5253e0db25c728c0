//! `setup.txt`: what the numbers depend on, and which parts were run.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use clap::ValueEnum;

/// Flags of the compiler when this program was built.
const FLAGS: &str = match option_env!("RUSTFLAGS") {
    Some(flags) => flags,
    None => "none",
};

/// A part that is about to be run.
pub(crate) struct Setup<'a> {
    pub(crate) part: String,
    pub(crate) quick: bool,
    pub(crate) commit: Option<&'a str>,
    /// Lines about what was chosen.
    pub(crate) choices: Vec<String>,
}

impl Setup<'_> {
    /// Appends a paragraph for this part; the machine is named once.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join("setup.txt");
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let mut file = file.with_context(|| format!("cannot write {}", path.display()))?;
        let mut text = String::new();
        if file.metadata()?.len() == 0 {
            text.push_str(&machine());
        }
        let _ = writeln!(text, "\npart {}{}", self.part, if self.quick { ", quick" } else { "" });
        let _ = writeln!(text, "  commit: {}", self.commit.unwrap_or("not given"));
        let _ = writeln!(text, "  RUSTFLAGS: {FLAGS}; instructions: {}", instructions());
        let _ = writeln!(text, "  load before: {}", load());
        for choice in &self.choices {
            let _ = writeln!(text, "  {choice}");
        }
        file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// The name of a part on the command line.
pub(crate) fn name_of(part: &impl ValueEnum) -> String {
    part.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
}

/// A list that was given, or that the part's own is used.
pub(crate) fn given<T: ToString>(list: Option<&[T]>) -> String {
    let words = |list: &[T]| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    list.map_or("of the part".into(), words)
}

fn machine() -> String {
    let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find(|line| line.starts_with("model name"));
    let model = model.and_then(|line| line.split_once(':')).map_or("unknown", |(_, model)| model.trim());
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory = memory.lines().next().and_then(|line| line.split_once(':'));
    let memory = memory.map_or("unknown", |(_, size)| size.trim());
    format!("processor: {model}\ncores: {cores}\nmemory: {memory}\n")
}

fn load() -> String {
    std::fs::read_to_string("/proc/loadavg").unwrap_or_else(|_| "unknown".into()).trim().to_owned()
}

/// The vector instructions that the compiler was allowed.
fn instructions() -> &'static str {
    if cfg!(target_feature = "avx512f") {
        "AVX-512"
    } else if cfg!(all(target_feature = "avx2", target_feature = "fma")) {
        "AVX2 and FMA"
    } else {
        "those of the default target"
    }
}
