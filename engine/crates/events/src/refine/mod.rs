//! The refine loop's analysis: from the measurements of a run to the filter for the next one.
//!
//! It is pure: [`Measured`] collects the traces of an iteration, [`Measured::hotspots`] says which methods stay, [`filter_text`] writes
//! them as a filter, and [`recheck`] draws excluded methods to measure again. `recorder` runs the programs.

mod filter;
mod names;
mod recheck;
mod replay;
mod sum;
mod units;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use fulcrum_hotspot::Rule;

use crate::reader::dictionary::Method;
use crate::reader::open::{End, Trace};
pub use filter::filter_text;
pub use names::{method_of_name, methods_of_names};
pub use recheck::recheck;
pub use sum::Sum;
pub use units::{Units, units};

/// A method, as named in filters.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MethodName {
    /// The class, with dots.
    pub class: String,
    /// The name. Constructors are `<init>`.
    pub name: String,
    /// The descriptor, such as `(I)V`. Empty for any.
    pub descriptor: String,
}

impl fmt::Display for MethodName {
    /// Writes `shop.Cart.add(I)V`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}{}", self.class, self.name, self.descriptor)
    }
}

impl From<&Method> for MethodName {
    fn from(it: &Method) -> Self {
        MethodName {
            class: it.class.clone(),
            name: it.name.clone(),
            descriptor: it.descriptor.clone(),
        }
    }
}

/// The measurements of an iteration's runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// The number of runs that were added.
    pub runs: u64,
    /// All methods that had probes, called or not.
    pub methods: BTreeMap<MethodName, Sum>,
}

impl Measured {
    /// Adds a run. Uses the sums that the agent kept if it had the same rule. Otherwise, the trace is replayed event by event, and its methods
    /// are the called ones.
    pub fn add(&mut self, trace: &Trace, rule: &Rule) {
        self.runs += 1;
        self.add_part(trace, rule);
    }

    /// Adds another log of the run that was added last, from a second virtual machine.
    pub fn add_part(&mut self, trace: &Trace, rule: &Rule) {
        let kept = trace.rule.as_deref() == Some(&rule.to_string()) && !trace.counts.is_empty();
        let mut sums: BTreeMap<u32, Sum> = BTreeMap::new();
        // A log without an end, or that was full before it, may lack the sums of methods that were hot until then.
        if !kept || trace.end != End::Ended {
            sums = replay::replay(trace, rule);
        }
        if kept {
            sums.extend(trace.counts.iter().map(kept_sum));
        }
        for (method, sum) in sums {
            let Some(known) = trace.methods.get(&method) else {
                continue;
            };
            let all = self.methods.entry(known.into()).or_default();
            all.metered += sum.metered;
            all.fired += sum.fired;
            all.cost += sum.cost;
        }
    }

    /// The methods that are hotspots in the mean of the runs.
    pub fn hotspots(&self, rule: &Rule) -> BTreeSet<MethodName> {
        let runs = self.runs.max(1);
        let hot = self
            .methods
            .iter()
            .filter(|(_, sum)| rule.is_hotspot(sum.metered.div_ceil(runs), sum.cost / runs as f64));
        hot.map(|(name, _)| name.clone()).collect()
    }

    /// The number of classes with probes.
    pub fn classes(&self) -> usize {
        let classes: BTreeSet<&str> = self.methods.keys().map(|it| it.class.as_str()).collect();
        classes.len()
    }

    /// The number of calls whose probes fired, in the mean of the runs.
    pub fn fired(&self) -> u64 {
        self.mean(|sum| sum.fired)
    }

    /// The number of measured calls, in the mean of the runs.
    pub fn metered(&self) -> u64 {
        self.mean(|sum| sum.metered)
    }

    fn mean(&self, of: impl Fn(&Sum) -> u64) -> u64 {
        self.methods.values().map(of).sum::<u64>() / self.runs.max(1)
    }
}

fn kept_sum((method, counts): (&u32, &crate::reader::dictionary::Counts)) -> (u32, Sum) {
    let sum = Sum {
        metered: counts.metered,
        fired: counts.metered + counts.passed,
        cost: counts.cost,
    };
    (*method, sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(method: &str) -> MethodName {
        MethodName {
            class: "shop.Cart".into(),
            name: method.into(),
            descriptor: "()V".into(),
        }
    }

    #[test]
    fn hotspots_are_judged_in_the_mean_of_the_runs() {
        let rule = Rule::parse("wall >= 10us after 100").unwrap();
        let mut measured = Measured {
            runs: 2,
            ..Measured::default()
        };
        // Executions in both runs, mean cost in microseconds.
        for (method, metered, mean_us, hot) in [
            ("often", 2000, 10.0, true),
            ("cheap", 2000, 9.9, false),
            ("rare", 4, 500.0, true),
            ("rareAndCheap", 4, 499.0, false),
            ("never", 0, 0.0, false),
        ] {
            let sum = Sum {
                metered,
                fired: metered * 2,
                cost: metered as f64 * mean_us * 1000.0,
            };
            measured.methods.insert(name(method), sum);
            assert_eq!(
                measured.hotspots(&rule).contains(&name(method)),
                hot,
                "{method}"
            );
        }
        assert_eq!((measured.metered(), measured.fired()), (2004, 4008));
        assert_eq!(measured.classes(), 1);
    }
}
