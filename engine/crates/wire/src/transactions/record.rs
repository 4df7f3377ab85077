//! One record: a head of two words, numbers, and text.

use super::{MAX_ATTRIBUTES, MAX_CONTEXT, MAX_HEAD, MAX_PATH, MAX_RECORD};

/// What a record tells. `repr` is what stands in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RecordKind {
    /// See [`Record::Program`].
    Program = 1,
    /// See [`Record::Module`].
    Module = 2,
    /// See [`Record::Path`].
    Path = 3,
    /// See [`Record::Spawn`].
    Spawn = 4,
    /// See [`Record::Begin`].
    Begin = 5,
    /// See [`Record::End`].
    End = 6,
    /// See [`Record::Fork`].
    Fork = 7,
    /// See [`Record::Open`].
    Open = 8,
    /// See [`Record::Close`].
    Close = 9,
    /// See [`Record::Send`].
    Send = 10,
    /// See [`Record::Receive`].
    Receive = 11,
    /// See [`Record::Idle`].
    Idle = 12,
    /// See [`Record::Event`].
    Event = 13,
    /// See [`Record::Wait`].
    Wait = 14,
    /// See [`Record::Release`].
    Release = 15,
    /// See [`Record::Produce`].
    Produce = 16,
    /// See [`Record::Consume`].
    Consume = 17,
    /// See [`Record::Note`].
    Note = 18,
    /// See [`Record::Handler`].
    Handler = 19,
    /// See [`Record::Demote`].
    Demote = 20,
    /// See [`Record::Returned`].
    Returned = 21,
    /// See [`Record::Function`].
    Function = 22,
    /// See [`Record::Span`].
    Span = 23,
    /// See [`Record::Context`].
    Context = 24,
}

/// For what a library calls a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Calling {
    /// For the first time what it was registered for, or what was asked of it.
    First = 0,
    /// Once more what it was registered for: a timer that repeats, a descriptor that is watched on and on.
    Again = 1,
    /// What the thread does already: the library calls it within a handler of its own.
    Onward = 2,
    /// What was handed on for another thread to do, as a task to an executor: when it has returned, the thread goes on with what it
    /// did before.
    Task = 3,
    /// What was left in a queue. As a task; but what nobody left there takes no thread away from what it does.
    Taken = 4,
}

/// What a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum StreamKind {
    /// A TCP connection. Its two ends share a pair of addresses.
    Tcp = 1,
    /// A connected unix socket that keeps no boundaries, or one that does. Each end has an inode and knows the other's.
    Unix = 2,
    /// A pipe or a named pipe. Both ends have one inode.
    Pipe = 3,
    /// A socket for datagrams. Nothing is matched. Of files, terminals, event counters and the like there are no records.
    Other = 4,
}

/// How a process came to a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Via {
    /// It was there when the program began, or was received from another process.
    Found = 0,
    /// By `accept`: requests come by it.
    Accepted = 1,
    /// By `connect`.
    Connected = 2,
    /// By `pipe` or `socketpair`.
    Made = 3,
    /// From the parent, by `fork`.
    Inherited = 4,
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum LockKind {
    /// A mutex.
    Mutex = 1,
    /// A lock that several readers or one writer hold.
    ReadWrite = 2,
    /// A condition variable.
    Condition = 3,
    /// A futex of the program's own, or of its language's library.
    Futex = 4,
    /// A semaphore.
    Semaphore = 5,
}

/// An end of a connection: IPv4 addresses as IPv6 ones that stand for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    /// The 16 bytes of the address, in network order.
    pub ip: [u8; 16],
    /// The port; 0: there is no address.
    pub port: u16,
}

/// What all records begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// When what it tells was over: `CLOCK_MONOTONIC`, nanoseconds.
    pub time_ns: u64,
    /// The call path, by its number in a [`Record::Path`] of the same process; 0: not known.
    pub path: u32,
}

/// A record behind its head. Streams, locks and threads are numbered by their process. Times are as the head's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// What the process executes: the file. Also in the logs of forked children.
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
        /// Eight bytes each, at most [`MAX_PATH`] of them.
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
        /// Of the first [`MAX_HEAD`] bytes that were received since the last send into the stream, or since it was opened, those
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
    /// The thread gave back a lock while others waited for it, or signalled a condition that others waited for.
    Release {
        /// Its address.
        lock: u64,
        /// What it is.
        kind: LockKind,
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
        /// Its attributes as they are published, at most [`MAX_ATTRIBUTES`] bytes: of each its number, its length and its text.
        attributes: &'a [u8],
    },
    /// What the process publishes of itself (OTEP 4719), at most [`MAX_CONTEXT`] bytes: a message `ProcessContext`, which has the
    /// names of attributes. A later one replaces it.
    Context(&'a [u8]),
}

