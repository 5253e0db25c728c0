//! Arguments that cannot be understood: what was typed in another program's spelling, said in ours.
//!
//! - Given: the words typed, and what the parser made of them.
//! - Returns: hints, a line each; none where nothing is recognised.
//! - Must not know: what the commands do.
//!
//! | LIBSVM, LIBLINEAR | here |
//! |---|---|
//! | `-c C`, `-n NU`, `-p EPSILON`, `-e EPS`, `-s TYPE`, `-wL W` | `--cost`, `--nu`, `--epsilon`, `--gap`, `--kind`, `--class-weight L=W` |
//! | `-v K` | `equipoise svm cv DATA --folds K` |
//! | `-b 1` | `--probabilities` |
//! | `-t`, `-g`, `-r`, `-d`, `-m`, `-h` | not there: of kernels, or found out |
//! | a model file behind the data | `--model FILE` |

/// Hints for words of `equipoise svm ...` that LIBSVM and LIBLINEAR understand.
pub(crate) fn hints(words: &[String]) -> Vec<String> {
    let [_, svm, command, rest @ ..] = words else { return Vec::new() };
    if svm != "svm" {
        return Vec::new();
    }
    let mut hints = Vec::new();
    let mut files = Vec::new();
    let mut at = 0;
    while at < rest.len() {
        let (word, value) = (rest[at].as_str(), rest.get(at + 1).map_or("...", String::as_str));
        let is_long = word.starts_with("--");
        if let Some((hint, has_value)) = translated(command, word, value) {
            hints.push(format!("hint: LIBSVM's `{word} {value}` is {hint} here"));
            at += usize::from(has_value);
        } else if !is_long && !word.starts_with('-') {
            files.push(word);
        } else if is_long && !word.contains('=') && takes_value(word) {
            at += 1;
        }
        at += 1;
    }
    match (command.as_str(), files.as_slice()) {
        ("train", files) if files.iter().any(|word| ["platt", "isotonic"].contains(word)) => {
            hints.push(
                "hint: how probabilities are found goes with a sign, as in `--probabilities=isotonic`".into(),
            );
        }
        ("train", [_, model, ..]) => {
            hints.push(format!("hint: the model file is named by `--model {model}`"));
        }
        ("predict", [_, model]) => hints.push(format!("hint: the model file is named by `--model {model}`")),
        ("predict", [_, model, out, ..]) => {
            hints.push(format!("hint: the files are named by `--model {model} --out {out}`"));
        }
        _ => {}
    }
    hints
}

/// Our spelling of an option of LIBSVM, and whether a value follows it.
fn translated(command: &str, word: &str, value: &str) -> Option<(String, bool)> {
    let kind = match value {
        "0" => "`--kind svc`",
        "1" => "`--kind nu-svc`",
        "2" => "`--kind one-class`",
        "3" | "11" | "12" | "13" => "`--kind svr`",
        _ => "`--kind` with one of svc, nu-svc, svr, one-class",
    };
    let ours = match word {
        "-c" => format!("`--cost {value}`"),
        "-n" => format!("`--nu {value}`"),
        "-p" => format!("`--epsilon {value}`"),
        "-e" => format!("`--gap {value}`, an allowed duality gap,"),
        "-s" => kind.into(),
        "-v" => format!("`equipoise svm cv DATA --folds {value}`"),
        "-b" if command == "predict" => "`--probabilities --out FILE`".into(),
        "-b" => "`--probabilities`".into(),
        "-B" => "not needed: the bias is always there and not penalised; `--no-bias` leaves it out".into(),
        "-t" => "not needed: models are linear".into(),
        "-h" => "not needed: which variables are looked at is found out".into(),
        "-m" => "not needed: no kernel matrix is kept".into(),
        "-g" | "-r" | "-d" => "not needed: that is of kernels, and models are linear".into(),
        "-wi" => "`--class-weight LABEL=WEIGHT`".into(),
        _ => {
            let label = word.strip_prefix("-w").filter(|label| label.parse::<f64>().is_ok())?;
            return Some((format!("`--class-weight {label}={value}`"), true));
        }
    };
    Some((ours, true))
}

/// Whether a long option of `svm` is followed by a value; flags are few.
fn takes_value(word: &str) -> bool {
    !matches!(
        word,
        "--json"
            | "--quiet"
            | "--no-bias"
            | "--no-header"
            | "--deterministic"
            | "--keep-partial"
            | "--resume"
            | "--probabilities"
            | "--decision-values"
            | "--help"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> String {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        hints(&words).join("\n")
    }

    #[test]
    fn spellings_of_libsvm_are_translated() {
        for (line, hint) in [
            ("equipoise svm train -c 10 a9a", "`--cost 10`"),
            ("equipoise svm train a9a -s 3 -p 0.2", "`--kind svr`"),
            ("equipoise svm train a9a -s 3 -p 0.2", "`--epsilon 0.2`"),
            ("equipoise svm train -v 5 a9a", "`equipoise svm cv DATA --folds 5`"),
            ("equipoise svm train -w1 3 a9a", "`--class-weight 1=3`"),
            ("equipoise svm train -w-1 3 a9a", "`--class-weight -1=3`"),
            ("equipoise svm train a9a a9a.model", "`--model a9a.model`"),
            ("equipoise svm train a -m 100", "`-m 100` is not needed"),
            ("equipoise svm train a -g 0.1", "`-g 0.1` is not needed"),
            ("equipoise svm train a -wi 2", "`--class-weight LABEL=WEIGHT`"),
            ("equipoise svm train --cost 10 a9a a9a.model", "`--model a9a.model`"),
            ("equipoise svm train a9a --probabilities isotonic", "`--probabilities=isotonic`"),
            ("equipoise svm predict a9a.t a9a.model out", "`--model a9a.model --out out`"),
        ] {
            let found = of(line);
            assert!(found.contains(hint), "{line}: {found:?}");
        }
        for flag in ["-m", "-g", "-r", "-d", "-h", "-t", "-wi", "-B"] {
            let found = of(&format!("equipoise svm train a9a {flag} 100"));
            assert!(
                found.contains(&format!("`{flag} 100`")) && !found.contains("--model"),
                "{flag}: {found:?}"
            );
        }
        for line in ["equipoise svm train a9a --cost x", "equipoise solve -c 3", "equipoise svm", "equipoise"]
        {
            assert_eq!(of(line), "", "{line}");
        }
    }
}
