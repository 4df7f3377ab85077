//! Messages: which bytes that a process received are which that another one sent (Whodunit §5, §7.4).
//!
//! The paper adds a synopsis to what is sent. Here nothing is changed on the wire: records beside the connection say which
//! bytes of a stream were sent in which context, and which were received. What belongs together has the same stream and
//! the same offset, so clocks do not matter, and neither does how the bytes were cut into reads and writes.

mod matching;
mod stream;

pub use matching::{
    Matches, ProcessMessages, ReceiveRecord, SendRecord, Unmatched, match_messages,
};
pub use stream::{ByteStream, Message, Overlap, Receipt};

/// One direction of a connection. Both ends derive the same number: from addresses and ports, from a socket's cookie, from a
/// pipe's inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId(pub u64);