/// Where functions without addresses begin: no program has code there.
pub const NAMED_FUNCTIONS: u64 = 1 << 63;

/// What is wrong with bytes that should be a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// It is shorter than it says, or says that it is shorter or longer than a record can be.
    Length(u64),
    /// Its kind is not one.
    Kind(u8),
    /// A part of it is not what it can be.
    Value(u64),
}

/// Bytes of a head.
const HEAD: usize = 16;

/// Words are collected here before they are written: the longest numeric part is that of [`Record::Open`].
struct Words {
    words: [u64; 10],
    count: usize,
}

impl Words {
    fn of(values: &[u64]) -> Words {
        let mut words = [0; 10];
        words[..values.len()].copy_from_slice(values);
        Words {
            words,
            count: values.len(),
        }
    }

    fn as_slice(&self) -> &[u64] {
        &self.words[..self.count]
    }
}

impl<'a> Record<'a> {
    /// What it tells.
    pub fn kind(&self) -> RecordKind {
        match self {
            Record::Program(_) => RecordKind::Program,
            Record::Module { .. } => RecordKind::Module,
            Record::Path { .. } => RecordKind::Path,
            Record::Spawn { .. } => RecordKind::Spawn,
            Record::Begin { .. } => RecordKind::Begin,
            Record::End => RecordKind::End,
            Record::Fork { .. } => RecordKind::Fork,
            Record::Open { .. } => RecordKind::Open,
            Record::Close { .. } => RecordKind::Close,
            Record::Send { .. } => RecordKind::Send,
            Record::Receive { .. } => RecordKind::Receive,
            Record::Idle { .. } => RecordKind::Idle,
            Record::Event { .. } => RecordKind::Event,
            Record::Wait { .. } => RecordKind::Wait,
            Record::Release { .. } => RecordKind::Release,
            Record::Produce { .. } => RecordKind::Produce,
            Record::Consume { .. } => RecordKind::Consume,
            Record::Note(_) => RecordKind::Note,
            Record::Handler { .. } => RecordKind::Handler,
            Record::Demote { .. } => RecordKind::Demote,
            Record::Returned { .. } => RecordKind::Returned,
            Record::Span { .. } => RecordKind::Span,
            Record::Context(_) => RecordKind::Context,
            Record::Function { .. } => RecordKind::Function,
        }
    }

    fn parts(&self) -> (Words, &'a [u8]) {
        let none: &[u8] = &[];
        let two = |a: u32, b: u32| u64::from(a) | u64::from(b) << 32;
        match *self {
            Record::Program(text) | Record::Note(text) | Record::Context(text) => {
                (Words::of(&[]), text)
            }
            Record::Module {
                start,
                end,
                offset,
                file,
            } => (Words::of(&[start, end, offset]), file),
            Record::Path { id, addresses } => (Words::of(&[u64::from(id)]), addresses),
            Record::Spawn { thread } => (Words::of(&[u64::from(thread)]), none),
            Record::Begin { by } => (Words::of(&[u64::from(by)]), none),
            Record::End => (Words::of(&[]), none),
            Record::Fork { child } => (Words::of(&[u64::from(child)]), none),
            Record::Open {
                stream,
                kind,
                via,
                inode,
                peer_inode,
                local,
                peer,
            } => {
                let what = u32::from(kind as u8) | u32::from(via as u8) << 8;
                let ports = two(u32::from(local.port), u32::from(peer.port));
                let [a, b] = address_words(local.ip);
                let [c, d] = address_words(peer.ip);
                let words = [two(stream, what), inode, peer_inode, ports, a, b, c, d];
                (Words::of(&words), none)
            }
            Record::Close { stream } => (Words::of(&[u64::from(stream)]), none),
            Record::Send {
                stream,
                offset,
                length,
                began_ns,
            } => {
                let words = [u64::from(stream), offset, length, began_ns];
                (Words::of(&words), none)
            }
            Record::Receive {
                stream,
                offset,
                length,
                began_ns,
                head,
            } => {
                let words = [u64::from(stream), offset, length, began_ns];
                (Words::of(&words), head)
            }
            Record::Idle { began_ns } => (Words::of(&[began_ns]), none),
            Record::Event { stream, data } => (Words::of(&[u64::from(stream), data]), none),
            Record::Wait {
                lock,
                kind,
                began_ns,
                holder,
                timed_out,
            } => {
                let what = u32::from(kind as u8) | u32::from(timed_out) << 8;
                (Words::of(&[lock, began_ns, two(holder, what)]), none)
            }
            Record::Release { lock, kind } => (Words::of(&[lock, u64::from(kind as u8)]), none),
            Record::Produce { item } => (Words::of(&[item]), none),
            Record::Consume { item, list } => (Words::of(&[item, u64::from(list)]), none),
            Record::Demote { list } => (Words::of(&[u64::from(list)]), none),
            Record::Handler {
                item,
                function,
                stream,
                depth,
                how,
            } => {
                let how = u64::from(how as u8);
                (Words::of(&[item, function, two(stream, depth), how]), none)
            }
            Record::Returned { depth } => (Words::of(&[u64::from(depth)]), none),
            Record::Span {
                trace: [high, low],
                span,
                flags,
                attributes,
            } => (Words::of(&[high, low, span, flags.into()]), attributes),
            Record::Function { function, name } => (Words::of(&[function]), name),
        }
    }

