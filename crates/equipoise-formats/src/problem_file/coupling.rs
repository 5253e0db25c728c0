//! `[coupling]`: A x = b.

use super::keys::Keys;
use super::spec::{CouplingSpec, NumberOrList};
use crate::Result;

const KINDS: [&str; 4] = ["none", "sum", "row", "rows"];

/// Reads A and b from their table.
pub(super) fn read(mut keys: Keys<'_>) -> Result<CouplingSpec> {
    let kind = keys.kind(Some("none"))?;
    match kind.as_str() {
        "none" => keys.only(&[]).map(|()| CouplingSpec::None),
        "sum" => {
            keys.only(&["rhs"])?;
            Ok(CouplingSpec::Sum { rhs: keys.need("rhs", Keys::number_or_list)? })
        }
        "row" => {
            keys.only(&["weights", "rhs"])?;
            let weights = keys.need("weights", Keys::vector)?;
            Ok(CouplingSpec::Row { weights, rhs: read_one(&mut keys)? })
        }
        "rows" => {
            keys.only(&["matrix", "rhs"])?;
            let matrix = keys.need("matrix", Keys::matrix)?;
            // A number serves where there is one row.
            let rhs = match keys.need("rhs", Keys::number_or_list)? {
                NumberOrList::Number(number) => vec![number],
                NumberOrList::List(list) => list,
            };
            Ok(CouplingSpec::Rows { matrix, rhs })
        }
        _ => Err(keys.unknown_kind(&kind, &KINDS)),
    }
}

/// b of one row: a number, or a list of one.
fn read_one(keys: &mut Keys<'_>) -> Result<f64> {
    match keys.need("rhs", Keys::number_or_list)? {
        NumberOrList::Number(number) => Ok(number),
        NumberOrList::List(list) => match list[..] {
            [number] => Ok(number),
            _ => Err(keys.wrong("rhs", format!("a list of {}", list.len()), "a number")),
        },
    }
}
