//! The cost of probes.

/// What probes cost, picoseconds; zeros when it could not be measured.
#[derive(Clone, Copy, Debug, Default)]
pub struct Costs {
    /// Of a logged call, within its own times.
    pub inside: u64,
    /// Of a logged call, beside its own times.
    pub outside: u64,
    /// Of a call whose probes fire without being logged.
    pub skipped: u64,
}