    /// Bytes that it takes with its head; a multiple of eight.
    pub fn length(&self) -> usize {
        let (words, text) = self.parts();
        HEAD + 8 * words.count + text.len().next_multiple_of(8)
    }

    /// Writes it to the beginning of `out`, and returns its length. `None` when it is longer than `out`, or than
    /// [`MAX_RECORD`]; then `out` is as before.
    pub fn write(&self, head: Head, out: &mut [u8]) -> Option<usize> {
        let (words, text) = self.parts();
        let length = HEAD + 8 * words.count + text.len().next_multiple_of(8);
        if length > MAX_RECORD {
            return None;
        }
        let out = out.get_mut(..length)?;
        let first = u64::from(self.kind() as u8)
            | (text.len() as u64) << 8
            | (length as u64 / 8) << 20
            | u64::from(head.path) << 32;
        out[..8].copy_from_slice(&first.to_le_bytes());
        out[8..HEAD].copy_from_slice(&head.time_ns.to_le_bytes());
        let (numbers, rest) = out[HEAD..].split_at_mut(8 * words.count);
        for (place, word) in numbers.chunks_exact_mut(8).zip(words.as_slice()) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        rest[..text.len()].copy_from_slice(text);
        rest[text.len()..].fill(0);
        Some(length)
    }

    /// The record at the beginning of `bytes`, with its head and its length.
    ///
    /// # Errors
    /// [`Damage`], when it is none.
    pub fn read(bytes: &'a [u8]) -> Result<(Head, Record<'a>, usize), Damage> {
        let word = |at: usize| {
            let bytes = bytes.get(at..at + 8)?;
            Some(u64::from_le_bytes(bytes.try_into().ok()?))
        };
        let first = word(0).ok_or(Damage::Length(bytes.len() as u64))?;
        let text = (first >> 8 & 0xfff) as usize;
        let length = (first >> 20 & 0xfff) as usize * 8;
        let wrong = Damage::Length(length as u64);
        let numbers = length
            .checked_sub(HEAD + text.next_multiple_of(8))
            .filter(|_| length <= bytes.len())
            .ok_or(wrong)?;
        let head = Head {
            time_ns: word(8).ok_or(wrong)?,
            path: (first >> 32) as u32,
        };
        let text_at = HEAD + numbers;
        let text = bytes.get(text_at..text_at + text).ok_or(wrong)?;
        let mut values = [0; 10];
        let count = numbers / 8;
        for (at, value) in values.iter_mut().enumerate().take(count) {
            *value = word(HEAD + 8 * at).ok_or(wrong)?;
        }
        let values = values.get(..count).ok_or(wrong)?;
        Ok((head, Record::of(first as u8, values, text)?, length))
    }

