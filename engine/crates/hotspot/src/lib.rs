//! Hotspots (the refine loop, *Instrument → Measure → Refine → Repeat*): defines them ([`Rule`]), and decides at run time whether a
//! method is one ([`Table`], [`Calls`]), so that its metering can be switched off if it is not.
//!
//! Constraints, because this runs inside other people's programs: no I/O, no locks, and no panics on any input.

#![forbid(unsafe_code)]

mod metering;
mod parse;
mod rule;
mod units;

pub use metering::{Calls, ProbeCost, Sums, Table, Weights};
pub use parse::RuleError;
pub use rule::{CostScope, Meter, Rule, Term};
