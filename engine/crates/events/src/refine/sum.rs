//! The total cost of a method's calls.

/// The sums of a method over the runs of an iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    /// The number of measured calls.
    pub metered: u64,
    /// The number of calls whose probes fired: those that were measured, and those that passed a shut gate.
    pub fired: u64,
    /// The total cost of the measured calls by the rule, in nanoseconds or bytes.
    pub cost: f64,
}
