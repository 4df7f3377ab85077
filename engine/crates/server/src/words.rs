//! Results in words and numbers, as every surface of the editor shows them.

use fulcrum_causal::program_speedup_at;
use fulcrum_model::causal::{PointKind, Shape, Target};

/// A signed percentage: `+4.4 %`, `−12 %`. A no-break space, a real minus sign; one decimal below 10 %.
pub fn percent(fraction: f64) -> String {
    let value = fraction * 100.0;
    let digits = if value.abs() < 9.95 {
        format!("{:.1}", value.abs())
    } else {
        format!("{:.0}", value.abs())
    };
    let sign = match digits.as_str() {
        "0.0" => "",
        _ if value < 0.0 => "\u{2212}",
        _ => "+",
    };
    format!("{sign}{digits}\u{a0}%")
}

/// [`percent`] with one decimal throughout, for columns of numbers.
pub fn fine_percent(fraction: f64) -> String {
    let digits = format!("{:.1}", fraction.abs() * 100.0);
    let sign = match digits.as_str() {
        "0.0" => "",
        _ if fraction < 0.0 => "\u{2212}",
        _ => "+",
    };
    format!("{sign}{digits}\u{a0}%")
}

/// A number with two decimals and a real minus sign.
fn two_decimals(value: f64) -> String {
    let digits = format!("{:.2}", value.abs());
    let sign = if value < 0.0 && digits != "0.00" {
        "\u{2212}"
    } else {
        ""
    };
    format!("{sign}{digits}")
}

/// A percentage of a line's speedup, which has no sign: `25 %`.
pub fn plain_percent(fraction: f64) -> String {
    let value = fraction * 100.0;
    if (value - value.round()).abs() < 0.05 {
        format!("{:.0}\u{a0}%", value.round())
    } else {
        format!("{value:.1}\u{a0}%")
    }
}

/// The result of a line in a few words: what the program gains when the line is twice as fast.
pub fn short(target: &Target) -> String {
    let half = percent(program_speedup_at(target, 0.5));
    match target.shape {
        Shape::Unknown => "not enough data".into(),
        Shape::Flat => "no effect".into(),
        _ if target.contention => format!("{half} if 2× faster: contention"),
        _ => format!("{half} if 2× faster"),
    }
}

/// The result of a line as whole sentences. `point` is the progress point's name.
pub fn sentences(target: &Target, point: &str, kind: PointKind) -> String {
    let half = program_speedup_at(target, 0.5);
    let what = match kind {
        PointKind::Throughput => format!("the time between two visits to `{point}`"),
        PointKind::Latency => format!("the latency of `{point}`"),
    };
    let interval = target
        .slope_interval
        .map_or_else(String::new, |(low, high)| {
            format!(
                " The slope is {} (95\u{a0}% interval {} to {}).",
                two_decimals(target.slope),
                two_decimals(low),
                two_decimals(high)
            )
        });
    let size = plain_percent(half.abs());
    let first = match target.shape {
        Shape::Unknown => format!(
            "There is not enough data to tell what making this line faster does to {what}. Run longer, or look at the interval."
        ),
        Shape::Flat => format!("Making this line faster does not change {what}."),
        _ if half < 0.0 => format!("If this line took half the time, {what} would grow by {size}."),
        _ => format!("If this line took half the time, {what} would fall by {size}."),
    };
    format!("{first}{interval}")
}

/// What contention means, for a line that has it.
pub const CONTENTION: &str = "**Contention:** making this line faster makes the program slower. Faster arrivals at \
    a lock, a cache line or another shared resource make everyone wait longer there. Look at what this line \
    competes for; do not optimise the line itself.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages() {
        for (fraction, expect) in [
            (0.044, "+4.4\u{a0}%"),
            (0.12, "+12\u{a0}%"),
            (0.0995, "+10\u{a0}%"),
            (0.0994, "+9.9\u{a0}%"),
            (-0.08, "\u{2212}8.0\u{a0}%"),
            (-1.0, "\u{2212}100\u{a0}%"),
            (0.0, "0.0\u{a0}%"),
            (-0.0004, "0.0\u{a0}%"),
        ] {
            assert_eq!(percent(fraction), expect, "{fraction}");
        }
        assert_eq!(fine_percent(-0.1234), "\u{2212}12.3\u{a0}%");
        assert_eq!(fine_percent(-0.0004), "0.0\u{a0}%");
        assert_eq!(two_decimals(-0.234), "\u{2212}0.23");
        assert_eq!(two_decimals(-0.001), "0.00");
        assert_eq!(plain_percent(0.25), "25\u{a0}%");
        assert_eq!(plain_percent(0.125), "12.5\u{a0}%");
    }
}
