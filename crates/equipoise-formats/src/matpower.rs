//! MATPOWER case files: what economic dispatch needs of them.
//!
//! ```text
//! mpc.bus      bus_i type Pd ...                       demand: the sum of Pd over buses that are not isolated (type 4)
//! mpc.gen      bus Pg Qg Qmax Qmin Vg mBase status Pmax Pmin ... ramp_10 ...
//! mpc.gencost  1 startup shutdown n p1 f1 ... pn fn    straight pieces
//!              2 startup shutdown n c(n-1) ... c0      a polynomial
//! ```
//!
//! - Given: a file. Returns: a [`Case`], or an [`Error`] that names the line.
//! - Must not know: how anything is solved. Costs are taken as they stand, convex or not.
//!
//! Rows end with a semicolon or with their line; `%` begins a comment, `...` goes on with the next line. Statements about other
//! things are passed over; one that computes or changes a matrix above is refused, because nothing is computed here. Costs of
//! reactive power (a second half of `gencost`) are passed over, too.

mod statements;

use std::collections::HashMap;
use std::path::Path;

use equipoise::Control;

use self::statements::{BREAKS, LINE_END, Statement, statements};
use crate::numbers::{quoted, read_bytes, text};
use crate::{Error, Result};

/// What a generator costs.
#[derive(Debug, Clone, PartialEq)]
pub enum CaseCost {
    /// Coefficients of 1, x, x^2, ...
    Polynomial(Vec<f64>),
    /// Points `(power, cost)`.
    Piecewise(Vec<(f64, f64)>),
}

/// A row of `mpc.gen` with its cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Generator {
    /// Its row, from 1.
    pub number: usize,
    /// The line of its row in the file, from 1.
    pub line: usize,
    /// The number of its bus.
    pub bus: f64,
    /// Whether it is in service, at a bus that is not isolated.
    pub is_on: bool,
    /// `Pmin`.
    pub least: f64,
    /// `Pmax`.
    pub most: f64,
    /// `ramp_10`, where the file has it.
    pub ramp_10: Option<f64>,
    /// Its cost.
    pub cost: CaseCost,
}

/// What economic dispatch needs of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// The sum of `Pd` over buses that are not isolated.
    pub demand: f64,
    /// The generators, in the order of the file.
    pub generators: Vec<Generator>,
}

/// A row of a matrix, with its line.
struct Row {
    line: usize,
    values: Vec<f64>,
}

/// The type of an isolated bus.
const ISOLATED: f64 = 4.0;

/// Reads a case, packed or not.
pub fn read_case(path: impl AsRef<Path>, control: &Control) -> Result<Case> {
    let path = path.as_ref();
    let bytes = crate::libsvm::unpacked(read_bytes(path, control)?, path, control)?;
    parse_case(text(&bytes, path)?, path)
}

/// The same from its text; `path` is for messages.
pub fn parse_case(text: &str, path: &Path) -> Result<Case> {
    let [buses, generators, costs] = matrices(text, path)?;
    let buses = needed(buses, "bus", 3, path)?;
    let generators = needed(generators, "gen", 10, path)?;
    let costs = needed(costs, "gencost", 5, path)?;
    if costs.len() != generators.len() && costs.len() != 2 * generators.len() {
        return Err(Error::TableShape {
            path: path.into(),
            found: format!("{} rows of mpc.gencost", costs.len()),
            expected: format!("{}, one a row of mpc.gen, or twice as many", generators.len()),
        });
    }
    let is_joined = |bus: &&Row| bus.values[1] != ISOLATED;
    let demand = buses.iter().filter(is_joined).map(|bus| bus.values[2]).sum();
    let mut list = Vec::with_capacity(generators.len());
    // By the bits of their numbers; of two with one number the first counts.
    let key = |number: f64| (number + 0.0).to_bits();
    let mut by_number = HashMap::with_capacity(buses.len());
    buses.iter().for_each(|bus| {
        by_number.entry(key(bus.values[0])).or_insert(bus);
    });
    for (k, (row, cost)) in generators.iter().zip(&costs).enumerate() {
        let values = &row.values;
        let Some(bus) = by_number.get(&key(values[0])) else {
            let found = format!("a generator at bus {}", values[0]);
            return Err(malformed(path, row.line, found, "a bus of mpc.bus"));
        };
        list.push(Generator {
            number: k + 1,
            line: row.line,
            bus: values[0],
            is_on: values[7] > 0.0 && bus.values[1] != ISOLATED,
            least: values[9],
            most: values[8],
            ramp_10: values.get(17).copied(),
            cost: cost_of(cost, path)?,
        });
    }
    Ok(Case { demand, generators: list })
}

