//! Samples, decoded block by block. In large files another thread does it, while the frames get their names and stacks are sorted.

use std::mem::{replace, take};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, Scope};

use super::threads::Threads;
use crate::decode::fault::Fault;
use crate::decode::wire::{Field, Message};

/// Numbers of a block, about: handing them over then takes no time beside decoding them.
const BLOCK: usize = 1 << 13;
/// Blocks that may wait.
const WAITING: usize = 4;
/// Bytes of a file that is worth a thread.
const MANY: usize = 1 << 18;

/// Samples that follow one another in the file.
#[derive(Default)]
pub(super) struct Block {
    rows: Vec<Row>,
    /// The locations of the first sample, then of the next one, and so on.
    locations: Vec<u64>,
    values: Vec<u64>,
    /// Where the file has been read to.
    pub(super) end: usize,
    /// Whether some samples have labels that are not read.
    pub(super) labels: bool,
    /// What is wrong after the last sample.
    pub(super) fault: Option<Fault>,
}

/// A sample, whose numbers begin where those of the one before end.
struct Row {
    at: usize,
    locations_end: usize,
    values_end: usize,
    thread: Option<u64>,
}

/// A sample, by ids.
pub(super) struct Sample<'b> {
    /// Its place in the file.
    pub(super) at: usize,
    /// The ids of its locations, innermost first.
    pub(super) locations: &'b [u64],
    pub(super) values: &'b [u64],
    /// The row of its thread's name in the string table, when there are several threads.
    pub(super) thread: Option<u64>,
}

impl Block {
    pub(super) fn samples(&self) -> impl Iterator<Item = Sample<'_>> {
        let (mut located, mut valued) = (0, 0);
        self.rows.iter().map(move |row| Sample {
            at: row.at,
            locations: &self.locations[replace(&mut located, row.locations_end)..row.locations_end],
            values: &self.values[replace(&mut valued, row.values_end)..row.values_end],
            thread: row.thread,
        })
    }

    fn is_full(&self) -> bool {
        self.locations.len() + self.values.len() >= BLOCK
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.locations.clear();
        self.values.clear();
        (self.labels, self.fault) = (false, None);
    }
}

/// All samples of a file, block by block.
pub(super) enum Samples<'a> {
    Here(Decoder<'a>, Block),
    Elsewhere {
        blocks: Receiver<Block>,
        /// Takes blocks back, so that their memory is used again.
        used: Sender<Block>,
    },
}

impl<'a> Samples<'a> {
    /// The samples of a profile. Ends when nobody asks for more.
    pub(super) fn of<'s>(
        bytes: &'a [u8],
        threads: &'a Threads,
        scope: &'s Scope<'s, 'a>,
    ) -> Samples<'a> {
        if bytes.len() >= MANY {
            let (sender, blocks) = sync_channel(WAITING);
            let (used, again) = channel();
            let mut there = Decoder::new(bytes, threads);
            let decode = move || there.send_all(&sender, &again);
            if Builder::new().spawn_scoped(scope, decode).is_ok() {
                return Samples::Elsewhere { blocks, used };
            }
        }
        Samples::Here(Decoder::new(bytes, threads), Block::default())
    }

    /// The next block. `None` after the last one.
    pub(super) fn next(&mut self) -> Option<Block> {
        match self {
            Samples::Here(decoder, spare) => decoder.next(take(spare)),
            Samples::Elsewhere { blocks, .. } => blocks.recv().ok(),
        }
    }

    /// Gives a block back.
    pub(super) fn done_with(&mut self, block: Block) {
        match self {
            Samples::Here(_, spare) => *spare = block,
            // An error means that the decoder is done, and needs none.
            Samples::Elsewhere { used, .. } => drop(used.send(block)),
        }
    }
}

/// Decodes samples.
pub(super) struct Decoder<'a> {
    message: Message<'a>,
    threads: &'a Threads,
    ended: bool,
}

impl<'a> Decoder<'a> {
    fn new(bytes: &'a [u8], threads: &'a Threads) -> Self {
        Decoder {
            message: Message::new(bytes),
            threads,
            ended: false,
        }
    }

