//! What threads and processes did: one record for each thing.

use super::kinds::{Calling, Interest, LockKind, StreamKind, Via};

/// An end of a connection. IPv4 addresses are mapped to IPv6.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    /// The 16 bytes of the address, in network order.
    pub ip: [u8; 16],
    /// The port; 0 when there is no address.
    pub port: u16,
}

/// What all records begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// When the event was over: `CLOCK_MONOTONIC`, nanoseconds.
    pub time_ns: u64,
    /// The call path, by its number in a [`Record::Path`] of the same process; 0: not known.
    pub path: u32,
}

/// A record without its head. Streams, locks and threads have numbers of their process. Times are as in the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// The file that the process executes. Also in the logs of forked children.
    Program(&'a [u8]),
    /// Code was mapped: `start..end` are addresses, `offset` is where it begins in the file. A forked child's log has no more than
    /// came after the fork; what its parent's says until then holds for it too. A later record replaces an earlier one.
    Module {
        /// Address of its first byte.
        start: u64,
        /// Address behind its last byte.
        end: u64,
        /// Its place in the file.
        offset: u64,
        /// The file.
        file: &'a [u8],
    },
    /// A call path: its number, and its addresses as the bytes of little-endian words, innermost first: return addresses.
    /// Written by the thread that first needs it, before it does.
    Path {
        /// From 1.
        id: u32,
        /// Eight bytes each, at most [`super::MAX_PATH`] of them.
        addresses: &'a [u8],
    },
    /// The thread makes another one, which has this number. Its time is before the new thread's first.
    Spawn {
        /// The number of the new thread.
        thread: u32,
    },
    /// The thread begins. Its first record.
    Begin {
        /// The number of the thread that made it; 0: not known, or the process's first.
        by: u32,
    },
    /// The thread ends.
    End,
    /// The thread has made a process.
    Fork {
        /// The child.
        child: u32,
    },
    /// A stream is used for the first time. Both directions have one number, and so have both ends of a pipe. A forked child's log
    /// has numbers and offsets that go on from its parent's, and tells of a stream again when the child uses it first.
    Open {
        /// Its number.
        stream: u32,
        /// What it is.
        kind: StreamKind,
        /// How the process came to it.
        via: Via,
        /// The inode of this end; of a pipe, of both.
        inode: u64,
        /// The inode of the other end of a unix socket; 0: not known.
        peer_inode: u64,
        /// This end of a TCP connection.
        local: Address,
        /// The other end of a TCP connection.
        peer: Address,
    },
    /// The process has closed its last descriptor of a stream.
    Close {
        /// Its number.
        stream: u32,
    },
    /// Bytes went out by one call.
    Send {
        /// The stream.
        stream: u32,
        /// Bytes that this process had sent into it before, and its parent before the fork.
        offset: u64,
        /// Bytes sent, not 0.
        length: u64,
        /// When the call began.
        began_ns: u64,
    },
    /// Bytes came in by one call, or the end of the stream did.
    Receive {
        /// The stream.
        stream: u32,
        /// Bytes that this process had received from it before, and its parent before the fork.
        offset: u64,
        /// Bytes received; 0: the stream has ended.
        length: u64,
        /// When the call began.
        began_ns: u64,
        /// Of the first [`super::MAX_HEAD`] bytes that were received since the last send into the stream, or since it was opened, those
        /// that came by this call. None of what the program never sees, as with `splice`.
        head: &'a [u8],
    },
    /// The thread waited for whatever comes next: `epoll_wait`, `poll`, `select`, `accept`, a signal. What it did before is over. There
    /// is none of calls that only look, with a time limit of 0.
    Idle {
        /// When the wait began.
        began_ns: u64,
    },
    /// The thread is told that something may be done with a stream, and does it from here on.
    Event {
        /// The stream; 0: something that is none, as a timer, an eventfd or a socket that listens, or it is not known.
        stream: u32,
        /// What the program registered with it: two events of one registration have the same.
        data: u64,
    },
    /// The thread waited for a lock, or a condition. There is none of locks that were free.
    Wait {
        /// Its address.
        lock: u64,
        /// What it is.
        kind: LockKind,
        /// When the wait began.
        began_ns: u64,
        /// The kernel's number of the thread that held it then; 0: not known, as of semaphores, conditions and readers.
        holder: u32,
        /// The wait ended because its time was over.
        timed_out: bool,
    },
    /// The thread waited for a monitor or a lock of a Java virtual machine. There is no [`Record::Wait`] of what the machine itself
    /// waited for meanwhile.
    JavaWait {
        /// Identifies the object: its identity hash.
        object: u32,
        /// Its class: a [`Record::Function`].
        class: u64,
        /// The method that waited, likewise; 0: not known.
        method: u64,
        /// What it is to the program. [`LockKind::Mutex`] for a monitor, or a lock that one thread holds.
        kind: LockKind,
        /// The address of the condition that the machine waited for last, which the thread that ended the wait has signalled.
        condition: u64,
        /// When the wait began.
        began_ns: u64,
        /// The wait ended because its time was over.
        timed_out: bool,
    },
    /// The thread gave back a lock while others waited for it, or signalled a condition that others waited for.
    Release {
        /// Its address.
        lock: u64,
        /// What it is.
        kind: LockKind,
    },
    /// It was a method of Java that ended the wait of another thread: says more of the thread's last [`Record::Release`] of this
    /// condition.
    JavaRelease {
        /// Its address.
        condition: u64,
        /// The method: a [`Record::Function`].
        method: u64,
    },
    /// The thread hands its transaction on through memory, or to a handler.
    Produce {
        /// Never given twice in a process, unless one call of a handler is for both.
        item: u64,
    },
    /// The thread takes over what was produced.
    Consume {
        /// As in the [`Record::Produce`].
        item: u64,
        /// The list of producers and consumers that it came by, of those of the process.
        list: u32,
    },
    /// Nothing flows by this list: a thread both produces and consumes. What was consumed by it, before or after this, was
    /// no flow (Whodunit §3.4).
    Demote {
        /// As in the [`Record::Consume`].
        list: u32,
    },
    /// What a reader should know.
    Note(&'a [u8]),
    /// A library of events calls a handler, or an executor a task. One of the same depth, and those within it, have returned.
    Handler {
        /// As in the [`Record::Produce`] that registered it, or asked for it; 0: not known.
        item: u64,
        /// The address of the function, or what a [`Record::Function`] names; 0: what was produced simply goes on.
        function: u64,
        /// The stream that it was registered for; 0: none, or it is not known.
        stream: u32,
        /// Handlers that the thread is in, with this one.
        depth: u32,
        /// For what.
        how: Calling,
    },
    /// The handler of this depth has returned, and those within it: the thread goes on with what the one around it did, or with the
    /// library's own. There is none where a [`Record::Handler`], or an [`Record::Idle`], says as much.
    Returned {
        /// As in the [`Record::Handler`].
        depth: u32,
    },
    /// What the program's own machine calls a function that has no address: a class of Java. Written before it is used.
    Function {
        /// From [`NAMED_FUNCTIONS`] on.
        function: u64,
        /// Its name.
        name: &'a [u8],
    },
    /// The thread is in another span than before, as an OpenTelemetry SDK publishes it (OTEP 4947).
    Span {
        /// Its trace, as the bytes of two little-endian words; zeros: it is in none any more.
        trace: [u64; 2],
        /// Its number, likewise.
        span: u64,
        /// The flags of W3C Trace Context.
        flags: u8,
        /// Its attributes as they are published, at most [`super::MAX_ATTRIBUTES`] bytes: of each its number, its length and its text.
        attributes: &'a [u8],
    },
    /// What the process publishes of itself (OTEP 4719), at most [`super::MAX_CONTEXT`] bytes: a message `ProcessContext`, which has the
    /// names of attributes. A later one replaces it.
    Context(&'a [u8]),
    /// The thread registers a stream with an event loop, changes its registration or removes it, while it works for something
    /// that need not be what the stream was last used for. Its time is before the registration takes effect.
    ///
    /// There is none if the thread works for nothing, if it came to its work by this stream, if the last record of the stream was
    /// written in the same work, or if the process has accepted the stream.
    Register {
        /// The stream.
        stream: u32,
        /// What it is registered for from now on.
        interest: Interest,
    },
}

/// Where functions without addresses begin: no program has code there.
pub const NAMED_FUNCTIONS: u64 = 1 << 63;

impl Record<'_> {
    /// Whether it tells of what is still so in a later window: streams, threads and processes that come and go, and what names and
    /// numbers mean. All others tell what happens to transactions.
    pub const fn lasts(&self) -> bool {
        match self {
            Record::Program(_)
            | Record::Module { .. }
            | Record::Path { .. }
            | Record::Spawn { .. }
            | Record::Begin { .. }
            | Record::End
            | Record::Fork { .. }
            | Record::Open { .. }
            | Record::Close { .. }
            | Record::Demote { .. }
            | Record::Note(_)
            | Record::Function { .. }
            | Record::Context(_) => true,
            Record::Send { .. }
            | Record::Receive { .. }
            | Record::Idle { .. }
            | Record::Event { .. }
            | Record::Wait { .. }
            | Record::JavaWait { .. }
            | Record::Release { .. }
            | Record::JavaRelease { .. }
            | Record::Produce { .. }
            | Record::Consume { .. }
            | Record::Handler { .. }
            | Record::Returned { .. }
            | Record::Span { .. }
            | Record::Register { .. } => false,
        }
    }
}