    fn of(kind: u8, values: &[u64], text: &'a [u8]) -> Result<Record<'a>, Damage> {
        let small = |value: u64| u32::try_from(value).map_err(|_| Damage::Value(value));
        let wrong_count = Damage::Length(values.len() as u64);
        Ok(match (kind, values) {
            (1, []) => Record::Program(text),
            (2, &[start, end, offset]) => Record::Module {
                start,
                end,
                offset,
                file: text,
            },
            (3, &[id]) if text.len().is_multiple_of(8) && text.len() <= 8 * MAX_PATH => {
                Record::Path {
                    id: small(id)?,
                    addresses: text,
                }
            }
            (4, &[thread]) => Record::Spawn {
                thread: small(thread)?,
            },
            (5, &[by]) => Record::Begin { by: small(by)? },
            (6, []) => Record::End,
            (7, &[child]) => Record::Fork {
                child: small(child)?,
            },
            (8, values) => open(values)?,
            (9, &[stream]) => Record::Close {
                stream: small(stream)?,
            },
            (10, &[stream, offset, length, began_ns]) => Record::Send {
                stream: small(stream)?,
                offset,
                length,
                began_ns,
            },
            (11, &[stream, offset, length, began_ns]) if text.len() <= MAX_HEAD => {
                Record::Receive {
                    stream: small(stream)?,
                    offset,
                    length,
                    began_ns,
                    head: text,
                }
            }
            (12, &[began_ns]) => Record::Idle { began_ns },
            (13, &[stream, data]) => Record::Event {
                stream: small(stream)?,
                data,
            },
            (14, &[lock, began_ns, what]) => Record::Wait {
                lock,
                kind: lock_kind(what >> 32 & 0xff)?,
                began_ns,
                holder: what as u32,
                timed_out: what >> 40 & 1 != 0,
            },
            (15, &[lock, kind]) => Record::Release {
                lock,
                kind: lock_kind(kind)?,
            },
            (16, &[item]) => Record::Produce { item },
            (17, &[item, list]) => Record::Consume {
                item,
                list: list as u32,
            },
            (18, []) => Record::Note(text),
            (19, &[item, function, at, how]) => Record::Handler {
                item,
                function,
                stream: at as u32,
                depth: (at >> 32) as u32,
                how: calling(how)?,
            },
            (20, &[list]) => Record::Demote { list: list as u32 },
            (21, &[depth]) => Record::Returned {
                depth: small(depth)?,
            },
            (22, &[function]) => Record::Function {
                function,
                name: text,
            },
            (23, &[high, low, span, flags]) if text.len() <= MAX_ATTRIBUTES => Record::Span {
                trace: [high, low],
                span,
                flags: u8::try_from(flags).map_err(|_| Damage::Value(flags))?,
                attributes: text,
            },
            (24, []) if text.len() <= MAX_CONTEXT => Record::Context(text),
            (1..=24, _) => return Err(wrong_count),
            _ => return Err(Damage::Kind(kind)),
        })
    }
}

fn open<'a>(values: &[u64]) -> Result<Record<'a>, Damage> {
    let &[what, inode, peer_inode, ports, a, b, c, d] = values else {
        return Err(Damage::Length(values.len() as u64));
    };
    Ok(Record::Open {
        stream: what as u32,
        kind: match what >> 32 & 0xff {
            1 => StreamKind::Tcp,
            2 => StreamKind::Unix,
            3 => StreamKind::Pipe,
            4 => StreamKind::Other,
            _ => return Err(Damage::Value(what)),
        },
        via: match what >> 40 & 0xff {
            0 => Via::Found,
            1 => Via::Accepted,
            2 => Via::Connected,
            3 => Via::Made,
            4 => Via::Inherited,
            _ => return Err(Damage::Value(what)),
        },
        inode,
        peer_inode,
        local: Address {
            ip: address_bytes([a, b]),
            port: ports as u16,
        },
        peer: Address {
            ip: address_bytes([c, d]),
            port: (ports >> 32) as u16,
        },
    })
}

fn lock_kind(value: u64) -> Result<LockKind, Damage> {
    Ok(match value {
        1 => LockKind::Mutex,
        2 => LockKind::ReadWrite,
        3 => LockKind::Condition,
        4 => LockKind::Futex,
        5 => LockKind::Semaphore,
        _ => return Err(Damage::Value(value)),
    })
}

fn calling(value: u64) -> Result<Calling, Damage> {
    Ok(match value {
        0 => Calling::First,
        1 => Calling::Again,
        2 => Calling::Onward,
        3 => Calling::Task,
        4 => Calling::Taken,
        _ => return Err(Damage::Value(value)),
    })
}

fn address_words(ip: [u8; 16]) -> [u64; 2] {
    let word = u128::from_le_bytes(ip);
    [word as u64, (word >> 64) as u64]
}

fn address_bytes([low, high]: [u64; 2]) -> [u8; 16] {
    (u128::from(low) | u128::from(high) << 64).to_le_bytes()
}

#[cfg(test)]
mod tests;
