//! Problem files with one thing wrong each: the variant and the words.

use std::path::Path;

use equipoise::Control;
use equipoise_formats::{Error, ProblemFile};

use super::{assert_good_words, file, scratch};

const LINEAR: &str = "[smooth]\nkind = \"linear\"\nlinear = [1]\n";

fn read(path: impl AsRef<Path>) -> Result<ProblemFile<'static>, Error> {
    ProblemFile::read(path, &Control::unlimited())
}

fn refused(text: &str) -> Error {
    let error = ProblemFile::from_toml_str(text, "p.toml").expect_err(text);
    assert_good_words(&error);
    error
}

fn with(body: &str) -> Error {
    refused(&format!("{LINEAR}{body}"))
}

#[test]
fn unknown_keys_come_with_a_suggestion() {
    let error = with("[separable]\nkind = \"box\"\nlowr = 0\n");
    let expected = Error::UnknownKey {
        path: Path::new("p.toml").into(),
        table: "separable".into(),
        key: "lowr".into(),
        suggestion: Some("lower".into()),
        known: vec!["kind".into(), "lower".into(), "upper".into()],
    };
    assert_eq!(error, expected);
    let words = "p.toml: unknown key `lowr` in [separable], did you mean `lower`?; known: kind, lower, upper";
    assert_eq!(error.to_string(), words);
}

#[test]
fn misspelt_keys_are_unknown_rather_than_missing() {
    for (text, key, suggestion) in [
        ("[smooth]\nkind = \"least-squares\"\nmatirx = [[1]]\ntarget = [1]", "matirx", Some("matrix")),
        ("[smooth]\nkid = \"linear\"\nlinear = [1]", "kid", Some("kind")),
        ("[smooth]\nkind = \"linear\"\nlinear = [1]\nzzzz = 1", "zzzz", None),
        ("[smooth]\nkind = \"sum\"\nterms = [{kind = \"linear\", liner = [1]}]", "liner", Some("linear")),
        ("tolerance = 1\n[smooth]\nkind = \"linear\"\nlinear = [1]", "tolerance", None),
    ] {
        let error = refused(text);
        let Error::UnknownKey { key: found, suggestion: hint, .. } = &error else { panic!("{error}") };
        assert_eq!((found.as_str(), hint.as_deref()), (key, suggestion), "{error}");
    }
    for (line, hint) in [
        ("time_limits = 1", "time-limit"),
        ("thread = 2", "threads"),
        ("lock = \"none\"", "locking"),
        ("delay = 50", "delay-us"),
        ("step_rules = \"paper\"", "step-rule"),
        ("determinstic = true", "deterministic"),
        ("shedule = \"paper\"", "schedule"),
        ("batches = 2", "batch"),
        ("stepsize = 0.5", "step-size"),
    ] {
        let error = with(&format!("[solve]\n{line}"));
        assert!(error.to_string().contains(&format!("did you mean `{hint}`?")), "{error}");
    }
}

#[test]
fn unknown_tables_and_kinds_come_with_a_suggestion() {
    let error = with("[seperable]\nkind = \"l1\"\n");
    assert!(matches!(&error, Error::UnknownTable { found, suggestion: Some(hint), .. }
        if found == "seperable" && hint == "separable"));
    let error = refused("[smooth]\nkind = \"least_squares\"\n");
    assert!(matches!(&error, Error::UnknownKind { table, suggestion: Some(hint), .. }
        if table == "smooth" && hint == "least-squares"));
    let error = with("[separable]\nkind = \"Box\"\n");
    assert!(matches!(&error, Error::UnknownKind { suggestion: Some(hint), .. } if hint == "box"));
    let error = with("[coupling]\nkind = \"xyzzy\"\n");
    assert!(matches!(&error, Error::UnknownKind { suggestion: None, known, .. } if known.len() == 4));
}

#[test]
fn missing_keys_and_tables() {
    assert!(matches!(refused(""), Error::MissingTable { table, .. } if table == "smooth"));
    for (text, expected) in [
        ("[smooth]\n", "kind"),
        ("[smooth]\nkind = \"quadratic\"\n", "matrix or factor"),
        ("[smooth]\nkind = \"logistic\"\ntarget = [1]\n", "matrix"),
        ("[smooth]\nkind = \"huber\"\nmatrix = [[1]]\ntarget = [1]\n", "delta"),
        ("[smooth]\nkind = \"sum\"\n", "terms"),
        ("[smooth]\nkind = \"synthetic\"\nnodes = 1\nblock = 1\nrows = 1\n", "seed"),
        (&format!("{LINEAR}[separable]\nkind = \"l1\"\n"), "weight"),
        (&format!("{LINEAR}[coupling]\nkind = \"sum\"\n"), "rhs"),
        (&format!("{LINEAR}[blocks]\nauto = false\n"), "size or boundaries"),
    ] {
        let error = refused(text);
        assert!(matches!(&error, Error::MissingKey { key, .. } if key == expected), "{error}");
    }
}

