//! What the calls of a method cost together.

/// A method's sums over the runs of an iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    /// Calls that were measured.
    pub metered: u64,
    /// Calls whose probes fired: those that were measured, and those that passed a shut gate.
    pub fired: u64,
    /// What the measured ones cost together, by the rule: nanoseconds, or bytes.
    pub cost: f64,
}
