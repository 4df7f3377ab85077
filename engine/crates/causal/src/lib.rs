//! Experiments to slopes (COZ §2 to §3.4): what a recording says about the payoff of each line.
//!
//! [`analyse`] does all of it: it combines equal experiments, measures each line against its own baseline, corrects for
//! phases, fits the slope, bootstraps the intervals, reads the shape, and ranks. Each step is a module with one idea. The result
//! is the same on every machine: the bootstrap's random numbers are seeded by the line's name.

#![forbid(unsafe_code)]

mod adaptive;
mod analysis;
mod compare;
mod estimate;
mod experiments;
mod notes;
mod prediction;
mod programs;
mod ranking;
pub mod wording;

pub use adaptive::anytime::{Known, known};
pub use adaptive::choice::{FLOOR, next_weights};
pub use adaptive::opening::{FirstVerdict, Opening, SPEEDUPS, candidates};
pub use analysis::{ALLOWANCE, FEWEST_REPLICATES, Options, analyse};
pub use compare::compare;
pub use experiments::steady::{LONGEST_WARMUP, next_warmups};
pub use prediction::{Prediction, predict, program_speedup_at};
pub use ranking::shape::{FLAT_HALF_WIDTH, GAINS, HARMS, largest_effect};
pub use ranking::verdict::is_small_effect;
