//! Costs and shares as people read them.

use crate::terminal::Style;

/// Costs of one unit, and their denominator.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// The profile's unit.
    pub unit: String,
    /// What shares are of.
    pub total: i64,
    /// For which stream.
    pub style: Style,
}

impl Numbers {
    /// `1.23 ms`, `4.5 MB`, `12,345`.
    pub fn cost(&self, cost: i64) -> String {
        let times = [
            (1e9, "s"),
            (1e6, "ms"),
            (1e3, if self.style.unicode { "µs" } else { "us" }),
        ];
        let sizes = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
        let scale = match self.unit.as_str() {
            "ns" => times,
            "bytes" => sizes,
            _ => return self.whole(cost),
        };
        let size = cost.unsigned_abs() as f64;
        match scale.into_iter().find(|it| size >= it.0) {
            Some((factor, unit)) => {
                let value = size / factor;
                let decimals = [(100.0, 0), (10.0, 1)].into_iter().find(|it| value >= it.0);
                let decimals = decimals.map_or(2, |it| it.1);
                format!("{}{value:.decimals$} {unit}", self.minus(cost))
            }
            None => self.whole(cost),
        }
    }

    fn whole(&self, cost: i64) -> String {
        let digits = cost.unsigned_abs().to_string();
        let mut grouped = String::new();
        for (n, digit) in digits.chars().enumerate() {
            if n > 0 && (digits.len() - n).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        let number = self.minus(cost).to_owned() + &grouped;
        match self.unit.as_str() {
            "" => number,
            unit => format!("{number} {unit}"),
        }
    }

    fn minus(&self, cost: i64) -> &'static str {
        match (cost < 0, self.style.unicode) {
            (false, _) => "",
            (true, true) => "\u{2212}",
            (true, false) => "-",
        }
    }

    /// A cost as a share of the total: `12.3 %`.
    pub fn share(&self, cost: i64) -> String {
        match self.total {
            0 => "-".into(),
            total => self.percent(cost as f64 / total as f64),
        }
    }

    /// A fraction: `12.3 %`.
    pub fn percent(&self, fraction: f64) -> String {
        let text = format!("{:.1} %", 100.0 * fraction.abs());
        // Not "-0.0 %".
        let negative = fraction < 0.0 && text != "0.0 %";
        self.minus(if negative { -1 } else { 0 }).to_owned() + &text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_rounded_to_three_digits_and_counts_are_whole() {
        let numbers = |unit: &str, unicode| Numbers {
            unit: unit.into(),
            total: 1000,
            style: Style {
                colour: false,
                unicode,
                terminal: false,
            },
        };
        for (unit, cost, expected) in [
            ("ns", 999, "999 ns"),
            ("ns", 1_234_567, "1.23 ms"),
            ("ns", -12_345_678_901, "-12.3 s"),
            ("ns", 123_456, "123 us"),
            ("bytes", 45_600, "45.6 kB"),
            ("", 1_234_567, "1,234,567"),
            ("", -12, "-12"),
            ("events", 100_000, "100,000 events"),
        ] {
            assert_eq!(numbers(unit, false).cost(cost), expected);
        }
        assert_eq!(numbers("ns", true).cost(-1_500), "\u{2212}1.50 µs");
        assert_eq!(numbers("", false).share(123), "12.3 %");
        assert_eq!(numbers("", false).share(-123), "-12.3 %");
        assert_eq!(numbers("", false).percent(-0.0001), "0.0 %");
    }
}
