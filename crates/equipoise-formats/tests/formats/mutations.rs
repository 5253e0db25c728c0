//! Damaged files of every format are read to the end without a panic, whatever they hold.

use std::fs;
use std::path::Path;

use equipoise::Control;
use equipoise_formats::numbers::write_matrix_npy;
use equipoise_formats::{ProblemFile, read_solution};

use super::{dense, read_matrix, read_vector, scratch};

/// Numbers that look random enough (a linear congruential generator).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

/// Cuts, replaces, repeats or inserts a few bytes.
fn damaged(original: &[u8], dice: &mut Dice) -> Vec<u8> {
    const FAVOURITES: &[u8] = b"0123456789-.,;%'\"([{}])= \n\t\\eExnT\x00\xff\x93";
    let mut bytes = original.to_vec();
    for _ in 0..=dice.roll(4) {
        if bytes.is_empty() {
            break;
        }
        let place = dice.roll(bytes.len());
        let byte = FAVOURITES[dice.roll(FAVOURITES.len())];
        match dice.roll(5) {
            0 => bytes.truncate(place),
            1 | 2 => bytes[place] = byte,
            3 => bytes.insert(place, byte),
            _ => drop(bytes.remove(place)),
        }
    }
    bytes
}

/// Some damage is found, some leaves a file that can be read.
fn damage(name: &str, original: &[u8], is_read: impl Fn(&Path) -> bool) {
    let path = scratch(&format!("mutations-{name}")).join(name);
    let mut dice = Dice(7);
    let mut readable = 0;
    for _ in 0..1500 {
        fs::write(&path, damaged(original, &mut dice)).expect("written");
        readable += usize::from(is_read(&path));
    }
    assert!((1..1500).contains(&readable), "{name}: {readable} of 1500 could be read");
}

#[test]
fn numbers() {
    let both = |path: &Path| {
        let (matrix, vector) = (read_matrix(path), read_vector(path));
        matrix.is_ok() || vector.is_ok()
    };
    damage("a.csv", b"1,2,3\n4,5,6\n-1e-3,inf,nan\n", both);
    damage("a.mtx", b"%%MatrixMarket matrix coordinate real general\n3 4 2\n3 4 1.5\n1 2 -1\n", both);
    damage("b.mtx", b"%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n", both);
    let folder = scratch("mutations-original");
    write_matrix_npy(folder.join("m.npy"), &dense(2, 2, &[1.0, 2.0, 3.0, 4.0])).expect("written");
    damage("a.npy", &fs::read(folder.join("m.npy")).expect("there"), both);
}

#[test]
fn problems_and_solutions() {
    let toml = b"[smooth]\nkind = \"least-squares\"\nmatrix = [[1, 2], [3, 4]]\ntarget = [1, 2]\n\
                 [separable]\nkind = \"box\"\nlower = -inf\nupper = [1, 2]\n[coupling]\nkind = \"sum\"\nrhs = 0\n\
                 [graph]\nedges = [[0, 1]]\n[solve]\nseed = 3\n";
    damage("p.toml", toml, |path| ProblemFile::read(path, &Control::unlimited()).is_ok());
    damage("s.json", b"{\"status\":\"stalled\",\"x\":[1.5,2,-3e-7],\"seed\":1}", |path| {
        read_solution(path, &Control::unlimited()).is_ok()
    });
}

#[test]
fn programs() {
    let text = include_bytes!("../../../../examples/problems/hs35.qps");
    damage("p.qps", text, |path| ProblemFile::read(path, &Control::unlimited()).is_ok());
}

#[test]
fn deep_nesting_is_refused() {
    let deep = format!("[smooth]\nkind = {}", "[".repeat(100_000));
    assert!(ProblemFile::from_toml_str(&deep, "p.toml").is_err());
    let path = scratch("mutations-deep").join("s.json");
    fs::write(&path, format!("{{\"later\": {}", "[".repeat(100_000))).expect("written");
    assert!(read_solution(path, &Control::unlimited()).is_err());
}
