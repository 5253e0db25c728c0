//! Printed bounds that hold: what rounding to a few digits takes away is taken on the safe side.
//!
//! ```text
//! above(value) >= value,    below(value) <= value,    each the nearest such number of so many digits
//! ```
//!
//! - Given: a number and how many digits, or a text that stands for it.
//! - Returns: the text, or the next one in its last digit.
//! - Must not know: what the number bounds.

use crate::report::decimal;

/// A number with an exponent and so many decimals that is not below the value.
pub(crate) fn above(value: f64, decimals: usize) -> String {
    raised(value, format!("{value:.decimals$e}"))
}

/// The same, not above the value.
pub(crate) fn below(value: f64, decimals: usize) -> String {
    lowered(value, format!("{value:.decimals$e}"))
}

/// What was found beside what is allowed; both are rounded the same way, so that they compare as they did.
pub(crate) fn allowed(found: f64, allowed: f64) -> String {
    format!("{} (allowed {})", above(found, 3), above(allowed, 3))
}

/// Why a run did not converge: the relative gap that was found, beside what is allowed.
pub(crate) fn relative_gap(found: f64, allowed: f64) -> String {
    format!("relative gap {}, allowed {}", above(found, 3), above(allowed, 3))
}

/// [`decimal`], not below the value.
pub(crate) fn decimal_above(value: f64, decimals: usize) -> String {
    raised(value, decimal(value, decimals))
}

/// [`decimal`], not above the value.
pub(crate) fn decimal_below(value: f64, decimals: usize) -> String {
    lowered(value, decimal(value, decimals))
}

fn raised(value: f64, text: String) -> String {
    if read(&text).is_some_and(|read| read < value) { stepped(&text, value > 0.0) } else { text }
}

fn lowered(value: f64, text: String) -> String {
    if read(&text).is_some_and(|read| read > value) { stepped(&text, value < 0.0) } else { text }
}

fn read(text: &str) -> Option<f64> {
    text.parse().ok()
}

/// The text with its last digit one larger in size, or one smaller.
fn stepped(text: &str, grows: bool) -> String {
    let (sign, size) = text.strip_prefix('-').map_or(("", text), |size| ("-", size));
    let (digits, exponent) = size.split_once('e').map_or((size, None), |(digits, e)| (digits, Some(e)));
    let mut digits: Vec<u8> = digits.bytes().collect();
    let (last, first) = if grows { (b'9', b'0') } else { (b'0', b'9') };
    let mut carries = true;
    for digit in digits.iter_mut().rev().filter(|digit| digit.is_ascii_digit()) {
        if *digit == last {
            *digit = first;
        } else {
            *digit = if grows { *digit + 1 } else { *digit - 1 };
            carries = false;
            break;
        }
    }
    let mut shift = 0;
    if carries && grows {
        digits.insert(0, b'1');
        // Before an exponent there is one digit: 9.99e-3 is followed by 1.00e-2.
        if exponent.is_some() {
            digits.truncate(digits.len() - 1);
            if let Some(point) = digits.iter().position(|byte| *byte == b'.') {
                digits.swap(point, point - 1);
            }
            shift = 1;
        }
    }
    // 100.0 is followed downwards by 99.9.
    if digits.len() > 1 && digits[0] == b'0' && digits[1].is_ascii_digit() {
        digits.remove(0);
    }
    let digits = String::from_utf8_lossy(&digits);
    match exponent {
        None => format!("{sign}{digits}"),
        Some(exponent) => format!("{sign}{digits}e{}", exponent.parse::<i32>().unwrap_or(0) + shift),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_number_is_taken_only_where_the_nearest_does_not_hold() {
        for (value, expected) in [
            (0.0, "0.000e0"),
            (1e-6, "1.000e-6"),
            (1.2344e-5, "1.235e-5"),
            (1.2346e-5, "1.235e-5"),
            (9.9991e-3, "1.000e-2"),
            (9.9994e-3, "1.000e-2"),
            (-1.2344e-5, "-1.234e-5"),
            (-1.2346e-5, "-1.234e-5"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "NaN"),
            (5e-324, "4.941e-324"),
        ] {
            assert_eq!(above(value, 3), expected, "{value:e}");
        }
        assert_eq!(above(2.78e104, 1), "2.8e104");
        assert_eq!(above(2.72e104, 1), "2.8e104");
        assert_eq!(
            (below(2.78e104, 1), below(2.72e104, 1), below(1e104, 1)),
            ("2.7e104".into(), "2.7e104".into(), "1.0e104".into())
        );
        assert_eq!(above(9.94, 0), "1e1");
        assert_eq!(
            (decimal_above(2.00004, 4), decimal_below(2.00004, 4)),
            ("2.0001".into(), "2.0000".into())
        );
        assert_eq!(
            (decimal_above(99.99996, 4), decimal_below(99.99996, 4)),
            ("100.0000".into(), "99.9999".into())
        );
        assert_eq!(
            (decimal_above(99.99992, 4), decimal_below(-99.99992, 4)),
            ("100.0000".into(), "-100.0000".into())
        );
    }

    #[test]
    fn every_bound_holds_and_is_near() {
        let mut value = 1.234_567_891_234e-300;
        for _ in 0..2000 {
            for signed in [value, -value] {
                for decimals in 0..8 {
                    let shown: f64 = above(signed, decimals).parse().expect("a number");
                    let unit = 0.1f64.powf(decimals as f64);
                    assert!(
                        shown >= signed && shown - signed <= 1.001 * unit * value,
                        "{signed:e} {shown:e}"
                    );
                    if decimals > 1 {
                        let [up, down] = [decimal_above(signed, decimals), decimal_below(signed, decimals)];
                        let [up, down]: [f64; 2] = [&up, &down].map(|text| text.parse().expect("a number"));
                        assert!(down <= signed && signed <= up, "{down:e} {signed:e} {up:e}");
                    }
                }
            }
            value *= 1.997;
        }
    }
}
