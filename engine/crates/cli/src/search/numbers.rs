//! Costs and shares as people read them.

use fulcrum_paths::{Denominator, DenominatorKind};

use crate::terminal::Style;

/// Costs of one unit, and their denominator.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// The profile's unit.
    pub unit: String,
    /// What shares are of.
    pub whole: Denominator,
    /// For which stream.
    pub style: Style,
}

impl Numbers {
    /// `1.23 ms`, `4.50 MB`, `12,345`.
    pub fn cost(&self, cost: i64) -> String {
        self.style.quantity(cost, &self.unit)
    }

    /// A cost as a share of the total: `12.3 %`.
    pub fn share(&self, cost: i64) -> String {
        match self.whole.cost {
            0 => "-".into(),
            _ => self.percent(self.whole.part(cost)),
        }
    }

    /// What shares are of, as a sentence has it: `1.23 ms`, `the difference, 1.23 ms`.
    pub fn whole(&self) -> String {
        let cost = self.cost(self.whole.cost);
        match self.whole.of {
            DenominatorKind::Total => cost,
            of => format!("{}, {cost}", of.words()),
        }
    }

    /// A fraction: `12.3 %`.
    pub fn percent(&self, fraction: f64) -> String {
        self.style
            .plain(fulcrum_answers::quantity::percent(fraction))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_total() {
        let numbers = |unicode| Numbers {
            unit: String::new(),
            whole: Denominator {
                cost: 1000,
                of: DenominatorKind::Difference,
            },
            style: Style {
                colour: false,
                unicode,
                terminal: false,
            },
        };
        assert_eq!(numbers(true).whole(), "the difference, 1,000");
        assert_eq!(numbers(true).cost(-12_345), "\u{2212}12,345");
        assert_eq!(numbers(true).share(-123), "\u{2212}12.3 %");
        assert_eq!(numbers(false).share(123), "12.3 %");
        assert_eq!(numbers(false).share(-123), "-12.3 %");
        assert_eq!(numbers(false).percent(-0.0001), "0.0 %");
    }
}
