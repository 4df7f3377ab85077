//! How transactions came from one stage to another (Whodunit §2.4).

/// By what a transaction flowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FlowKind {
    /// Shared memory (§3).
    Memory,
    /// An event (§4.1).
    Event,
    /// The queue of a stage (§4.2).
    Stage,
    /// A message (§5).
    Message,
}

impl FlowKind {
    /// The kind in one word.
    pub fn name(self) -> &'static str {
        match self {
            FlowKind::Memory => "memory",
            FlowKind::Event => "event",
            FlowKind::Stage => "stage",
            FlowKind::Message => "message",
        }
    }
}

/// All flows of one kind between two places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow<P> {
    /// By what.
    pub kind: FlowKind,
    /// Where the transaction was produced.
    pub from: P,
    /// Where it was consumed.
    pub to: P,
    /// How often.
    pub count: u64,
}
