//! Costs and shares, written for people.

use fulcrum_paths::{Denominator, DenominatorKind};

use crate::terminal::Style;

/// Costs of one unit, and their denominator.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    /// The profile's unit.
    pub unit: String,
    /// The denominator of shares.
    pub denominator: Denominator,
    /// The style of the stream that they are written to.
    pub style: Style,
}

impl Numbers {
    /// `1.23 ms`, `4.50 MB`, `12,345`.
    pub(crate) fn cost(&self, cost: i64) -> String {
        self.style.quantity(cost, &self.unit)
    }

    /// A cost as a share of the denominator: `12.3 %`.
    pub(crate) fn share(&self, cost: i64) -> String {
        match self.denominator.cost {
            0 => "-".into(),
            _ => self.percent(self.denominator.part(cost)),
        }
    }

    /// The denominator, as part of a sentence: `1.23 ms`, `the difference, 1.23 ms`.
    pub(crate) fn denominator(&self) -> String {
        let cost = self.cost(self.denominator.cost);
        match self.denominator.of {
            DenominatorKind::Total => cost,
            of => format!("{}, {cost}", of.phrase()),
        }
    }

    /// A fraction: `12.3 %`.
    pub(crate) fn percent(&self, fraction: f64) -> String {
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
            denominator: Denominator {
                cost: 1000,
                of: DenominatorKind::Difference,
            },
            style: Style {
                colour: false,
                unicode,
                terminal: false,
            },
        };
        assert_eq!(numbers(true).denominator(), "the difference, 1,000");
        assert_eq!(numbers(true).cost(-12_345), "\u{2212}12,345");
        assert_eq!(numbers(true).share(-123), "\u{2212}12.3 %");
        assert_eq!(numbers(false).share(123), "12.3 %");
        assert_eq!(numbers(false).share(-123), "-12.3 %");
        assert_eq!(numbers(false).percent(-0.0001), "0.0 %");
    }
}
