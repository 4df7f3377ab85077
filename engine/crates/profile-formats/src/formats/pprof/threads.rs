//! Threads, which are labels of samples.

use crate::decode::fault::Fault;
use crate::decode::wire::{Field, Message};

/// The label with a sample's thread.
pub(super) struct Threads {
    /// The row of the label's key in the string table, when there is one.
    key: Option<u64>,
    /// Whether there is more than one thread.
    pub(super) several: bool,
}

impl Threads {
    /// `key` is the row of the label's key in the string table, when it is there.
    pub(super) fn new(bytes: &[u8], key: Option<u64>) -> Result<Self, Fault> {
        let mut threads = Threads {
            key,
            several: false,
        };
        if threads.key.is_none() {
            return Ok(threads);
        }
        let mut first = None;
        let mut message = Message::new(bytes);
        while let Some((number, field)) = message.field()? {
            let Some(mut sample) = field.message().filter(|_| number == 2) else {
                continue;
            };
            while let Some((number, field)) = sample.field()? {
                if let (3, Field::Bytes(label)) = (number, field)
                    && let Some(thread) = threads.of(label)?
                    && *first.get_or_insert(thread) != thread
                {
                    threads.several = true;
                    return Ok(threads);
                }
            }
        }
        Ok(threads)
    }

    /// The thread that a label names. Returns `None` for other labels.
    pub(super) fn of(&self, label: Message) -> Result<Option<u64>, Fault> {
        let Some(key) = self.key else {
            return Ok(None);
        };
        let [found, text] = label.numbers([1, 2])?;
        Ok((found == key && text != 0).then_some(text))
    }
}
