//! Linear and quadratic programs.

use std::path::Path;

use equipoise::{Control, Settings, Status, solve};
use equipoise_formats::mps::{Program, parse_program};
use equipoise_formats::problem_file::{Building, Pairs};
use equipoise_formats::{Error, ProblemFile};

const HS35: &str = include_str!("../../../../examples/problems/hs35.qps");

/// A file around these sections, over the columns x and y and the rows `cost`, e, l and g.
fn around(sections: &str) -> String {
    format!(
        "NAME small\nROWS\n N cost\n E e\n L l\n G g\n N other\nCOLUMNS\n x cost 1 e 1\n x l 1\n y g 2 other 7\n\
         {sections}ENDATA\n"
    )
}

fn parse(text: &str) -> Result<Program, Error> {
    parse_program(text, Path::new("p.mps"), &Control::unlimited())
}

fn refusal(text: &str) -> String {
    parse(text).expect_err("refused").to_string()
}

/// The optimum that the solver proves, and x.
fn optimum(program: Program) -> (f64, Vec<f64>) {
    let file = program.into_problem().expect("words");
    let control = Control::unlimited();
    let problem = file.build(&Building::new(Path::new("p.mps"), Pairs::Every, &control)).expect("a problem");
    let solution = solve(&problem, &Settings { tolerance: 1e-9, ..Settings::default() }).expect("a solution");
    assert_eq!(solution.status, Status::Converged);
    assert!(solution.certificate.is_proven && solution.certificate.lower_bound.is_some());
    (solution.certificate.objective, solution.x)
}

#[test]
fn a_quadratic_program_is_what_its_file_says() {
    let program = parse(HS35).expect("read");
    assert_eq!((program.name.as_str(), program.constant), ("HS35", 9.0));
    assert_eq!(program.variables, ["X1", "X2", "X3"]);
    assert_eq!(program.linear, [-8.0, -6.0, -4.0]);
    assert_eq!(program.entries, [(0, 0, 1.0), (0, 1, 1.0), (0, 2, 2.0)]);
    assert_eq!((program.rows[0].low, program.rows[0].high), (f64::NEG_INFINITY, 3.0));
    assert_eq!(program.quadratic.len(), 7, "mirrored entries count twice");
    let (objective, x) = optimum(program);
    assert!((objective - 1.0 / 9.0).abs() < 1e-8, "{objective}");
    assert!((x[0] - 4.0 / 3.0).abs() < 1e-3 && x[4] == 1.0, "{x:?}");
}

#[test]
fn a_linear_program_with_every_kind_of_row_is_solved() {
    // min -x - 2y, x + y <= 4, x - y >= -2, 1 <= x + 3y <= 9 (range), x free but <= 3: at (1.5, 2.5).
    let text = "NAME lp\nROWS\n N c\n L a\n G b\n L r\nCOLUMNS\n x c -1 a 1\n x b 1 r 1\n y c -2 a 1\n y b -1 r 3\nRHS\n \
                rhs a 4 b -2\n rhs r 9\nRANGES\n rng r 8\nBOUNDS\n MI bnd x\n UP bnd x 3\nENDATA\n";
    let (objective, x) = optimum(parse(text).expect("read"));
    assert!((objective + 6.5).abs() < 1e-8 && (x[0] - 1.5).abs() < 1e-6, "{objective} {x:?}");
}

#[test]
fn rows_ranges_and_bounds_mean_what_solvers_agree_on() {
    let rows = |sections: &str| {
        let program = parse(&around(sections)).expect("read");
        program.rows.iter().map(|row| (row.low, row.high)).collect::<Vec<_>>()
    };
    let (below, above) = (f64::NEG_INFINITY, f64::INFINITY);
    assert_eq!(rows(""), [(0.0, 0.0), (below, 0.0), (0.0, above)]);
    let right = "RHS\n rhs e 1 l 2\n rhs g 3\n";
    assert_eq!(rows(right), [(1.0, 1.0), (below, 2.0), (3.0, above)]);
    let wide = format!("{right}RANGES\n r e -4 l 5\n r g -6\n");
    assert_eq!(rows(&wide), [(-3.0, 1.0), (-3.0, 2.0), (3.0, 9.0)]);
    assert_eq!(
        rows("RHS\n e 1\n l 1e20\nRANGES\n e 4\n"),
        [(1.0, 5.0), (below, above), (0.0, above)],
        "no name of a set"
    );

    let bounds = |lines: &str| {
        let program = parse(&around(&format!("BOUNDS\n{lines}"))).expect("read");
        (program.lower[0], program.upper[0])
    };
    assert_eq!(bounds(" UP b x 4\n"), (0.0, 4.0));
    assert_eq!(bounds(" UP b x -4\n"), (below, -4.0));
    assert_eq!(bounds(" LO b x -9\n UP b x -4\n"), (-9.0, -4.0));
    assert_eq!(bounds(" FX x 2.5\n"), (2.5, 2.5));
    assert_eq!(bounds(" FR b x\n"), (below, above));
    assert_eq!(bounds(" MI x\n UP b x 1e30\n"), (below, above));
    assert_eq!(bounds(" UP b x 4\n PL b x\n"), (0.0, above));
}

