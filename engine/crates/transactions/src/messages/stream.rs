//! A stream: what was sent, by offset, and which parts of it a read received.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// What was sent into a stream. Offsets are bytes since its start.
#[derive(Clone, Debug)]
pub struct ByteStream<T> {
    /// By start offset: the end offset, and what was sent. No two entries overlap.
    sent: BTreeMap<u64, (u64, T)>,
    limit: usize,
}

/// What a read received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt<'a, T> {
    /// The messages that the read has bytes of, in stream order.
    pub messages: Vec<Message<'a, T>>,
    /// Bytes that were not seen to be sent.
    pub unknown_bytes: u64,
}

/// A message that a read has bytes of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a, T> {
    /// What it was sent with.
    pub what: &'a T,
    /// Whether the read has the message's first byte. This holds for exactly one of the reads that receive part of it.
    pub begins: bool,
}

/// Something was sent twice at one offset: the records are damaged, or belong to different streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// What was to be recorded.
    pub sent: Range<u64>,
    /// What had already been recorded.
    pub before: Range<u64>,
}

impl<T> ByteStream<T> {
    /// An empty stream that remembers this many messages, the latest ones.
    pub fn with_limit(messages: usize) -> Self {
        ByteStream {
            sent: BTreeMap::new(),
            limit: messages.max(1),
        }
    }

    /// Records the bytes sent by one call. Sending no bytes is not a message.
    ///
    /// # Errors
    /// [`Overlap`]. The stream then stays unchanged.
    pub fn sent(&mut self, range: Range<u64>, what: T) -> Result<(), Overlap> {
        if range.is_empty() {
            return Ok(());
        }
        if let Some((&start, &(end, _))) = self.sent.range(..range.end).next_back()
            && end > range.start
        {
            let before = start..end;
            return Err(Overlap {
                sent: range,
                before,
            });
        }
        if self.sent.len() >= self.limit {
            self.sent.pop_first();
        }
        self.sent.insert(range.start, (range.end, what));
        Ok(())
    }

    /// The messages behind the bytes that one call received, into any number of buffers. Bytes that are only peeked at
    /// (`MSG_PEEK`) are received later.
    pub fn received(&self, range: Range<u64>) -> Receipt<'_, T> {
        let mut messages = Vec::new();
        if range.is_empty() {
            return Receipt {
                messages,
                unknown_bytes: 0,
            };
        }
        let mut known = 0;
        let cut_off = self.sent.range(..range.start).next_back();
        for (&start, (end, what)) in cut_off.into_iter().chain(self.sent.range(range.clone())) {
            let (from, to) = (start.max(range.start), (*end).min(range.end));
            if from < to {
                known += to - from;
                let begins = start >= range.start;
                messages.push(Message { what, begins });
            }
        }
        Receipt {
            messages,
            unknown_bytes: range.end - range.start - known,
        }
    }

    /// All bytes before `offset` were received, so their messages are no longer needed.
    pub fn forget_before(&mut self, offset: u64) {
        while let Some(first) = self.sent.first_entry()
            && first.get().0 <= offset
        {
            first.remove();
        }
    }

    /// The number of remembered messages.
    pub fn len(&self) -> usize {
        self.sent.len()
    }

    /// Whether no message is remembered.
    pub fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Overlap { sent, before } = self;
        write!(
            f,
            "the bytes {} to {} of a stream were sent, but {} to {} had been before",
            sent.start, sent.end, before.start, before.end
        )
    }
}

impl std::error::Error for Overlap {}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a` is at 10 to 20, `b` at 20 to 25, `c` at 30 to 40.
    fn check(range: Range<u64>, expect: &[(char, bool)], unknown: u64) {
        let mut stream = ByteStream::with_limit(10);
        for (sent, what) in [(30..40, 'c'), (10..20, 'a'), (20..25, 'b'), (50..50, 'd')] {
            stream.sent(sent, what).unwrap();
        }
        let receipt = stream.received(range.clone());
        let messages = receipt.messages.iter();
        let found: Vec<_> = messages.map(|it| (*it.what, it.begins)).collect();
        assert_eq!(
            (found.as_slice(), receipt.unknown_bytes),
            (expect, unknown),
            "{range:?}"
        );
    }

    #[test]
    fn a_read_has_the_messages_that_it_has_bytes_of() {
        check(10..20, &[('a', true)], 0);
        check(10..11, &[('a', true)], 0);
        check(19..21, &[('a', false), ('b', true)], 0);
        check(20..20, &[], 0);
        check(0..10, &[], 10);
        check(24..31, &[('b', false), ('c', true)], 5);
        check(0..100, &[('a', true), ('b', true), ('c', true)], 100 - 25);
        check(45..60, &[], 15);
        #[expect(clippy::reversed_empty_ranges, reason = "as damaged records have")]
        check(30..20, &[], 0);
    }

    #[test]
    fn bytes_are_sent_once() {
        let mut stream = ByteStream::with_limit(10);
        stream.sent(10..20, ()).unwrap();
        for (range, fits) in [
            (0..10, true),
            (20..21, true),
            (19..30, false),
            (12..13, false),
            (5..40, false),
        ] {
            let expect = match fits {
                true => Ok(()),
                false => Err(Overlap {
                    sent: range.clone(),
                    before: 10..20,
                }),
            };
            assert_eq!(stream.clone().sent(range, ()), expect);
        }
    }

    #[test]
    fn what_was_received_can_be_forgotten_and_the_limit_forgets_the_oldest() {
        let mut stream = ByteStream::with_limit(3);
        for n in 0..5 {
            stream.sent(n * 10..n * 10 + 10, n).unwrap();
        }
        assert_eq!(stream.len(), 3);
        assert_eq!(stream.received(0..50).unknown_bytes, 20);
        stream.forget_before(39);
        assert_eq!(stream.received(30..31).messages.len(), 1);
        stream.forget_before(40);
        assert_eq!(stream.received(30..31).messages.len(), 0);
        stream.forget_before(50);
        assert!(stream.is_empty());
    }
}
