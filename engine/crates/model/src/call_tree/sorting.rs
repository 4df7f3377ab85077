//! Sorting batches on other threads, beside the reading of the next ones. The runs come back in the batches' order, so that
//! the result does not depend on which thread is faster.

use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use super::sorted_batch::{Batch, SortedBatch};

/// However many processors there are: a reader does not fill batches faster.
const MOST: usize = 8;

/// Batches that are being sorted, the oldest first.
#[derive(Debug)]
pub(super) struct Sorting {
    open: VecDeque<Open>,
    /// More are not sorted at the same time: each takes as much memory as a batch and its run.
    most: usize,
}

#[derive(Debug)]
enum Open {
    Thread(JoinHandle<SortedBatch>),
    /// No thread could be started.
    Done(SortedBatch),
}

impl Sorting {
    /// Nothing to sort.
    pub fn new() -> Self {
        // One processor reads.
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Sorting {
            open: VecDeque::new(),
            most: (processors - 1).clamp(1, MOST),
        }
    }

    /// Begins to sort a batch. When as many are open as should be, waits for the oldest and returns its run.
    pub fn begin(&mut self, batch: Batch, value_types: usize) -> Option<SortedBatch> {
        let full = self.open.len() >= self.most;
        let oldest = full.then(|| self.next()).flatten();
        let batch = Arc::new(batch);
        let theirs = Arc::clone(&batch);
        let thread = thread::Builder::new().spawn(move || SortedBatch::of(&theirs, value_types));
        self.open.push_back(match thread {
            Ok(thread) => Open::Thread(thread),
            Err(_) => Open::Done(SortedBatch::of(&batch, value_types)),
        });
        oldest
    }

    /// The oldest batch's run; waits for it. `None` when no batch is open.
    pub fn next(&mut self) -> Option<SortedBatch> {
        Some(match self.open.pop_front()? {
            Open::Thread(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Open::Done(run) => run,
        })
    }
}
