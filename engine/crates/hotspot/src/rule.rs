//! The hotspot rule: a cost from several meters, a threshold, and a number of executions.

use std::fmt;

use crate::units::{Quantity, amount_with_unit};

/// A hotspot rule. `Display` writes it as [`Rule::parse`] reads it.
///
/// A method is a hotspot if the mean cost of its executions reaches the threshold. The mean is over at least [`Rule::after`]
/// executions: missing ones count as if they had cost nothing. So a method that runs once is a hotspot only if that execution is as
/// expensive as `after` hot executions.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The terms whose weighted sum is the cost of an execution. There is at least one.
    pub terms: Vec<Term>,
    /// The mean cost of a hotspot, in nanoseconds, or in bytes if every term is [`Meter::Allocation`]. Above 0.
    pub threshold: f64,
    /// The number of executions, in all threads together, that must be measured before a method is known not to be a hotspot. At
    /// least 1.
    pub after: u64,
}

/// A part of the cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// The meter.
    pub meter: Meter,
    /// Whose cost counts.
    pub scope: CostScope,
    /// The factor. Above 0.
    pub weight: f64,
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meter {
    /// Wall time, nanoseconds.
    Wall,
    /// The thread's CPU time, nanoseconds.
    Cpu,
    /// Allocated memory, bytes.
    Allocation,
    /// Wall time of waiting for monitors that other threads own, nanoseconds.
    Contention,
}

/// Whose cost counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostScope {
    /// The method's own cost, without that of measured methods that it calls. Unmeasured callees count as its own.
    Inherent,
    /// The cost of the method and everything that it calls. Of recursive calls, only the outermost counts.
    Cumulative,
}

impl Meter {
    /// All meters, with their names.
    pub const NAMES: [(&str, Meter); 4] = [
        ("wall", Meter::Wall),
        ("cpu", Meter::Cpu),
        ("allocation", Meter::Allocation),
        ("contention", Meter::Contention),
    ];

    fn name(self) -> &'static str {
        Meter::NAMES
            .iter()
            .find(|(_, it)| *it == self)
            .map_or("", |(name, _)| name)
    }
}

impl Default for Rule {
    /// The paper's rule: a mean inherent wall time of 50 µs or more after 1000 executions.
    fn default() -> Self {
        Rule {
            terms: vec![Term {
                meter: Meter::Wall,
                scope: CostScope::Inherent,
                weight: 1.0,
            }],
            threshold: 50_000.0,
            after: 1000,
        }
    }
}

impl Rule {
    /// Whether executions with this total cost make a hotspot.
    pub fn is_hotspot(&self, executions: u64, cost: f64) -> bool {
        executions > 0 && cost >= self.threshold * executions.max(self.after) as f64
    }

    /// Whether enough executions were measured to know that the method is not a hotspot.
    pub fn is_no_hotspot(&self, executions: u64, cost: f64) -> bool {
        executions >= self.after && cost < self.threshold * executions as f64
    }

    /// Whether the rule uses a meter.
    pub fn needs(&self, meter: Meter) -> bool {
        self.terms.iter().any(|term| term.meter == meter)
    }

    /// Whether costs are sizes in bytes instead of times.
    pub fn in_bytes(&self) -> bool {
        self.terms
            .iter()
            .all(|term| term.meter == Meter::Allocation)
    }

    /// What costs measure.
    pub(crate) fn quantity(&self) -> Quantity {
        match self.in_bytes() {
            true => Quantity::Size,
            false => Quantity::Time,
        }
    }

    /// The cost of one execution with these readings, in the order of [`Meter::NAMES`].
    pub fn cost(&self, inherent: [f64; 4], cumulative: [f64; 4]) -> f64 {
        let of = |term: &Term| {
            let known = match term.scope {
                CostScope::Inherent => inherent,
                CostScope::Cumulative => cumulative,
            };
            term.weight * known[term.meter as usize]
        };
        self.terms.iter().map(of).sum()
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut last = None;
        for (n, term) in self.terms.iter().enumerate() {
            if n > 0 {
                f.write_str(" + ")?;
            }
            // The first term always names its scope.
            if last != Some(term.scope) {
                f.write_str(match term.scope {
                    CostScope::Inherent => "inherent ",
                    CostScope::Cumulative => "cumulative ",
                })?;
                last = Some(term.scope);
            }
            if term.weight != 1.0 {
                write!(f, "{} * ", term.weight)?;
            }
            f.write_str(term.meter.name())?;
        }
        let (amount, unit) = amount_with_unit(self.threshold, self.quantity());
        write!(f, " >= {amount}{unit} after {}", self.after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_counts_at_least_the_executions_of_the_rule() {
        let rule = Rule::default();
        for (executions, each_us, hotspot, known_not_to_be) in [
            (1000, 50.0, true, false),
            (1000, 49.0, false, true),
            (999, 49.0, false, false),
            (5000, 50.0, true, false),
            (10, 5000.0, true, false),
            (10, 4900.0, false, false),
            (1, 49_999.0, false, false),
            (1, 50_000.0, true, false),
        ] {
            let cost = executions as f64 * each_us * 1000.0;
            let found = (
                rule.is_hotspot(executions, cost),
                rule.is_no_hotspot(executions, cost),
            );
            assert_eq!(found, (hotspot, known_not_to_be), "{executions} {each_us}");
        }
        assert!(!rule.is_hotspot(0, 0.0));
    }

    #[test]
    fn a_composite_cost_is_a_weighted_sum() {
        let rule =
            Rule::parse("inherent cpu + cumulative 0.5 * allocation >= 1us after 10").unwrap();
        let cost = rule.cost([1.0, 20.0, 4.0, 8.0], [100.0, 200.0, 400.0, 800.0]);
        assert_eq!(cost, 20.0 + 0.5 * 400.0);
        assert!(
            rule.needs(Meter::Cpu) && rule.needs(Meter::Allocation) && !rule.needs(Meter::Wall)
        );
        assert!(!rule.in_bytes());
    }
}
