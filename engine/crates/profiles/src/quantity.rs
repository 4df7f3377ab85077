//! Costs for people: a number with a unit that fits its size.

/// `1.23 s`, `4.5 MB`, `1200`. `unit` is a value type's; its decimal part (`0.01 count`) is multiplied out.
pub fn quantity(value: i64, unit: &str) -> String {
    let (scale, unit) = match unit.split_once(' ') {
        Some((scale, unit)) => match scale.parse::<f64>() {
            Ok(scale) => (scale, unit),
            Err(_) => (1.0, unit),
        },
        None => (1.0, unit),
    };
    let number = value as f64 * scale;
    let steps: &[(f64, &str)] = match unit {
        "ns" => &[(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")],
        "us" => &[(1e6, "s"), (1e3, "ms"), (1.0, "us")],
        "bytes" => &[(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")],
        _ => &[],
    };
    let step = steps
        .iter()
        .find(|(size, _)| number.abs() >= *size)
        .or(steps.last());
    match step {
        Some((size, name)) => format!("{} {name}", digits(number / size)),
        None => match unit {
            "" | "count" => digits_of(number, scale),
            unit => format!("{} {unit}", digits_of(number, scale)),
        },
    }
}

/// What more throughput means, 0.25 being a quarter more: `25.0 % faster`, or, from twice on, `3.0 times as fast`. `None`
/// where nothing is gained.
pub fn faster(gain: f64) -> Option<String> {
    match gain {
        // Beyond that, percent are hard to read.
        gain if gain >= 1.0 => Some(format!("{:.1} times as fast", 1.0 + gain)),
        gain if gain > 0.0 => Some(format!("{:.1} % faster", 100.0 * gain)),
        _ => None,
    }
}

/// Three digits, as many before the point as there are.
fn digits(number: f64) -> String {
    let decimals = match number.abs() {
        n if n >= 99.95 => 0,
        n if n >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{number:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

fn digits_of(number: f64, scale: f64) -> String {
    match scale {
        1.0 => format!("{number:.0}"),
        _ => digits(number),
    }
}

/// `12.3 %` of a total; nothing of none.
pub fn share(value: i64, total: i64) -> String {
    match total {
        0 => String::new(),
        // Nothing has no sign.
        _ if value == 0 => "0.0 %".to_owned(),
        total => format!("{:.1} %", 100.0 * value as f64 / total as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::{quantity, share};

    #[test]
    fn units_fit_the_size() {
        for (value, unit, expect) in [
            (0, "ns", "0 ns"),
            (999, "ns", "999 ns"),
            (1500, "ns", "1.5 us"),
            (-2_345_678, "ns", "-2.35 ms"),
            (100_000_000_000, "ns", "100 s"),
            (48_928_729, "bytes", "48.9 MB"),
            (1_234_567, "", "1234567"),
            (7, "count", "7"),
            (175, "0.01 count", "1.75"),
            (12, "cycles", "12 cycles"),
        ] {
            assert_eq!(quantity(value, unit), expect);
        }
        assert_eq!([share(1, 8), share(1, 0)], ["12.5 %", ""]);
    }
}
