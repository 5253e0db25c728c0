//! How fast LIBSVM text is read.
//!
//! ```sh
//! cargo run --release -p equipoise-formats --example parse_speed -- FILE [THREADS] [REPEATS]
//! ```
//!
//! Prints the best and the median time of many reads, as seconds and as megabytes of the file a
//! second. Compare with other readers in the same minute: `wc -w FILE` is a fair yardstick.

use std::time::Instant;

use equipoise::Control;
use equipoise_formats::libsvm::{ReadOptions, read_path};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("which file? usage: parse_speed FILE [THREADS] [REPEATS]")?;
    let threads = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let repeats = arguments.next().map_or(Ok(21), |text| text.parse())?;
    let megabytes = std::fs::metadata(&path)?.len() as f64 / 1e6;

    let mut seconds = Vec::new();
    let mut shape = (0, 0, 0);
    for _ in 0..repeats {
        let start = Instant::now();
        let rows = read_path(&path, ReadOptions { threads }, &Control::unlimited())?;
        seconds.push(start.elapsed().as_secs_f64());
        shape = (rows.labels.len(), rows.features.len(), rows.indices.len());
    }
    seconds.sort_by(f64::total_cmp);
    let (best, median) = (seconds[0], seconds[seconds.len() / 2]);
    println!("{path}: {} rows, {} features, {} non-zeros; {threads} threads", shape.0, shape.1, shape.2);
    println!("best   {best:.6} s  {:.0} MB/s", megabytes / best);
    println!("median {median:.6} s  {:.0} MB/s", megabytes / median);
    Ok(())
}
