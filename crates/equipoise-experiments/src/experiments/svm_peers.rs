//! LIBSVM and LIBLINEAR, where their programs are installed: the same data in a file, their time, their model judged here.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::svm_data::Data;

/// The programs that are looked for, by the names of Debian's packages and of the authors.
const PROGRAMS: [(&str, &[&str]); 2] = [("libsvm", &["svm-train"]), ("liblinear", &["liblinear-train"])];

/// The names of those that are installed.
pub(super) fn installed() -> Vec<&'static str> {
    PROGRAMS.iter().filter(|(name, _)| program(name).is_some()).map(|(name, _)| *name).collect()
}

fn program(peer: &str) -> Option<PathBuf> {
    let names = PROGRAMS.iter().find(|(name, _)| *name == peer)?.1;
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
        .find(|file| file.is_file())
}

/// What a peer did.
pub(super) struct Trained {
    pub(super) seconds: f64,
    pub(super) weights: Vec<f64>,
    pub(super) bias: f64,
}

/// Trains at its default tolerance, hinge loss.
pub(super) fn train(peer: &str, data: &Data, features: usize, cost: f64) -> Result<Trained> {
    let program = program(peer).with_context(|| format!("{peer} is not installed"))?;
    let folder = std::env::temp_dir().join(format!("equipoise-lab-{}-{peer}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let outcome = in_folder(&program, peer, &folder, data, features, cost);
    let _ = std::fs::remove_dir_all(&folder);
    outcome
}

fn in_folder(
    program: &Path,
    peer: &str,
    folder: &Path,
    data: &Data,
    features: usize,
    cost: f64,
) -> Result<Trained> {
    let (text, model) = (folder.join("data"), folder.join("model"));
    let mut out = std::io::BufWriter::new(std::fs::File::create(&text)?);
    for (i, label) in data.labels.iter().enumerate() {
        write!(out, "{label:+}")?;
        let (indices, values) = data.rows.row(i);
        for (k, index) in indices.iter().enumerate() {
            write!(out, " {}:{}", index + 1, values.at(k))?;
        }
        writeln!(out)?;
    }
    out.flush()?;
    drop(out);
    let cost = cost.to_string();
    let mut command = Command::new(program);
    match peer {
        "libsvm" => command.args(["-q", "-s", "0", "-t", "0", "-c", &cost]),
        _ => command.args(["-q", "-s", "3", "-B", "1", "-c", &cost]),
    };
    let begun = Instant::now();
    let status = command.arg(&text).arg(&model).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    let seconds = begun.elapsed().as_secs_f64();
    ensure!(status.success(), "{} ended with {status}", program.display());
    let model = std::fs::read_to_string(&model)?;
    let (weights, bias) =
        if peer == "libsvm" { from_libsvm(&model, features)? } else { from_liblinear(&model, features)? };
    Ok(Trained { seconds, weights, bias })
}

/// w = sum of coefficients times support vectors; the first label of the model is the positive side.
fn from_libsvm(model: &str, features: usize) -> Result<(Vec<f64>, f64)> {
    let field = |name: &str| model.lines().find_map(|line| line.strip_prefix(name).map(str::trim));
    let rho: f64 = field("rho").context("no rho in the model")?.parse()?;
    let sign = if field("label").is_some_and(|labels| labels.starts_with('-')) { -1.0 } else { 1.0 };
    let mut weights = vec![0.0; features];
    for line in model.lines().skip_while(|line| *line != "SV").skip(1) {
        let mut words = line.split_whitespace();
        let coefficient: f64 = words.next().context("an empty line")?.parse()?;
        for word in words {
            let (index, value) = word.split_once(':').context("no colon")?;
            weights[index.parse::<usize>()? - 1] += sign * coefficient * value.parse::<f64>()?;
        }
    }
    Ok((weights, -sign * rho))
}

fn from_liblinear(model: &str, features: usize) -> Result<(Vec<f64>, f64)> {
    let sign = if model.lines().any(|line| line.starts_with("label -")) { -1.0 } else { 1.0 };
    let numbers = model.lines().skip_while(|line| *line != "w").skip(1);
    let mut weights: Vec<f64> =
        numbers.map(|line| line.trim().parse::<f64>().map(|w| sign * w)).collect::<Result<_, _>>()?;
    let bias = weights.pop().unwrap_or(0.0);
    weights.resize(features, 0.0);
    Ok((weights, bias))
}
