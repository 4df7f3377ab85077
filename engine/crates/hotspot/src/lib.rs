//! Hotspots (the refine loop, *Instrument → Measure → Refine → Repeat*): what they are ([`Rule`]), and deciding at run time
//! whether a method is one ([`Table`], [`Calls`]), so that its metering can be switched off when it is none.
//!
//! Constraints, because this runs inside other people's programs: no I/O, no locks, nothing that panics on what it is given.

#![forbid(unsafe_code)]

mod metering;
mod parse;
mod rule;
mod units;

pub use metering::{Calls, ProbeCost, Sums, Table, Weights};
pub use parse::RuleError;
pub use rule::{CostScope, Meter, Rule, Term};
