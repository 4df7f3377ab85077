//! Costs for people: a number with a unit that fits its size.

const TIMES: &[(f64, &str)] = &[(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
const SIZES: &[(f64, &str)] = &[(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
const MINUS: &str = "\u{2212}";

/// `1.23 s`, `4.50 MB`, `−1,200`, with a real minus sign: three digits, or all of a count. `unit` is a value type's; its
/// decimal part (`0.01 count`) is multiplied out. The extension's `costText` writes the same.
pub fn quantity(value: i64, unit: &str) -> String {
    let decimal = unit
        .split_once(' ')
        .and_then(|(scale, unit)| Some((scale.parse().ok()?, unit)));
    let (scale, unit): (f64, &str) = decimal.unwrap_or((1.0, unit));
    let (size, steps, unit) = match unit {
        "ns" => (1.0, TIMES, "ns"),
        "us" => (1e3, TIMES, "ns"),
        "ms" => (1e6, TIMES, "ns"),
        "s" => (1e9, TIMES, "ns"),
        "bytes" => (1.0, SIZES, "B"),
        "count" => (1.0, [].as_slice(), ""),
        other => (1.0, [].as_slice(), other),
    };
    let number = value.unsigned_abs() as f64 * scale * size;
    // A number that would be rounded to a thousand of the smaller unit is one of the larger.
    let step = steps.iter().find(|(least, _)| number >= 0.9995 * least);
    let (digits, unit) = match step {
        Some((least, unit)) => (three_digits(number / least), *unit),
        None if scale == 1.0 => (value.unsigned_abs().to_string(), unit),
        None => (three_digits(number), unit),
    };
    let space = if unit.is_empty() { "" } else { " " };
    format!("{}{}{space}{unit}", minus(value < 0), group(&digits))
}

fn minus(negative: bool) -> &'static str {
    if negative { MINUS } else { "" }
}

/// `1,234,567`.
pub fn grouped(count: u64) -> String {
    group(&count.to_string())
}

/// `1,234,567.8` of `1234567.8`.
fn group(digits: &str) -> String {
    let whole = digits.find('.').unwrap_or(digits.len());
    let mut out = String::new();
    for (at, digit) in digits.char_indices() {
        if (1..whole).contains(&at) && (whole - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A gain of throughput, 0.25 being a quarter more: `25.0 % faster`, or, from twice on, `3.0 times as fast`. `None` without a
/// gain.
pub fn faster(gain: f64) -> Option<String> {
    match gain {
        // Beyond that, percent are hard to read.
        gain if gain >= 1.0 => Some(format!("{:.1} times as fast", 1.0 + gain)),
        gain if gain > 0.0 => Some(format!("{:.1} % faster", 100.0 * gain)),
        _ => None,
    }
}

/// As many digits before the point as there are, and three in all when there are fewer.
fn three_digits(number: f64) -> String {
    let decimals = match number {
        n if n >= 99.95 => 0,
        n if n >= 9.995 => 1,
        _ => 2,
    };
    format!("{number:.decimals$}")
}

/// `12.3 %` of a total; nothing of none.
pub fn share(value: i64, total: i64) -> String {
    match total {
        0 => String::new(),
        total => percent(value as f64 / total as f64),
    }
}

/// A fraction: `−12.3 %`.
pub fn percent(fraction: f64) -> String {
    let text = format!("{:.1} %", 100.0 * fraction.abs());
    // Zero has no sign.
    format!("{}{text}", minus(fraction < 0.0 && text != "0.0 %"))
}

#[cfg(test)]
mod tests {
    use super::{quantity, share};

    #[test]
    fn units_fit_the_size() {
        for (value, unit, expect) in [
            (0, "ns", "0 ns"),
            (0, "s", "0 ns"),
            (999, "ns", "999 ns"),
            (1500, "ns", "1.50 µs"),
            (9_999, "ns", "10.0 µs"),
            (999_499, "ns", "999 µs"),
            (999_500, "ns", "1.00 ms"),
            (-2_345_678, "ns", "−2.35 ms"),
            (100_000_000_000, "ns", "100 s"),
            (86_400_000_000_000, "ns", "86,400 s"),
            (1500, "us", "1.50 ms"),
            (12_345, "ms", "12.3 s"),
            (12, "bytes", "12 B"),
            (48_928_729, "bytes", "48.9 MB"),
            (-1_234_567, "", "−1,234,567"),
            (i64::MIN, "", "−9,223,372,036,854,775,808"),
            (7, "count", "7"),
            (175, "0.01 count", "1.75"),
            (-1_234_567, "0.1 count", "−123,457"),
            (150, "0.01 s", "1.50 s"),
            (12_000, "cycles", "12,000 cycles"),
            (12, "two words", "12 two words"),
        ] {
            assert_eq!(quantity(value, unit), expect);
        }
        assert_eq!([share(1, 8), share(1, 0)], ["12.5 %", ""]);
    }
}
