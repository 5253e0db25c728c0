//! `[separable]`: h. Each number is one for all coordinates or a list.

use super::keys::Keys;
use super::spec::SeparableSpec;
use crate::Result;

const KINDS: [&str; 7] = ["zero", "box", "non-negative", "l1", "elastic-net", "l1-box", "group-l2"];

/// Reads h from its table.
pub(super) fn read(mut keys: Keys<'_>) -> Result<SeparableSpec> {
    let kind = keys.kind(Some("zero"))?;
    match kind.as_str() {
        "zero" => keys.only(&[]).map(|()| SeparableSpec::Zero),
        "non-negative" => keys.only(&[]).map(|()| SeparableSpec::NonNegative),
        "box" => {
            keys.only(&["lower", "upper"])?;
            Ok(SeparableSpec::Box {
                lower: keys.number_or_list("lower")?,
                upper: keys.number_or_list("upper")?,
            })
        }
        "l1" => {
            keys.only(&["weight"])?;
            Ok(SeparableSpec::L1 { weight: keys.need("weight", Keys::number_or_list)? })
        }
        "elastic-net" => {
            keys.only(&["l1", "l2"])?;
            Ok(SeparableSpec::ElasticNet {
                l1: keys.need("l1", Keys::number_or_list)?,
                l2: keys.need("l2", Keys::number_or_list)?,
            })
        }
        "l1-box" => {
            keys.only(&["weight", "lower", "upper"])?;
            Ok(SeparableSpec::L1Box {
                weight: keys.need("weight", Keys::number_or_list)?,
                lower: keys.number_or_list("lower")?,
                upper: keys.number_or_list("upper")?,
            })
        }
        "group-l2" => {
            keys.only(&["weight"])?;
            Ok(SeparableSpec::GroupL2 { weight: keys.need("weight", Keys::number_or_list)? })
        }
        _ => Err(keys.unknown_kind(&kind, &KINDS)),
    }
}
