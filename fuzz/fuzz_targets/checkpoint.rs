//! Any bytes as a checkpoint, with the checksum that belongs to them: no panic, and whatever words are in it, a run that goes on
//! with them ends or refuses them.
#![no_main]

use equipoise::smooth::Distance;
use equipoise::{Coupling, Method, Problem, Settings, Snapshot, Solver};
use equipoise_formats::checkpoint_file::{Digest, parse_checkpoint};
use equipoise_models::svm::TrainSnapshot;
use libfuzzer_sys::fuzz_target;

/// The bytes with a beginning and a checksum that fit them.
fn mended(bytes: &[u8]) -> Vec<u8> {
    let mut whole = b"EQPCKPT\n\x01\0\0\0\0\0\0\0".to_vec();
    whole.extend_from_slice(bytes);
    whole.resize(whole.len().next_multiple_of(8), b' ');
    let mut sum = Digest::default();
    whole.chunks_exact(8).for_each(|word| sum.word(u64::from_le_bytes(word.try_into().expect("eight bytes"))));
    whole.extend_from_slice(&sum.value().to_le_bytes());
    whole
}

fuzz_target!(|bytes: &[u8]| {
    let _ = parse_checkpoint(bytes, "checkpoint");
    let words = match parse_checkpoint(&mended(bytes), "checkpoint") {
        Ok(checkpoint) => checkpoint.words,
        // Most bytes have no head; as words they are worth a look all the same.
        Err(_) => bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight"))).collect(),
    };
    if let Ok(training) = TrainSnapshot::from_words(&words) {
        // By their words: numbers that are none are no equals.
        let again = TrainSnapshot::from_words(&training.to_words()).expect("what was written");
        assert_eq!(again.to_words(), training.to_words());
    }
    let Ok(snapshot) = Snapshot::from_words(&words) else { return };
    if snapshot.x().len() > 8 {
        return;
    }
    let target: Vec<f64> = (0..snapshot.x().len().max(1)).map(|k| k as f64).collect();
    let f = Distance::new(target, 0.5).expect("finite");
    let problem = Problem::builder(f).coupling(Coupling::sum(1.0).expect("finite")).build().expect("valid");
    for method in [Method::Pairs, Method::Violating, Method::Accelerated] {
        let settings = Settings { method, max_updates: Some(200), max_epochs: Some(50.0), ..Settings::default() };
        let _ = Solver::new(&problem, &settings).resume(&snapshot).run();
    }
});
