//! Statistics: one definition each of the distributions, intervals, quantiles and random numbers that Fulcrum uses.
//!
//! The crate has no I/O, no allocation and no standard library, because the runtime draws its experiments from
//! [`Random`] inside other people's programs. It has no cargo features either, so that it is compiled once for everybody.
//! Where the standard library would call the system's mathematics library, this crate calls `libm`, so every result is the
//! same on every machine.
//!
//! Special functions (the incomplete beta and gamma functions) come from `special`. Quantiles do not: its inverse of the
//! incomplete beta function (AS 64) is wrong in far tails, and it has no inverse of the incomplete gamma function. They are
//! found by Newton's method on the distributions themselves.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod anytime;
pub mod bootstrap;
pub mod chi_squared;
mod interval;
pub mod normal;
pub mod quantile;
pub mod random;
mod root;
mod sample;
pub mod sequential;
pub mod student;
mod welch;

pub use interval::Interval;
pub use random::Random;
pub use sample::{Mean, Moments, Sample, Scatter};
pub use welch::{Welch, welch};

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    /// Asserts that `found` is `expected` to within a relative error.
    #[track_caller]
    pub(crate) fn close(found: f64, expected: f64, error: f64, of: impl Debug) {
        assert!(
            (found / expected - 1.0).abs() <= error,
            "{of:?}: {found}, not {expected}"
        );
    }
}
