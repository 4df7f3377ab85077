//! Streams, and the ends that processes have of them.

use fulcrum_wire::transactions::{Address, StreamKind, Via};

use super::ranges::Ranges;
use crate::rows::row;

row! {
    /// An end of a stream in one process: a row of [`Index::ends`](super::Index::ends).
    EndId
}
row! {
    /// A row of [`Index::channels`](super::Index::channels).
    ChannelId
}

/// A stream as one process sees it.
#[derive(Clone, Debug)]
pub(crate) struct End {
    pub(crate) process: usize,
    pub(crate) kind: StreamKind,
    pub(crate) via: Via,
    pub(super) inode: u64,
    pub(super) peer_inode: u64,
    pub(super) local: Address,
    pub(super) peer: Address,
    /// On the first process's clock.
    pub(super) opened_ns: i64,
    pub(super) closed_ns: Option<i64>,
    /// What it sends over the whole log, by its own offsets.
    pub(crate) sent: Ranges,
    pub(crate) sends: u64,
    /// The first of its own offsets at which it receives anything.
    pub(crate) first_received: Option<u64>,
    pub(crate) channel: ChannelId,
    pub(crate) side: usize,
}

/// A stream with all its ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Channel {
    /// The ends on each side, which may belong to several processes after forks. A pipe has only one side.
    pub(crate) sides: [Vec<EndId>; 2],
    pub(crate) is_pipe: bool,
}
