//! Pixels as a PNG file (ISO/IEC 15948): signature, header, size on paper, description, pixels, end.
//!
//! Given: red, green and blue. Returns: the bytes of a file. Must not know: what they show.

use std::io::Write;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

use super::canvas::Canvas;

const SIGNATURE: [u8; 8] = [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n'];
/// Eight bits a colour; red, green and blue; the usual ways of packing; every row after the one above it.
const FORMAT: [u8; 5] = [8, 2, 0, 0, 0];
/// Units of a drawing on a metre: 96 on an inch.
const ON_A_METRE: f32 = 96.0 / 0.0254;

/// The file of a picture with so many pixels for one unit of the drawing.
pub(super) fn file(canvas: &Canvas, scale: f32, description: &str) -> Vec<u8> {
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX).to_be_bytes();
    let mut out = SIGNATURE.to_vec();
    let size = [number(canvas.width), number(canvas.height)].concat();
    chunk(&mut out, *b"IHDR", &[&size[..], &FORMAT].concat());
    let metre = ((ON_A_METRE * scale).round() as u32).to_be_bytes();
    chunk(&mut out, *b"pHYs", &[&metre[..], &metre, &[1]].concat());
    if !description.is_empty() {
        // Not packed, in no named language.
        chunk(&mut out, *b"iTXt", &[b"Description\0\0\0\0\0", description.as_bytes()].concat());
    }
    chunk(&mut out, *b"IDAT", &packed(canvas));
    chunk(&mut out, *b"IEND", &[]);
    out
}

/// Rows behind a 0, which says that they are as they are.
fn packed(canvas: &Canvas) -> Vec<u8> {
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::default());
    let rows = canvas.pixels.chunks_exact(3 * canvas.width);
    let written =
        rows.into_iter().try_for_each(|row| packer.write_all(&[0]).and_then(|()| packer.write_all(row)));
    written.and_then(|()| packer.finish()).expect("memory takes every byte")
}

/// Length, name, content, checksum.
fn chunk(out: &mut Vec<u8>, name: [u8; 4], content: &[u8]) {
    out.extend(u32::try_from(content.len()).unwrap_or(u32::MAX).to_be_bytes());
    let from = out.len();
    out.extend(name);
    out.extend(content);
    let mut sum = Crc::new();
    sum.update(&out[from..]);
    out.extend(sum.sum().to_be_bytes());
}