    fn send_all(&mut self, blocks: &SyncSender<Block>, again: &Receiver<Block>) {
        while let Some(block) = self.next(again.try_recv().unwrap_or_default()) {
            if blocks.send(block).is_err() {
                return;
            }
        }
    }

    /// The next samples, in a block that was used before or is new.
    fn next(&mut self, mut block: Block) -> Option<Block> {
        if self.ended {
            return None;
        }
        block.clear();
        block.fault = self.fill(&mut block).err();
        self.ended |= block.fault.is_some();
        block.end = self.message.at();
        Some(block)
    }

    fn fill(&mut self, block: &mut Block) -> Result<(), Fault> {
        // Also many other fields end a block, so that whoever waits for it can be told to stop.
        for _ in 0..BLOCK {
            if block.is_full() {
                break;
            }
            let at = self.message.at();
            let Some((number, field)) = self.message.field()? else {
                self.ended = true;
                return Ok(());
            };
            let Some(sample) = field.message().filter(|_| number == 2) else {
                continue;
            };
            self.sample(sample, at, block)?;
        }
        Ok(())
    }

    fn sample(&self, mut sample: Message, at: usize, block: &mut Block) -> Result<(), Fault> {
        let mut thread = None;
        while let Some((number, field)) = sample.field()? {
            match (number, field) {
                (1, field) => field.numbers(&mut block.locations)?,
                (2, field) => field.numbers(&mut block.values)?,
                (3, Field::Bytes(label)) => match self.threads.of(label)? {
                    Some(of) if self.threads.several => thread = Some(of),
                    Some(_) => {}
                    None => block.labels = true,
                },
                _ => {}
            }
        }
        block.rows.push(Row {
            at,
            locations_end: block.locations.len(),
            values_end: block.values.len(),
            thread,
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Places, locations and values of all samples, and what is wrong behind the last.
    type All = (Vec<(usize, Vec<u64>, Vec<u64>)>, Option<Fault>);

    fn all(mut samples: Samples) -> All {
        let (mut all, mut fault) = (Vec::new(), None);
        while let Some(mut block) = samples.next() {
            let each = block.samples();
            all.extend(each.map(|it| (it.at, it.locations.to_vec(), it.values.to_vec())));
            fault = fault.or(block.fault.take());
            samples.done_with(block);
        }
        (all, fault)
    }

    #[test]
    fn another_thread_finds_the_same_samples() {
        let mut whole = Vec::new();
        for n in 0..MANY / 8 {
            let (low, high) = (n as u8 & 0x7f, (n >> 7) as u8 & 0x7f);
            let text = [0x32, 2, b'a', b'b'];
            // Two locations of two bytes, one value.
            let sample = [0x12, 9, 0x0a, 4, low | 0x80, high, 0x80, 1, 0x12, 1, low];
            whole.extend(text);
            whole.extend(sample);
        }
        let mut damaged = whole.clone();
        let at = damaged.len() / 15 * 10 + 5;
        // A sample that claims more than is left.
        damaged.truncate(at);
        let threads = Threads::new(&whole, None).expect("it is whole");
        for (bytes, count) in [(&whole, MANY / 8), (&damaged, at / 15)] {
            let here = all(Samples::Here(
                Decoder::new(bytes, &threads),
                Block::default(),
            ));
            let there = thread::scope(|scope| {
                let samples = Samples::of(bytes, &threads, scope);
                assert!(matches!(samples, Samples::Elsewhere { .. }));
                all(samples)
            });
            assert_eq!(here.0.len(), count);
            assert_eq!(here.1.is_some(), bytes.len() < whole.len());
            assert!(here == there);
        }
    }

    #[test]
    fn who_asks_no_more_need_not_take_all() {
        let bytes = [0x12, 2, 0x08, 1].repeat(MANY);
        let threads = Threads::new(&bytes, None).expect("it is whole");
        thread::scope(|scope| {
            let mut samples = Samples::of(&bytes, &threads, scope);
            assert!(samples.next().is_some());
        });
    }
}
