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
    pub(crate) process: usize,
    pub(crate) kind: StreamKind,
    pub(crate) via: Via,
    pub(super) inode: u64,
    pub(super) peer_inode: u64,
    pub(super) local: Address,
    pub(super) peer: Address,
    /// On the clock of the first process.
    pub(super) opened_ns: i64,
    pub(super) closed_ns: Option<i64>,
    /// What it sends in all the log, by its own offsets.
    pub(crate) sent: Ranges,
    pub(crate) sends: u64,
    /// Whether it receives anything, and from which offset on of its own.
    pub(crate) first_received: Option<u64>,
    pub(crate) channel: ChannelId,
    pub(crate) side: usize,
}

/// A stream with all its ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Channel {
    /// A pipe has one side. Each side's ends, in several processes after forks.
    pub(crate) sides: [Vec<EndId>; 2],
    pub(crate) is_pipe: bool,
}
