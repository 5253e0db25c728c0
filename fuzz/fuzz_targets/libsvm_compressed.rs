//! Any bytes as compressed rows: the first byte chooses a format, whose first bytes are put before the
//! others unless they are there already. No panic, bounded memory, the same result for any threads
//! and, unless the data are damaged, for any chunks. (How much text a decoder gives before it finds
//! the damage depends on how much it is asked for.)
#![no_main]

use equipoise::Control;
use equipoise_formats::Error;
use equipoise_formats::libsvm::{ReadOptions, parse_in_chunks, read};
use libfuzzer_sys::fuzz_target;

const STARTS: [&[u8]; 4] = [b"", b"\x1f\x8b\x08\0", b"BZh", b"\xfd7zXZ\0"];

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, rest)) = bytes.split_first() else { return };
    let start = STARTS[usize::from(*choice) % STARTS.len()];
    let packed = if rest.starts_with(start) { rest.to_vec() } else { [start, rest].concat() };
    let one = parse_in_chunks(&packed, "packed", ReadOptions { threads: 1 }, 256);
    let two = parse_in_chunks(&packed, "packed", ReadOptions { threads: 2 }, 256);
    assert_eq!(one, two);
    let whole = read(packed.as_slice(), "packed", ReadOptions { threads: 1 }, &Control::unlimited());
    if !matches!(whole, Err(Error::Damaged { .. })) {
        assert_eq!(one, whole);
    }
});
