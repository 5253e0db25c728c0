//! Protocols of updates side by side.

use anyhow::Result;

use super::Arguments;
use super::record::Record;

/// Measures nothing so far.
#[expect(clippy::unnecessary_wraps, reason = "every part may fail")]
pub(super) fn run(_arguments: &Arguments, _record: &mut Record) -> Result<()> {
    eprintln!("protocols: not yet");
    Ok(())
}
