//! Numbers as people type them: counts such as `1000`, `1e3` or `2.5e6`, and `auto` for threads.
//!
//! Given: a word. Returns: the number, or what would have been allowed. Must not know: what is counted.

use std::thread;

/// Beyond this not every whole number is a floating-point number.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

/// A whole number, also as `1e3`.
pub(crate) fn count<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let whole = text.parse::<u64>().ok().or_else(|| {
        let value: f64 = text.parse().ok()?;
        (value.fract() == 0.0 && (0.0..=MOST_EXACT).contains(&value)).then_some(value as u64)
    });
    let found = whole.and_then(|whole| T::try_from(whole).ok());
    found.ok_or_else(|| "expected a whole number such as 1000 or 1e3".into())
}

/// A number of threads; `auto` is one a processor.
pub(crate) fn threads<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let expected = || "expected a whole number, or `auto` for one a processor".to_owned();
    if text == "auto" {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        return T::try_from(processors as u64).map_err(|_| expected());
    }
    count(text).map_err(|_| expected())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_whole_numbers_also_with_an_exponent() {
        for (text, value) in [("0", 0), ("1000", 1000), ("1e3", 1000), ("2.5e6", 2_500_000), ("+7", 7)] {
            assert_eq!(count::<u64>(text), Ok(value), "{text}");
        }
        assert_eq!(count::<u64>("18446744073709551615"), Ok(u64::MAX));
        for text in ["", "x", "-1", "1.5", "1e-3", "1e300", "inf", "nan", "0x10"] {
            let words = count::<u64>(text).expect_err(text);
            assert!(words.contains("1e3"), "{words}");
        }
        count::<u8>("1e3").expect_err("too many");
    }

    #[test]
    fn auto_is_one_thread_a_processor() {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        assert_eq!(threads::<usize>("auto"), Ok(processors));
        assert_eq!(threads::<u64>("3"), Ok(3));
        assert!(threads::<usize>("all").is_err_and(|words| words.contains("auto")));
    }
}
