//! Data on which a solver with a free bias solves the problem with a penalised one.
//!
//! Every row `(x, y)` becomes the two rows `((x, 1), y)` and `((-x, -1), -y)`. With weights `(w, b)` and a free bias
//! `t` their losses are those of the margins `y (w.x + b) + y t` and `y (w.x + b) - y t`: the objective is even in
//! `t`, and convex, so `t = 0` is optimal. At half the cost the minimum is that of
//! `(|w|^2 + b^2) / 2 + C sum max(0, 1 - y (w.x + b))`. The duality gap of our solver on these rows is therefore a
//! certificate for the peers that penalise the bias.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use crate::rows::Rows;

/// What to mirror.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Rows (LIBSVM text, two labels).
    data: PathBuf,
    /// Where the mirrored rows go.
    #[arg(long)]
    out: PathBuf,
}

/// Writes the mirrored rows.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let rows = Rows::read(&arguments.data)?;
    let path = &arguments.out;
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    write(&rows, &mut out).with_context(|| format!("cannot write {}", path.display()))
}

fn write(rows: &Rows, out: &mut impl Write) -> std::io::Result<()> {
    let constant = rows.largest_feature() + 1;
    for (label, row) in rows.iter() {
        for sign in [1.0, -1.0] {
            write!(out, "{:+}", sign * label)?;
            for (feature, value) in row.clone() {
                write!(out, " {feature}:{}", sign * value)?;
            }
            writeln!(out, " {constant}:{sign}")?;
        }
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::rows_of;

    #[test]
    fn rows_come_with_their_mirror_image() {
        let rows = rows_of("+1 2:0.5\n-1 1:-3\n").expect("rows");
        let mut text = Vec::new();
        write(&rows, &mut text).expect("memory");
        let expected = "+1 2:0.5 3:1\n-1 2:-0.5 3:-1\n-1 1:-3 3:1\n+1 1:3 3:-1\n";
        assert_eq!(String::from_utf8(text).expect("text"), expected);
    }
}
