//! Any bytes as a model file, of either format: no panic; a model that is read can be written and is read back the same.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use equipoise::Control;
use equipoise_formats::svm_model::{Format, parse, read, write};
use libfuzzer_sys::fuzz_target;

/// In memory where there is such a place.
static PLACE: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = PathBuf::from("/dev/shm");
    let folder = if folder.is_dir() { folder } else { std::env::temp_dir() };
    folder.join(format!("equipoise-fuzz-model-{}", std::process::id()))
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(model) = parse(bytes, "model") else { return };
    write(&*PLACE, &model, Format::Equipoise).expect("a model that was read");
    assert_eq!(read(&*PLACE, &Control::unlimited()).as_ref(), Ok(&model));
});
