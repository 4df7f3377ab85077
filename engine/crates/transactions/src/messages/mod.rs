//! Messages: which bytes received by one process were sent by another (Whodunit §5, §7.4).
//!
//! The paper adds a synopsis to what is sent. Fulcrum changes nothing on the wire. Instead, records beside the connection
//! say which bytes of a stream were sent in which context, and which were received. Records with the same stream and offset
//! belong together, so clocks do not matter, nor how the bytes were split into reads and writes.

mod matching;
mod stream;

pub use matching::{
    Matches, ProcessMessages, ReceiveRecord, SendRecord, Unmatched, match_messages,
};
pub use stream::{ByteStream, Message, Overlap, Receipt};

/// One direction of a connection. Both ends derive the same number: from addresses and ports, from a socket's cookie, or
/// from a pipe's inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId(pub u64);
