//! Sorts batches and merges the results on other threads, while the reader reads the next ones. Sums do not depend on their
//! order, so the tree does not depend on which thread is faster.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use super::CallTreeError;
use super::sorted_batch::{Batch, SortedBatch};

/// The most threads, however many processors there are: a reader does not fill batches faster.
const MOST: usize = 8;
/// Batches that may wait for a thread, so that the reader goes on while one merges for long.
const WAITING: usize = 2;

/// Batches on their way to one tree.
#[derive(Debug)]
pub(super) struct Sorting {
    value_types: usize,
    /// More nodes are too many.
    most: u32,
    /// Began with the first batch that came from a reader.
    workers: Option<Workers>,
    /// What this thread sorted itself.
    runs: Runs,
}

#[derive(Debug)]
struct Workers {
    batches: SyncSender<Batch>,
    threads: Vec<JoinHandle<Runs>>,
    /// One of them has more nodes than there may be.
    too_many: Arc<AtomicBool>,
}

/// Sorted runs, each more than twice as long as the next, so that a node is copied a logarithmic number of times.
#[derive(Debug, Default)]
struct Runs(Vec<SortedBatch>);

impl Runs {
    fn push(&mut self, run: SortedBatch) {
        self.0.push(run);
        while let [.., long, short] = &self.0[..]
            && long.len() <= 2 * short.len()
        {
            let merged = long.merge(short);
            self.0.truncate(self.0.len() - 2);
            self.0.push(merged);
        }
    }

    fn longest(&self) -> usize {
        self.0.first().map_or(0, SortedBatch::len)
    }
}

impl Sorting {
    /// Nothing to sort. The tree may have at most so many nodes.
    pub(crate) fn new(value_types: usize, most: u32) -> Self {
        Sorting {
            value_types,
            most,
            workers: None,
            runs: Runs::default(),
        }
    }

    /// Hands a batch to the threads; one that they have no time for is sorted here meanwhile.
    ///
    /// # Errors
    /// [`CallTreeError::TooManyNodes`], perhaps because of the batches before.
    pub(crate) fn begin(&mut self, batch: Batch) -> Result<(), CallTreeError> {
        let (value_types, most) = (self.value_types, self.most);
        let workers = self
            .workers
            .get_or_insert_with(|| Workers::start(value_types, most));
        if workers.too_many.load(Ordering::Relaxed) {
            return Err(self.too_many());
        }
        match workers.batches.try_send(batch) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(batch)) => self.here(&batch),
            // Without a thread nobody receives.
            Err(TrySendError::Disconnected(batch)) if workers.threads.is_empty() => {
                self.here(&batch)
            }
            Err(TrySendError::Disconnected(_)) => {
                self.join();
                Err(self.too_many())
            }
        }
    }

    /// Sorts a batch on this thread: what is small enough for one needs no other.
    ///
    /// # Errors
    /// [`CallTreeError::TooManyNodes`].
    pub(crate) fn here(&mut self, batch: &Batch) -> Result<(), CallTreeError> {
        self.push(SortedBatch::of(batch, self.value_types))
    }

    /// Adds what is sorted.
    ///
    /// # Errors
    /// [`CallTreeError::TooManyNodes`].
    pub(crate) fn push(&mut self, run: SortedBatch) -> Result<(), CallTreeError> {
        self.runs.push(run);
        self.check(self.runs.longest())
    }

    /// Whether a tree may have so many nodes.
    ///
    /// # Errors
    /// [`CallTreeError::TooManyNodes`].
    pub(crate) fn check(&self, nodes: usize) -> Result<(), CallTreeError> {
        match nodes > self.most as usize {
            true => Err(self.too_many()),
            false => Ok(()),
        }
    }

    fn too_many(&self) -> CallTreeError {
        CallTreeError::TooManyNodes { limit: self.most }
    }

    /// Waits for all threads.
    fn join(&mut self) {
        if let Some(Workers {
            batches, threads, ..
        }) = self.workers.take()
        {
            drop(batches);
            for thread in threads {
                let runs = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
                self.runs.0.extend(runs.0);
            }
        }
    }

    /// All batches as one tree.
    ///
    /// # Errors
    /// [`CallTreeError::TooManyNodes`].
    pub(crate) fn finish(mut self) -> Result<SortedBatch, CallTreeError> {
        self.join();
        let mut runs = std::mem::take(&mut self.runs.0);
        // The shortest two first.
        loop {
            runs.sort_by_key(|run| std::cmp::Reverse(run.len()));
            self.check(runs.first().map_or(0, SortedBatch::len))?;
            match (runs.pop(), runs.pop()) {
                (Some(short), Some(long)) => runs.push(long.merge(&short)),
                (Some(only), None) => return Ok(only),
                (None, _) => return Ok(SortedBatch::with_room(0, self.value_types)),
            }
        }
    }
}

impl Workers {
    fn start(value_types: usize, most: u32) -> Self {
        // One processor reads.
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let (batches, waiting) = sync_channel(WAITING);
        let waiting = Arc::new(Mutex::new(waiting));
        let too_many = Arc::new(AtomicBool::new(false));
        let start = |_| {
            let (waiting, too_many) = (Arc::clone(&waiting), Arc::clone(&too_many));
            let work = move || work(&waiting, value_types, most, &too_many);
            thread::Builder::new().spawn(work).ok()
        };
        let threads = (0..(processors - 1).clamp(1, MOST)).map_while(start);
        Workers {
            threads: threads.collect(),
            batches,
            too_many,
        }
    }
}

/// Sorts and merges batches until there are no more, or too many nodes.
fn work(
    waiting: &Mutex<Receiver<Batch>>,
    value_types: usize,
    most: u32,
    too_many: &AtomicBool,
) -> Runs {
    let mut runs = Runs::default();
    let next = || {
        let waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.recv().ok()
    };
    while let Some(batch) = next() {
        let run = SortedBatch::of(&batch, value_types);
        drop(batch);
        runs.push(run);
        if runs.longest() > most as usize {
            too_many.store(true, Ordering::Relaxed);
            break;
        }
    }
    runs
}