#[test]
fn names_with_blanks_are_read_from_their_places() {
    let text = "NAME          CARDS\nROWS\n N  THE COST\n E  ONE ROW\nCOLUMNS\n    COL ONE   THE COST           1.0   \
                ONE ROW            2.0\nRHS\n    RHS       ONE ROW            4.0\nENDATA\n";
    let program = parse(text).expect("read");
    assert_eq!((program.variables[0].as_str(), program.rows[0].name.as_str()), ("COL ONE", "ONE ROW"));
    assert_eq!((program.rows[0].low, program.linear[0], program.entries[0].2), (4.0, 1.0, 2.0));
}

#[test]
fn rows_open_on_both_sides_are_left_out_of_the_problem() {
    let file = parse(&around("RHS\n r l 1e20\n")).expect("read").into_problem().expect("words");
    assert_eq!(file.names, ["x", "y"]);
    let control = Control::unlimited();
    let problem = file.build(&Building::new(Path::new("p"), Pairs::Every, &control)).expect("a problem");
    assert_eq!((problem.dimension(), problem.coupling().rows()), (3, 2), "x, y and the s of row g");
}

#[test]
fn a_file_is_known_by_its_ending_packed_or_not() {
    let folder = super::scratch("mps");
    for (name, packed) in [("hs35.qps", false), ("HS35.MPS", false), ("hs35.qps.gz", true)] {
        let path = folder.join(name);
        let mut bytes = HS35.as_bytes().to_vec();
        if packed {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            std::io::Write::write_all(&mut encoder, &bytes).expect("packed");
            bytes = encoder.finish().expect("packed");
        }
        std::fs::write(&path, bytes).expect("written");
        let file = ProblemFile::read(&path, &Control::unlimited()).expect(name);
        assert_eq!((file.smooth.kind(), file.names.len()), ("quadratic", 3));
    }
}

#[test]
fn a_text_without_a_file_says_itself_that_it_is_a_program() {
    let read = |text: &str| ProblemFile::from_toml_str(text, "standard input").map(|file| file.names);
    for before in ["", "* a comment\n\n"] {
        assert_eq!(read(&format!("{before}{HS35}")).expect("a program"), ["X1", "X2", "X3"], "{before:?}");
    }
    let refused = read("NAME = 3\n").expect_err("a table");
    assert!(matches!(refused, Error::UnknownKey { .. }), "{refused:?}");
}

#[test]
fn what_is_to_be_large_is_made_small_with_its_signs_turned() {
    // max 3 + x + 2y - 1/2 (x^2 + y^2), x + y <= 2: (0.5, 1.5) with 3 + 3.5 - 1.25.
    let text = "NAME p\nOBJSENSE MAX\nROWS\n N cost\n L l\nCOLUMNS\n x cost 1 l 1\n y cost 2 l 1\nRHS\n r cost -3 l 2\n\
                QUADOBJ\n x x -1\n y y -1\nENDATA\n";
    for text in [text.to_owned(), text.replace("OBJSENSE MAX", "OBJSENSE\n    MAXIMIZE")] {
        let program = parse(&text).expect("a program");
        assert!(program.is_maximised);
        assert!(program.clone().into_problem().expect("words").is_negated);
        let (objective, x) = optimum(program);
        assert!((objective + 5.25).abs() < 1e-8 && (x[0] - 0.5).abs() < 1e-4, "{objective} {x:?}");
    }
    let smaller = parse(&text.replace("MAX", "MIN")).expect("a program");
    assert!(!smaller.is_maximised && !smaller.into_problem().expect("words").is_negated);
}

#[test]
fn what_cannot_be_meant_is_refused_with_its_line() {
    let cases = [
        (around("OBJSENSE\n MOST\n"), "line 13: found \"MOST\", expected MIN or MAX"),
        (around("RHS\n rhs nothing 1\n"), "line 13: found \"nothing\", expected the name of a row"),
        (around("RHS\n rhs e one\n"), "line 13: found \"one\", expected a finite number"),
        (around("RHS\n rhs e inf\n"), "line 13: found \"inf\", expected a finite number"),
        (around("BOUNDS\n BV b x\n"), "line 13: integer variables is not supported"),
        (around("BOUNDS\n UP b z 1\n"), "line 13: found \"z\", expected the name of a column"),
        (around("BOUNDS\n XX b x 1\n"), "expected LO, UP, FX, FR, MI or PL"),
        (around("QUADOBJ\n x y 1\n y x 1\n"), "line 14: found an entry of the objective a second time"),
        (around("QCMATRIX e\n x x 1\n"), "section QCMATRIX is not supported"),
        (around("RHS\n r g 1e25\n"), "no finite place for row \"g\""),
        (around("WHAT\n"), "line 12: found \"WHAT\", expected a section"),
        (around("COLUMNS\n x e 1\n"), "column \"x\" again"),
        (around("COLUMNS\n y g 1\n"), "line 13: found a second entry"),
        ("ROWS\n E e\nCOLUMNS\n x e 1\nENDATA\n".into(), "found no row N"),
        ("ROWS\n N c\n".into(), "found the end of the file, expected ENDATA"),
    ];
    for (text, words) in cases {
        let found = refusal(&text);
        assert!(found.contains(words), "{found}\nexpected: {words}");
    }
}