#[test]
fn wrong_types_say_what_was_found() {
    for (text, key, found) in [
        ("smooth = 3", "smooth", "the number 3"),
        ("[smooth]\nkind = 3", "kind", "the number 3"),
        ("[smooth]\nkind = \"linear\"\nlinear = 3", "linear", "the number 3"),
        ("[smooth]\nkind = \"linear\"\nlinear = [1, true]", "linear[1]", "true"),
        ("[smooth]\nkind = \"quadratic\"\nmatrix = [1, 2]", "matrix[0]", "the number 1"),
        ("[smooth]\nkind = \"quadratic\"\nmatrix = [[1, 2], [3]]", "matrix[1]", "a row of 1"),
        ("[smooth]\nkind = \"quadratic\"\nmatrix = [[1, \"a\"]]", "matrix[0][1]", "the text \"a\""),
        ("[smooth]\nkind = \"distance\"\ntarget = 1", "target", "the number 1"),
        ("[smooth]\nkind = \"sum\"\nterms = []", "terms", "an array of 0"),
        ("[smooth]\nkind = \"sum\"\nterms = [1]", "terms[0]", "the number 1"),
        (
            "[smooth]\nkind = \"synthetic\"\nnodes = -1\nblock = 1\nrows = 1\nseed = 1",
            "nodes",
            "the number -1",
        ),
        (&format!("{LINEAR}[separable]\nkind = \"l1\"\nweight = 1979-05-27"), "weight", "a date"),
        (&format!("{LINEAR}[coupling]\nkind = \"row\"\nweights = [1]\nrhs = [1, 2]"), "rhs", "a list of 2"),
        (&format!("{LINEAR}[blocks]\nsize = 1.5"), "size", "the number 1.5"),
        (&format!("{LINEAR}[blocks]\nsize = 0"), "size", "the number 0"),
        (&format!("{LINEAR}[blocks]\nboundaries = [0, -2]"), "boundaries[1]", "the number -2.0"),
        (&format!("{LINEAR}[blocks]\nauto = 1"), "auto", "the number 1"),
        (&format!("{LINEAR}[graph]\nedges = [[0, 0.5]]"), "edges[0]", "the number 0.5"),
        (&format!("{LINEAR}[graph]\nedges = [[0]]"), "edges", "a 1 x 1 matrix"),
        (&format!("{LINEAR}[graph]\nprobabilities = \"unifrom\""), "probabilities", "the text \"unifrom\""),
        (&format!("{LINEAR}[solve]\nmax-epochs = \"ten\""), "max-epochs", "the text \"ten\""),
        (&format!("{LINEAR}[solve]\nseed = -1"), "seed", "the number -1"),
        (&format!("{LINEAR}[solve]\nthreads = -2"), "threads", "the number -2"),
        (&format!("{LINEAR}[solve]\ndelay-us = 0.5"), "delay-us", "the number 0.5"),
        (&format!("{LINEAR}[solve]\nlocking = 1"), "locking", "the number 1"),
        (&format!("{LINEAR}[solve]\nstep-rule = true"), "step-rule", "true"),
        (&format!("{LINEAR}[solve]\ndeterministic = \"yes\""), "deterministic", "the text \"yes\""),
        (&format!("{LINEAR}[solve]\nschedule = 2"), "schedule", "the number 2"),
        (&format!("{LINEAR}[solve]\nstep-size = \"long\""), "step-size", "the text \"long\""),
        (&format!("{LINEAR}[solve]\nbatch = 1.5"), "batch", "the number 1.5"),
        (&format!("{LINEAR}[solve]\ntolerance = [1]"), "tolerance", "an array of 1"),
    ] {
        let error = refused(text);
        let Error::WrongType { key: at, found: what, .. } = &error else { panic!("{error}") };
        assert_eq!((at.as_str(), what.as_str()), (key, found), "{error}");
    }
}

#[test]
fn keys_that_exclude_each_other() {
    for body in [
        "[blocks]\nsize = 1\nboundaries = [0, 1]\n",
        "[blocks]\nsize = 1\nauto = true\n",
        "[graph]\ntopology = \"ring\"\nedges = [[0, 1]]\n",
        "[graph]\nedges = [[0, 1, 2]]\nprobabilities = [2]\n",
        "[solve]\ntime-limit = 1\ntime_limit = 2\n",
        "[solve]\ndelay-us = 1\ndelay_us = 2\n",
    ] {
        let error = with(body);
        assert!(matches!(error, Error::ConflictingKeys { .. }), "{error}");
    }
    let error = refused("[smooth]\nkind = \"quadratic\"\nmatrix = [[1]]\nfactor = [[1]]\n");
    let expected = "p.toml: `matrix` and `factor` in [smooth] exclude each other: give one of them";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn syntax_errors_have_line_and_column() {
    let error = refused("[smooth]\nkind = \"é\" = 3\n");
    assert!(matches!(error, Error::TomlSyntax { line: 2, column: 12, .. }), "{error:?}");
    let error = refused("[smooth]\nkind = \"linear\"\nkind = \"linear\"\n");
    assert!(matches!(error, Error::TomlSyntax { line: 3, column: 1, .. }), "{error:?}");
}

#[test]
fn files_that_fail_are_named() {
    let path = file("problem-missing", "p.toml", "[smooth]\nkind = \"linear\"\nlinear = \"no.csv\"\n");
    let error = read(&path).expect_err("missing");
    let Error::Io { kind, asked_by: Some(key), path: missing, .. } = &error else { panic!("{error}") };
    assert_eq!(*kind, std::io::ErrorKind::NotFound);
    assert_eq!(**missing, path.with_file_name("no.csv"));
    assert!(key.starts_with("`linear` in [smooth] of "), "{error}");

    let error = refused("[smooth]\nkind = \"linear\"\nlinear = \"data.txt\"\n");
    assert!(matches!(error, Error::UnknownExtension { asked_by: Some(_), .. }), "{error}");

    let error = read(scratch("problem-none").join("p.toml")).expect_err("missing");
    assert!(matches!(error, Error::Io { asked_by: None, .. }), "{error}");

    let bad = file("problem-binary", "p.toml", b"[smooth]\nkind = \"\xff\"\n");
    assert!(matches!(read(bad), Err(Error::NotText { line: 2, .. })));
}
