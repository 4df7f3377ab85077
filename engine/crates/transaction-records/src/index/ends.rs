//! Streams, and the ends that processes have of them.

use fulcrum_wire::transactions::{Address, StreamKind, Via};

use super::ranges::Ranges;

/// An end of a stream in one process. Row of [`Index::ends`].
pub(crate) type EndId = usize;
/// Row of [`Index::channels`].
pub(crate) type ChannelId = usize;

/// A stream as one process has it.
#[derive(Clone, Debug)]
pub(crate) struct End {
    pub process: usize,
    pub kind: StreamKind,
    pub via: Via,
    pub(super) inode: u64,
    pub(super) peer_inode: u64,
    pub(super) local: Address,
    pub(super) peer: Address,
    /// On the clock of the first process.
    pub(super) opened_ns: i64,
    pub(super) closed_ns: Option<i64>,
    /// What it sends in all the log, by its own offsets.
    pub sent: Ranges,
    pub sends: u64,
    /// Whether it receives anything, and from which offset on of its own.
    pub first_received: Option<u64>,
    pub channel: ChannelId,
    pub side: usize,
}

/// A stream with all its ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Channel {
    /// A pipe has one side. Each side's ends, in several processes after forks.
    pub sides: [Vec<EndId>; 2],
    pub is_pipe: bool,
}
