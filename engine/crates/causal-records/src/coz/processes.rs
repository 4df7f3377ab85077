//! Samples and run time over the processes whose records follow one another in a coz file: `s` and `T` of eq. 8 (COZ §3.4).
//!
//! coz saves the samples not only when the program ends but also during the run, after 32, 96, 224… experiments. Each
//! such block repeats the counts since the start of the process, so a later block of the same process replaces an earlier
//! one. (In the four profiles published with the paper 19,227 of 19,227 repeated counts are at least as large as before;
//! added up, they would count most samples twice.) The `runtime` record of a block saved during the run holds the length
//! of the last experiment, 0.1 s or 0.5 s, not of the run. It shows by being shorter than the experiments before it.
//!
//! So `T` is the sum of the run times of the processes that ended, and `s` the sum of their last counts: eq. 8 needs the
//! ratio of the two, over the same time. A process that was killed has experiments but no run time. Only when no process
//! of the file ended do its experiments' durations stand in for it.

use std::collections::HashMap;

use fulcrum_model::TargetId;

use crate::notes::Note;

/// What [`Processes::finish`] found.
pub(crate) struct Total {
    /// In order of first appearance.
    pub samples: Vec<(TargetId, u64)>,
    /// Zero when the file does not say.
    pub runtime_ns: u64,
    /// Whole sentences.
    pub notes: Vec<String>,
}

#[derive(Default)]
pub(crate) struct Processes {
    done: Vec<Process>,
    now: Process,
}

#[derive(Default)]
struct Process {
    started: Option<u64>,
    stopped: Option<u64>,
    shutdown: bool,
    /// Effective durations since the start of the process.
    experiments_ns: u64,
    /// Effective durations since the last block of samples.
    since_block_ns: u64,
    /// `runtime` of a block that was saved during the run.
    saved: bool,
    /// Effective durations before the last block of samples.
    before_block_ns: u64,
    /// `runtime` of the block at the end.
    runtime_ns: Option<u64>,
    order: Vec<TargetId>,
    samples: HashMap<TargetId, u64>,
}

impl Processes {
    pub(crate) fn startup(&mut self, time: Option<u64>) {
        self.next();
        self.now.started = time;
    }

    pub(crate) fn shutdown(&mut self, time: Option<u64>) {
        self.now.stopped = time;
        self.now.shutdown = true;
    }

    pub(crate) fn experiment(&mut self, duration_ns: i64) {
        if self.now.runtime_ns.is_some() {
            // Files without `startup` records: the next run was appended.
            self.next();
        }
        let duration = duration_ns.max(0).cast_unsigned();
        self.now.experiments_ns = self.now.experiments_ns.saturating_add(duration);
        self.now.since_block_ns = self.now.since_block_ns.saturating_add(duration);
    }

    pub(crate) fn runtime(&mut self, time: u64) {
        if self.now.runtime_ns.is_some() {
            self.next();
        }
        let now = &mut self.now;
        if now.shutdown || time >= now.since_block_ns {
            now.runtime_ns = Some(time);
        } else {
            now.saved = true;
        }
        now.before_block_ns = now.experiments_ns;
        now.since_block_ns = 0;
    }

    pub(crate) fn samples(&mut self, at: TargetId, count: u64) {
        let now = &mut self.now;
        match now.samples.get_mut(&at) {
            Some(known) => *known = count,
            None => {
                now.order.push(at.clone());
                now.samples.insert(at, count);
            }
        }
    }

    fn next(&mut self) {
        self.done.push(std::mem::take(&mut self.now));
    }

    pub(crate) fn finish(mut self) -> Total {
        self.next();
        for process in &mut self.done {
            if process.runtime_ns.is_none() && !process.samples.is_empty() {
                let times = process.stopped.zip(process.started);
                process.runtime_ns = times
                    .and_then(|(end, start)| end.checked_sub(start))
                    .filter(|&t| t > 0);
            }
        }
        let ended = self.done.iter().filter(|p| p.runtime_ns.is_some()).count();
        let killed = self
            .done
            .iter()
            .filter(|p| p.runtime_ns.is_none() && p.experiments_ns > 0)
            .count();
        let saved = self.done.iter().filter(|p| p.saved).count();
        let mut total = Total {
            samples: Vec::new(),
            runtime_ns: 0,
            notes: Vec::new(),
        };
        let mut index = HashMap::new();
        for process in self.done {
            let runtime = match process.runtime_ns {
                Some(time) => time,
                None if ended == 0 && process.saved => process.before_block_ns,
                // Samples without any run time are kept when no process of the file has one.
                None if ended == 0 => 0,
                None => continue,
            };
            total.runtime_ns = total.runtime_ns.saturating_add(runtime);
            for at in process.order {
                let count = process.samples[&at];
                let slot = *index.entry(at).or_insert_with_key(|at| {
                    total.samples.push((at.clone(), 0));
                    total.samples.len() - 1
                });
                total.samples[slot].1 = total.samples[slot].1.saturating_add(count);
            }
        }
        let mut note = |note: Note<'_>| total.notes.push(note.to_string());
        if saved > 0 {
            note(Note::SavedDuringRun(saved as u64));
        }
        match (ended, killed) {
            (1.., 1..) => note(Note::SomeWithoutRuntime {
                without: killed as u64,
                others: ended,
            }),
            (2.., 0) => note(Note::SeveralRuns(ended)),
            (0, 1..) if total.runtime_ns > 0 => note(Note::NoRuntime),
            _ => {}
        }
        total
    }
}
