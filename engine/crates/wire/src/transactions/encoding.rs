//! Records as bytes: a head of two words, numbers, and text.
//!
//! By hand: profiled programs write records into a mapped file, without allocation and in aligned words, and readers step over
//! a record by its length. `postcard`, which needs no allocation either, writes numbers of varying length, and no length of
//! the whole.

use super::kinds::{Calling, Interest, LockKind, RecordKind, StreamKind, Via};
use super::record::{Address, Head, Record};
use super::{MAX_ATTRIBUTES, MAX_CONTEXT, MAX_HEAD, MAX_PATH, MAX_RECORD};

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
    /// Which of the kinds it is.
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
            Record::Register { .. } => RecordKind::Register,
            Record::JavaWait { .. } => RecordKind::JavaWait,
            Record::JavaRelease { .. } => RecordKind::JavaRelease,
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
            Record::JavaRelease { condition, method } => (Words::of(&[condition, method]), none),
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
            Record::Register { stream, interest } => (
                Words::of(&[u64::from(stream), u64::from(interest as u8)]),
                none,
            ),
            Record::JavaWait {
                object,
                class,
                method,
                kind,
                condition,
                began_ns,
                timed_out,
            } => {
                let what = u32::from(kind as u8) | u32::from(timed_out) << 8;
                let words = [condition, began_ns, two(object, what), class, method];
                (Words::of(&words), none)
            }
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
        let kind = RecordKind::of(first as u8).ok_or(Damage::Kind(first as u8))?;
        Ok((head, Record::of(kind, values, text)?, length))
    }

    fn of(kind: RecordKind, values: &[u64], text: &'a [u8]) -> Result<Record<'a>, Damage> {
        let small = |value: u64| u32::try_from(value).map_err(|_| Damage::Value(value));
        Ok(match (kind, values) {
            (RecordKind::Program, []) => Record::Program(text),
            (RecordKind::Module, &[start, end, offset]) => Record::Module {
                start,
                end,
                offset,
                file: text,
            },
            (RecordKind::Path, &[id])
                if text.len().is_multiple_of(8) && text.len() <= 8 * MAX_PATH =>
            {
                Record::Path {
                    id: small(id)?,
                    addresses: text,
                }
            }
            (RecordKind::Spawn, &[thread]) => Record::Spawn {
                thread: small(thread)?,
            },
            (RecordKind::Begin, &[by]) => Record::Begin { by: small(by)? },
            (RecordKind::End, []) => Record::End,
            (RecordKind::Fork, &[child]) => Record::Fork {
                child: small(child)?,
            },
            (RecordKind::Open, values) => open(values)?,
            (RecordKind::Close, &[stream]) => Record::Close {
                stream: small(stream)?,
            },
            (RecordKind::Send, &[stream, offset, length, began_ns]) => Record::Send {
                stream: small(stream)?,
                offset,
                length,
                began_ns,
            },
            (RecordKind::Receive, &[stream, offset, length, began_ns])
                if text.len() <= MAX_HEAD =>
            {
                Record::Receive {
                    stream: small(stream)?,
                    offset,
                    length,
                    began_ns,
                    head: text,
                }
            }
            (RecordKind::Idle, &[began_ns]) => Record::Idle { began_ns },
            (RecordKind::Event, &[stream, data]) => Record::Event {
                stream: small(stream)?,
                data,
            },
            (RecordKind::Wait, &[lock, began_ns, what]) => Record::Wait {
                lock,
                kind: lock_kind(what >> 32 & 0xff)?,
                began_ns,
                holder: what as u32,
                timed_out: what >> 40 & 1 != 0,
            },
            (RecordKind::Release, &[lock, kind]) => Record::Release {
                lock,
                kind: lock_kind(kind)?,
            },
            (RecordKind::JavaRelease, &[condition, method]) => {
                Record::JavaRelease { condition, method }
            }
            (RecordKind::Produce, &[item]) => Record::Produce { item },
            (RecordKind::Consume, &[item, list]) => Record::Consume {
                item,
                list: list as u32,
            },
            (RecordKind::Note, []) => Record::Note(text),
            (RecordKind::Handler, &[item, function, at, how]) => Record::Handler {
                item,
                function,
                stream: at as u32,
                depth: (at >> 32) as u32,
                how: calling(how)?,
            },
            (RecordKind::Demote, &[list]) => Record::Demote { list: list as u32 },
            (RecordKind::Returned, &[depth]) => Record::Returned {
                depth: small(depth)?,
            },
            (RecordKind::Function, &[function]) => Record::Function {
                function,
                name: text,
            },
            (RecordKind::Span, &[high, low, span, flags]) if text.len() <= MAX_ATTRIBUTES => {
                Record::Span {
                    trace: [high, low],
                    span,
                    flags: u8::try_from(flags).map_err(|_| Damage::Value(flags))?,
                    attributes: text,
                }
            }
            (RecordKind::Context, []) if text.len() <= MAX_CONTEXT => Record::Context(text),
            (RecordKind::Register, &[stream, for_what]) => Record::Register {
                stream: small(stream)?,
                interest: interest(for_what)?,
            },
            (RecordKind::JavaWait, &[condition, began_ns, what, class, method]) => {
                Record::JavaWait {
                    object: what as u32,
                    class,
                    method,
                    kind: lock_kind(what >> 32 & 0xff)?,
                    condition,
                    began_ns,
                    timed_out: what >> 40 & 1 != 0,
                }
            }
            _ => return Err(Damage::Length(values.len() as u64)),
        })
    }
}

fn open<'a>(values: &[u64]) -> Result<Record<'a>, Damage> {
    let &[what, inode, peer_inode, ports, a, b, c, d] = values else {
        return Err(Damage::Length(values.len() as u64));
    };
    Ok(Record::Open {
        stream: what as u32,
        kind: StreamKind::of((what >> 32) as u8).ok_or(Damage::Value(what))?,
        via: Via::of((what >> 40) as u8).ok_or(Damage::Value(what))?,
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
    let kind = u8::try_from(value).ok().and_then(LockKind::of);
    kind.ok_or(Damage::Value(value))
}

fn calling(value: u64) -> Result<Calling, Damage> {
    let how = u8::try_from(value).ok().and_then(Calling::of);
    how.ok_or(Damage::Value(value))
}

fn interest(value: u64) -> Result<Interest, Damage> {
    let interest = u8::try_from(value).ok().and_then(Interest::of);
    interest.ok_or(Damage::Value(value))
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
