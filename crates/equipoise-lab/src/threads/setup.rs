//! `setup.txt`: what the numbers depend on, and which parts were run.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;

use anyhow::{Context, Result};
use clap::ValueEnum;

use super::Arguments;

/// Flags of the compiler when this program was built.
const FLAGS: &str = match option_env!("RUSTFLAGS") {
    Some(flags) => flags,
    None => "none",
};

/// Appends a paragraph for this part; the machine is named once.
pub(super) fn write(arguments: &Arguments) -> Result<()> {
    let path = arguments.out.join("setup.txt");
    let file = OpenOptions::new().create(true).append(true).open(&path);
    let mut file = file.with_context(|| format!("cannot write {}", path.display()))?;
    let mut text = String::new();
    if file.metadata()?.len() == 0 {
        text.push_str(&machine());
    }
    let part = arguments.part.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned());
    let _ = writeln!(text, "\npart {part}{}", if arguments.quick { ", quick" } else { "" });
    let _ = writeln!(text, "  commit: {}", arguments.commit.as_deref().unwrap_or("not given"));
    let _ = writeln!(text, "  RUSTFLAGS: {FLAGS}; instructions: {}", instructions());
    let _ = writeln!(text, "  load before: {}", load());
    let _ = writeln!(text, "  thread counts: {}", given(arguments.threads_list.as_deref()));
    let repeats = arguments.repeats.map_or("of the part".into(), |repeats| repeats.to_string());
    let _ = writeln!(text, "  repeats: {repeats}");
    let _ = writeln!(
        text,
        "  delays: {}; locking: {}; graphs: {}; sets: {}",
        given(arguments.delays.as_deref()),
        given(arguments.locking.as_deref()),
        given(arguments.topologies.as_deref()),
        given(arguments.sets.as_deref())
    );
    let _ = writeln!(text, "  time limit of a run: {} s", arguments.limit());
    file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}

fn given<T: ToString>(list: Option<&[T]>) -> String {
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