fn malformed(path: &Path, line: usize, found: String, expected: &str) -> Error {
    Error::Malformed { path: path.into(), line, found, expected: expected.into() }
}

/// A matrix that must be there, with rows of at least so many numbers.
fn needed(rows: Option<Vec<Row>>, name: &str, least: usize, path: &Path) -> Result<Vec<Row>> {
    let Some(rows) = rows.filter(|rows| !rows.is_empty()) else {
        let (found, expected) = (format!("no rows of mpc.{name}"), "at least one".into());
        return Err(Error::TableShape { path: path.into(), found, expected });
    };
    if let Some(row) = rows.iter().find(|row| row.values.len() < least) {
        let found = format!("a row of mpc.{name} of {} numbers", row.values.len());
        return Err(malformed(path, row.line, found, &format!("at least {least}")));
    }
    Ok(rows)
}

/// A row of `mpc.gencost`.
fn cost_of(row: &Row, path: &Path) -> Result<CaseCost> {
    let (model, count, numbers) = (row.values[0], row.values[3], &row.values[4..]);
    let is_piecewise = model == 1.0;
    if !is_piecewise && model != 2.0 {
        let found = format!("cost model {model}");
        return Err(malformed(path, row.line, found, "1 (straight pieces) or 2 (a polynomial)"));
    }
    let least = if is_piecewise { 2.0 } else { 1.0 };
    let wanted = if is_piecewise { 2.0 * count } else { count };
    if count < least || count.fract() != 0.0 || wanted > numbers.len() as f64 {
        let found = format!("a cost of {count} terms in {} numbers", numbers.len());
        let expected = if is_piecewise {
            "a number of points, at least 2, then as many pairs"
        } else {
            "a number of coefficients, then as many of them"
        };
        return Err(malformed(path, row.line, found, expected));
    }
    let numbers = &numbers[..wanted as usize];
    if let Some(number) = numbers.iter().find(|number| !number.is_finite()) {
        return Err(malformed(path, row.line, format!("{number} in a cost"), "finite numbers"));
    }
    Ok(if is_piecewise {
        CaseCost::Piecewise(numbers.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
    } else {
        CaseCost::Polynomial(numbers.iter().rev().copied().collect())
    })
}

const NAMES: [&str; 3] = ["bus", "gen", "gencost"];

/// The matrices `bus`, `gen` and `gencost`, those that are there.
fn matrices(text: &str, path: &Path) -> Result<[Option<Vec<Row>>; 3]> {
    let mut found = [None, None, None];
    // The variable that matrices are fields of.
    let mut case: Option<String> = None;
    for statement in statements(text) {
        let Statement { line, text, is_ended } = &statement;
        let assigned = statement.assigned();
        let which = assigned.and_then(|(left, _)| {
            let name = left.rsplit('.').next().unwrap_or_default();
            NAMES.iter().position(|own| *own == name)
        });
        if !is_ended {
            let place =
                which.map_or("a statement that begins here".into(), |which| format!("mpc.{}", NAMES[which]));
            return Err(malformed(
                path,
                *line,
                format!("the end of the file in {place}"),
                "a closing bracket",
            ));
        }
        if let Some(name) = NAMES.iter().find(|name| statement.changes_part_of(name)) {
            return Err(computed(path, *line, text, name));
        }
        // Of several at once, or of the case as a whole, once it has a matrix.
        let of_case = |name: &str| case.as_deref().is_some_and(|case| case == name);
        let is_matrix =
            |name: &&str| name.contains('.') && NAMES.iter().any(|own| name.ends_with(&format!(".{own}")));
        if let Some(name) = statement.assigned_together().find(is_matrix) {
            return Err(computed(path, *line, text, name.rsplit('.').next().unwrap_or_default()));
        }
        let targets = assigned.map(|(left, _)| left).into_iter().chain(statement.assigned_together());
        if let Some(left) = targets.into_iter().find(|name| of_case(name)) {
            let found = format!("{}, which computes all of {left}", quoted(text.trim()));
            let expected = "matrices of numbers that stay as they are (`savecase` writes a case that way)";
            return Err(malformed(path, *line, found, expected));
        }
        let (Some(which), Some((left, right))) = (which, assigned) else { continue };
        case = left.split_once('.').map(|(case, _)| case.to_owned()).or(case);
        match right.trim().strip_prefix('[').and_then(|inside| inside.strip_suffix(']')) {
            Some(inside) if !inside.contains(['[', ']']) => {
                let before = &text[..text.len() - right.trim_start().len()];
                let first = line + before.matches(BREAKS).count();
                found[which] = Some(rows(inside, first, NAMES[which], path)?);
            }
            // A variable of that name may hold anything; a field of the case may not.
            _ if left.contains('.') => return Err(computed(path, *line, text, NAMES[which])),
            _ => {}
        }
    }
    Ok(found)
}

/// An error for a statement that would have to be computed.
fn computed(path: &Path, line: usize, text: &str, name: &str) -> Error {
    let found = format!("{}, which computes mpc.{name}", quoted(text.trim()));
    let expected = format!("mpc.{name} as one matrix of numbers (`savecase` writes a case that way)");
    malformed(path, line, found, &expected)
}

/// The rows of a matrix: what stands between its brackets, from a line on.
fn rows(inside: &str, first: usize, name: &str, path: &Path) -> Result<Vec<Row>> {
    let (mut list, mut number) = (Vec::new(), first);
    let mut row = Row { line: first, values: Vec::new() };
    let mut rest = inside;
    while !rest.is_empty() {
        let is_end = |letter: char| letter == ',' || letter == ';' || letter.is_whitespace();
        let (word, after) = rest.split_at(rest.find(is_end).unwrap_or(rest.len()));
        if !word.is_empty() {
            let value = word.parse().ok().filter(|value: &f64| !value.is_nan());
            let Some(value) = value else {
                return Err(malformed(path, number, quoted(word), &format!("a number in mpc.{name}")));
            };
            if row.values.is_empty() {
                row.line = number;
            }
            row.values.push(value);
        }
        let end = after.chars().next();
        number += usize::from(end.is_some_and(|letter| BREAKS.contains(&letter)));
        rest = after.get(1..).unwrap_or_default();
        let is_ended = matches!(end, None | Some(';' | LINE_END)) || rest.is_empty();
        if is_ended && !row.values.is_empty() {
            list.push(std::mem::replace(&mut row, Row { line: number, values: Vec::new() }));
        }
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASE: &str = "function mpc = tiny\n% a comment = [ 1 2\nmpc.version = '2';\nmpc.bus = [\n\
        \t1 3 50 0 0;\t% slack\n\t2, 1, 30, 0, 0\n\t7 4 1000 0 0; ];\n\
        mpc.gen = [ 1 0 0 0 0 1 100 1 80 10; 2 0 0 0 0 1 100 0 ...\n Inf -5;\n 7 0 0 0 0 1 100 1 9 0 ];\n\
        mpc.branch = [1 2 3];\n\
        mpc.gencost = [\n2 0 0 3 0.5 20 1 0;\n 1 0 0 2 0 0 10 100;\n 2 0 0 1 4 0];\n";

    fn parse(text: &str) -> Result<Case> {
        parse_case(text, Path::new("tiny.m"))
    }

    #[test]
    fn a_case_is_read() {
        let case = parse(CASE).expect("a case");
        assert_eq!(case.demand, 80.0);
        let [first, second, third] = &case.generators[..] else { panic!("three generators") };
        assert_eq!((first.is_on, first.least, first.most, first.line), (true, 10.0, 80.0, 8));
        assert_eq!(first.cost, CaseCost::Polynomial(vec![1.0, 20.0, 0.5]));
        assert_eq!((second.is_on, second.least, second.most), (false, -5.0, f64::INFINITY));
        assert_eq!(second.cost, CaseCost::Piecewise(vec![(0.0, 0.0), (10.0, 100.0)]));
        assert_eq!((third.is_on, third.number, third.ramp_10), (false, 3, None));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let tampered =
            |from: &str, to: &str| parse(&CASE.replace(from, to)).expect_err("refused").to_string();
        let cases = [
            ("2, 1, 30", "2, 1, x", "tiny.m: line 6: found \"x\", expected a number in mpc.bus"),
            ("2 0 0 3 0.5", "3 0 0 3 0.5", "found cost model 3, expected 1 (straight pieces) or 2"),
            ("1 0 0 2 0 0 10 100", "1 0 0 3 0 0 10 100", "line 14: found a cost of 3 terms in 4 numbers"),
            ("\n 2 0 0 1 4 0]", "]", "found 2 rows of mpc.gencost, expected 3"),
            ("mpc.gencost", "mpc.prices", "found no rows of mpc.gencost, expected at least one"),
            (" 7 0 0 0 0 1 100 1 9 0 ]", " 9 0 0 0 0 1 100 1 9 0 ]", "a generator at bus 9"),
            ("1 4 0];", "1 4 0", "the end of the file in mpc.gencost"),
            ("100 1 80 10;", "100 1;", "a row of mpc.gen of 8 numbers, expected at least 10"),
            (
                "mpc.branch = [1 2 3];",
                "mpc.branch = [1 2 3;",
                "line 11: found the end of the file in a statement",
            ),
        ];
        for (from, to, expected) in cases {
            let found = tampered(from, to);
            assert!(found.contains(expected), "{found}");
        }
    }

    #[test]
    fn statements_that_compute_a_matrix_are_refused_with_their_line() {
        let after = |statement: &str| parse(&format!("{CASE}{statement}\n"));
        for (statement, name) in [
            ("mpc.bus(:, 3) = 2 * mpc.bus(:, 3);", "bus"),
            ("mpc.gen(2, 9) = 50;", "gen"),
            ("for k = 1:3 mpc.gencost(k, 5) = 0; end", "gencost"),
            ("x = 1; mpc.bus(2, [3, 4]) = [1 2];", "bus"),
            ("mpc.gen( 2 , : ) = []", "gen"),
            ("mpc.gen = mpc.gen(1:2, :);", "gen"),
            ("mpc.bus = [mpc.bus(1, :) + [1 2]];", "bus"),
            ("mpc.gencost = [1 2 3]';", "gencost"),
            ("[mpc.gen, x] = deal(1, 2);", "gen"),
            ("[~, mpc.bus] = deal(1, 2);", "bus"),
        ] {
            let error = after(statement).expect_err(statement).to_string();
            let words = format!("which computes mpc.{name}, expected mpc.{name} as one matrix of numbers");
            assert!(error.contains("tiny.m: line 16: found") && error.contains(&words), "{error}");
        }
        let error = after("mpc = scale_load(2, mpc);").expect_err("all of it").to_string();
        assert!(error.contains("line 16: found") && error.contains("which computes all of mpc"), "{error}");
        for harmless in [
            "mpc.branch(:, 3) = 2;",
            "[rows, columns] = size(mpc.gen);",
            "Vbase = mpc.bus(1, 3) * 1e3;",
            "if mpc.bus(1, 3) == 2, x = 1; end",
            "mpc.bus_name = { 'mpc.bus(1, 3) = 5'; 'O''Brien; [' };",
            "%{\nmpc.bus(1, 3) = 5;\n%}",
            "bus = mpc.bus; gen = size(mpc.gen, 1); % mpc.bus(1, 3) = 5",
            "A = B'; c = 'mpc.gen(1, 1) = 2';",
        ] {
            assert_eq!(
                after(harmless).map_err(|error| error.to_string()),
                parse(CASE).map_err(|_| String::new()),
                "{harmless}"
            );
        }
    }

    #[test]
    fn several_matrices_may_stand_on_one_line() {
        let one_line =
            "mpc.bus = [1 3 50; 2 1 30]; mpc.gen = [1 0 0 0 0 1 100 1 80 10]; mpc.gencost = [2 0 0 2 3 4];";
        let case = parse(one_line).expect("a case");
        assert_eq!((case.demand, case.generators.len(), case.generators[0].most), (80.0, 1, 80.0));
        assert_eq!(case.generators[0].cost, CaseCost::Polynomial(vec![4.0, 3.0]));
        // Many generators at many buses take no time.
        let count = 20_000;
        let list = |row: &dyn Fn(usize) -> String| (0..count).map(row).collect::<Vec<String>>().join(";\n");
        let text = format!(
            "mpc.bus = [{}];\nmpc.gen = [{}];\nmpc.gencost = [{}];",
            list(&|k| format!("{k} 1 1")),
            list(&|k| format!("{} 0 0 0 0 1 100 1 9 0", count - 1 - k)),
            list(&|_| "2 0 0 2 3 4".into())
        );
        assert_eq!(parse(&text).expect("a case").generators.len(), count);
    }
}
