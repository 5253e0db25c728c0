use std::io::Read;

use flate2::read::ZlibDecoder;

use super::*;
use crate::chart::{Axis, Chart, Image, Mark, Panel, Series, colours, svg};

/// Width, height and the pixels of a file, by its own chunks.
fn opened(file: &[u8]) -> (usize, usize, Vec<[u8; 3]>) {
    let number = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().expect("four bytes")) as usize;
    let (width, height) = (number(16), number(20));
    let (mut at, mut packed) = (8, Vec::new());
    while at < file.len() {
        let (length, name) = (number(at), &file[at + 4..at + 8]);
        let mut sum = flate2::Crc::new();
        sum.update(&file[at + 4..at + 8 + length]);
        assert_eq!(sum.sum() as usize, number(at + 8 + length), "{name:?}");
        if name == b"IDAT" {
            packed.extend(&file[at + 8..at + 8 + length]);
        }
        at += 12 + length;
    }
    let mut rows = Vec::new();
    ZlibDecoder::new(&packed[..]).read_to_end(&mut rows).expect("packed");
    assert_eq!(rows.len(), height * (3 * width + 1));
    let row = |row: &[u8]| row[1..].chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect::<Vec<_>>();
    (width, height, rows.chunks_exact(3 * width + 1).flat_map(row).collect())
}

fn drawn(inside: &str) -> (usize, Vec<[u8; 3]>) {
    let text = format!("<svg width=\"20\" height=\"10\" xmlns=\"x\">{inside}</svg>");
    let (width, height, pixels) = opened(&png(&text).expect("drawn"));
    assert_eq!((width, height), (40, 20));
    (width, pixels)
}

#[test]
fn shapes_cover_what_they_should() {
    let (width, pixels) = drawn(
        "<rect x=\"2\" y=\"3\" width=\"4\" height=\"2\" opacity=\"1\" fill=\"#0072B2\" stroke=\"none\"/>",
    );
    let blue = pixels.iter().filter(|pixel| **pixel == [0x00, 0x72, 0xB2]).count();
    assert_eq!((blue, pixels[6 * width + 4], pixels[6 * width + 3]), (8 * 4, [0x00, 0x72, 0xB2], [255; 3]));
    // Half of its colour; a line of one unit is two pixels wide; a group moves, another scales.
    let (_, pixels) = drawn(
        "<g transform=\"translate(1 0)\"><g transform=\"scale(0.25)\"><polyline fill=\"none\" opacity=\"0.5\" stroke=\"#000000\" stroke-width=\"4\" points=\"0,8 40,8 \"/></g></g>",
    );
    let grey: Vec<usize> =
        pixels.iter().enumerate().filter(|(_, p)| **p != [255; 3]).map(|(at, _)| at).collect();
    assert_eq!(grey.len(), 20 * 2);
    assert_eq!((grey[0], pixels[grey[0]]), (3 * 40 + 2, [128; 3]));
    // A disc has the area of a disc; what is outside the picture does no harm.
    let (_, pixels) = drawn(
        "<circle cx=\"10\" cy=\"5\" r=\"4\" fill=\"#000000\"/><circle cx=\"-50\" cy=\"90\" r=\"4\" fill=\"#000000\"/>",
    );
    let dark: f64 = pixels.iter().map(|pixel| 1.0 - f64::from(pixel[0]) / 255.0).sum();
    assert!((dark - std::f64::consts::PI * 64.0).abs() < 2.0, "{dark}");
}

#[test]
fn a_path_that_turns_back_has_no_holes() {
    let (width, pixels) =
        drawn("<polyline stroke=\"#000000\" stroke-width=\"4\" points=\"2,5 18,5 4,5 10,5 10,1\"/>");
    assert!((8..12).all(|row| (6..34).all(|column| pixels[row * width + column] == [0; 3])));
}

#[test]
fn words_stand_where_they_are_anchored() {
    let dark = |pixels: &[[u8; 3]], keep: &dyn Fn(usize) -> bool| {
        pixels.iter().enumerate().filter(|(at, pixel)| keep(*at) && pixel[0] < 200).count()
    };
    let text = |anchor: &str, turn: &str| {
        drawn(&format!("<text x=\"10\" y=\"5\" dy=\"0.5ex\" text-anchor=\"{anchor}\" font-size=\"6\" fill=\"#000000\" {turn}>\nl&lt;l\n</text>")).1
    };
    let (left, right) = (|at: usize| at % 40 < 20, |at: usize| at % 40 >= 20);
    let (start, end) = (text("start", ""), text("end", ""));
    assert!(dark(&start, &right) > 10 && dark(&start, &left) == 0);
    assert!(dark(&end, &left) > 10 && dark(&end, &right) == 0);
    let middle = text("middle", "transform=\"rotate(270, 10, 5)\"");
    let (upper, lower) = (dark(&middle, &|at| at < 400), dark(&middle, &|at| at >= 400));
    assert!(upper > 5 && lower > 5, "{upper} and {lower}");
}

#[test]
fn all_that_charts_draw_is_understood() {
    let points = vec![(0.0, 1.0), (1.0, 10.0), (2.0, 100.0)];
    let ends = vec![(0.5, 2.0), (5.0, 20.0), (50.0, 200.0)];
    let marks = [
        Mark::Line,
        Mark::Dashes,
        Mark::Points,
        Mark::Dots,
        Mark::Steps,
        Mark::ErrorBars(ends.clone()),
        Mark::Rules,
        Mark::Band(ends.clone()),
        Mark::Veil(ends),
        Mark::BarsAcross,
    ];
    let chart = marks.into_iter().enumerate().fold(
        Chart::new("µ < λ & \"中\"", Axis::linear("weight"), Axis::log("error")),
        |chart, (k, mark)| {
            chart.with(Series::new(mark, colours::nth(k), points.clone()).named("a > b").labelled("end"))
        },
    );
    let image = Image { title: "before".into(), rows: 2, columns: 2, values: vec![0.0, 1.0, 0.0, 1.0] };
    let text = svg(&[Panel::Chart(chart), Panel::Image(image)]).expect("drawn");
    let (width, height, pixels) = opened(&png(&text).expect("understood"));
    assert_eq!((width, height), (2560, 880));
    for colour in [[0x00, 0x72, 0xB2], [0xD5, 0x5E, 0x00], [0, 0, 0]] {
        assert!(pixels.iter().filter(|pixel| **pixel == colour).count() > 20, "{colour:?}");
    }
    // Cells of an image are black or white, with nothing between.
    let (black, white) = (400 * 2560 + 1500, 400 * 2560 + 2000);
    assert_eq!((pixels[black], pixels[white]), ([0; 3], [255; 3]));
}

#[test]
fn what_is_not_understood_is_an_error() {
    for (text, words) in [
        ("", "no <svg>"),
        ("<svg width=\"0\" height=\"5\"></svg>", "pixels"),
        ("<svg width=\"1e9\" height=\"1e9\"></svg>", "pixels"),
        ("<svg width=\"5\" height=\"5\"><path d=\"M0 0\"/></svg>", "<path>"),
        ("<svg width=\"5\" height=\"5\"><g transform=\"skewX(3)\"></g></svg>", "skewX"),
        (
            "<svg width=\"5\" height=\"5\"><rect x=\"0\" y=\"0\" width=\"1e30\" height=\"5\" fill=\"#000000\"/></svg>",
            "shape",
        ),
    ] {
        let error = png(text).expect_err(text).to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
}
