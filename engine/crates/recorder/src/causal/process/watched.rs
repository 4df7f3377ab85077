//! A watched process: its announcement, our answers, and its end.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use fulcrum_model::TargetId;
use fulcrum_wire::causal::{CALL, END, HOLDER, SAMPLES, TYPE, kind};
use fulcrum_wire::{flag, mode, state};
use serde_json::{Value, json};

use super::super::control::ProcessBlock;
use super::super::section;
use super::breakpoints::{self, Points, Unplaced};
use super::map::{MapFile, Plan};
use super::plan::{self, NoPlan, Tables};
use super::run_queue::RunQueue;
use crate::program::clock::monotonic_ns;
use crate::program::proc::{self, Memory};
use crate::program::unwind;
use crate::{Aim, Options, Sampler};

/// How a process is answered.
pub(crate) enum Answer {
    /// It is profiled.
    Profiled,
    /// It has nothing to profile.
    Dormant(NoPlan),
    /// It is the given program, and lacks a target or progress point that was requested by name. It is left waiting, and
    /// killed before it begins. The sentence says what is missing.
    Refused(String),
}

/// What the processes of one run share.
pub(crate) struct Shared<'a> {
    /// The run folder.
    pub folder: &'a Path,
    /// What may be sped up now.
    pub aim: Aim,
    /// The only target that may be selected.
    pub fixed: Option<String>,
    /// The debug information read so far.
    pub tables: Tables,
    /// The unwind tables made so far.
    pub unwind: unwind::Cache,
    /// The process that must have every target and progress point that was requested by name. `None` when the given program
    /// starts others, one of which may have them.
    pub must_have_all: Option<u32>,
    /// The options of the run.
    pub options: &'a Options,
}

impl Shared<'_> {
    fn plan(&mut self, memory: &Memory) -> Result<Plan, NoPlan> {
        let plan = plan::plan(&mut self.tables, memory, &self.aim, self.fixed.as_deref());
        match &self.options.section {
            Some(section) => section::limit(plan, memory, section),
            None => plan,
        }
    }

    /// Whether this is the given program itself, and not one that it has become by `exec`.
    fn is_given_program(&self, process: &Watched) -> bool {
        self.must_have_all == Some(process.pid()) && process.block.get().turn == 0
    }
}

/// A process of the session.
pub(crate) struct Watched {
    /// `<pid>-<turn>`.
    stem: String,
    folder: PathBuf,
    /// The process's side of the shared memory.
    pub block: Arc<ProcessBlock>,
    /// Our answer.
    pub answer: Answer,
    /// The file that it executes; empty when unknown.
    pub program: PathBuf,
    /// By generation.
    maps: BTreeMap<u32, Arc<MapFile>>,
    modules: Vec<PathBuf>,
    unwinds: u32,
    queue: RunQueue,
    notes: Vec<String>,
    points: Option<Points>,
    /// The requested lines that this process lacks.
    unplaced: Vec<Unplaced>,
}

impl Watched {
    /// Reads the debug information of a new process and answers it. A forked child continues with the map of one of `others`.
    pub(crate) fn answer(
        stem: &str,
        block: ProcessBlock,
        shared: &mut Shared<'_>,
        others: &[Watched],
    ) -> Watched {
        let mut process = Watched {
            stem: stem.into(),
            folder: shared.folder.into(),
            block: Arc::new(block),
            answer: Answer::Profiled,
            program: PathBuf::new(),
            maps: BTreeMap::new(),
            modules: Vec::new(),
            unwinds: 0,
            queue: RunQueue::default(),
            notes: Vec::new(),
            points: None,
            unplaced: Vec::new(),
        };
        let announced = process.block.get();
        if announced.state.load(Ordering::Acquire) != state::HELLO {
            let owner = others.iter().find(|it| {
                let other = it.block.get();
                (other.pid, other.turn) == (announced.map_pid, announced.map_turn)
            });
            process.program = owner.map(|it| it.program.clone()).unwrap_or_default();
            let map = owner.and_then(|it| it.maps.get(&announced.first_generation));
            if let Some(map) = map {
                process
                    .maps
                    .insert(announced.first_generation, Arc::clone(map));
            }
            return process;
        }
        match process.first_answer(shared) {
            Ok(()) => process.block.answer(state::READY),
            Err(NoPlan::Missing(why)) if shared.is_given_program(&process) => {
                process.answer = Answer::Refused(why);
            }
            Err(why) => {
                process.answer = Answer::Dormant(why);
                process.block.answer(state::DORMANT);
            }
        }
        process
    }

    fn first_answer(&mut self, shared: &mut Shared<'_>) -> Result<(), NoPlan> {
        let memory = Memory::of(self.pid()).map_err(NoPlan::Nothing)?;
        self.program = memory.main().to_path_buf();
        let plan = shared.plan(&memory)?;
        self.write(0, &plan).map_err(NoPlan::Nothing)?;
        self.count_visits(&memory, shared.options)
            .map_err(NoPlan::Nothing)?;
        if let Some(Unplaced { line, why }) = self.unplaced.first()
            && shared.is_given_program(self)
        {
            return Err(NoPlan::Missing(format!("--progress {line}: {why}.")));
        }
        let unwind_thread = self.make_unwind_table(memory, &shared.unwind);
        // Samples need callers for targets of all kinds but these.
        if !matches!(plan.mode, mode::LINE | mode::FUNCTION)
            && let Some(thread) = unwind_thread
        {
            let _ = thread.join();
        }
        Ok(())
    }

    fn count_visits(&mut self, memory: &Memory, options: &Options) -> Result<(), String> {
        let path = self.folder.join(format!("{}.points", self.stem));
        let (points, unplaced) = breakpoints::prepare(&path, memory, options).map_err(|error| {
            let pid = self.pid();
            format!("The progress points of process {pid} could not be written: {error}.")
        })?;
        (self.points, self.unplaced) = (points, unplaced);
        Ok(())
    }

    fn write(&mut self, generation: u32, plan: &Plan) -> Result<(), String> {
        let path = self.folder.join(format!("{}.{generation}.map", self.stem));
        let map = MapFile::create(&path, plan).map_err(|error| {
            let pid = self.pid();
            format!("The answer to process {pid} could not be written: {error}.")
        })?;
        self.maps.insert(generation, Arc::new(map));
        self.notes.clone_from(&plan.notes);
        Ok(())
    }

    /// Makes the unwind table while the program runs. Until it is ready, the runtime finds callers by frame pointers.
    fn make_unwind_table(
        &mut self,
        memory: Memory,
        cache: &unwind::Cache,
    ) -> Option<JoinHandle<()>> {
        self.modules = memory.code();
        self.unwinds += 1;
        let number = self.unwinds;
        let path = self.folder.join(format!("{}.{number}.unwind", self.stem));
        let (cache, block) = (cache.clone(), Arc::clone(&self.block));
        let work = move || {
            if cache.write(&memory, &path).is_ok() {
                block.get().unwind.fetch_max(number, Ordering::AcqRel);
            }
        };
        // If no thread can be started, frame pointers have to do.
        let thread = std::thread::Builder::new().name("unwind".into());
        thread.spawn(work).ok()
    }

    /// Checks whether a running process has opened libraries, and if so updates its map and unwind table.
    pub(crate) fn update(&mut self, shared: &mut Shared<'_>) -> bool {
        if self.is_dormant() || self.is_finished() {
            return false;
        }
        let Ok(memory) = Memory::of(self.pid()) else {
            return false;
        };
        let code = memory.code();
        if code == self.modules {
            return false;
        }
        // Without a binary scope, only the program itself is in scope, which never changes.
        let aim = &shared.aim.binary_scope;
        if !aim.is_empty() && !self.modules.is_empty() {
            let known = memory.in_scope(aim);
            let within = |modules: &[PathBuf]| -> Vec<&PathBuf> {
                known.iter().filter(|it| modules.contains(it)).collect()
            };
            if within(&code) != within(&self.modules) {
                self.write_next_map(&memory, shared);
            }
        }
        self.make_unwind_table(memory, &shared.unwind);
        true
    }

    /// Gives the process a new map. If that fails, a note says why, and the old map stays in force.
    pub(crate) fn retarget(&mut self, shared: &mut Shared<'_>) {
        if self.is_dormant() || self.is_finished() || !self.is_alive() {
            return;
        }
        match Memory::of(self.pid()) {
            Ok(memory) => self.write_next_map(&memory, shared),
            Err(why) => self.notes.push(why),
        }
    }

    fn write_next_map(&mut self, memory: &Memory, shared: &mut Shared<'_>) {
        let newest = self.maps.keys().next_back().copied();
        let generation = newest.map_or(1, |it| it + 1);
        let written = shared
            .plan(memory)
            .map_err(|why| why.to_string())
            .and_then(|plan| self.write(generation, &plan));
        match written {
            Ok(()) => self
                .block
                .get()
                .generation
                .store(generation, Ordering::Release),
            Err(why) => self.notes.push(why),
        }
    }

    /// Tells the runtime how long its threads have waited in run queues.
    pub(crate) fn update_run_queue(&mut self) {
        if self.is_dormant() || self.is_finished() {
            return;
        }
        if let Some(waited) = self.queue.read(self.pid()) {
            let word = &self.block.get().queued_ns;
            // Zero means that the time is unknown.
            word.store(waited.max(1), Ordering::Relaxed);
        }
    }

    /// Sets how likely samples of these targets are accepted as the choice of what to speed up.
    pub(crate) fn set_weights(&self, weights: &[(TargetId, f64)]) {
        if let Some(map) = self.maps.values().next_back() {
            for (target, weight) in weights {
                map.set_weight(target, *weight);
            }
        }
    }

    /// Makes experiments concentrate on these targets and levels ([`MapFile::concentrate`]).
    pub(crate) fn concentrate(&self, targets: &[TargetId], levels: u32, weight: f64) {
        if let Some(map) = self.maps.values().next_back() {
            map.concentrate(targets, levels, weight);
        }
    }

    /// The numbers of samples in the targets of the newest map, without zeros.
    pub(crate) fn samples(&self) -> Vec<(TargetId, u64)> {
        let Some((generation, map)) = self.maps.last_key_value() else {
            return Vec::new();
        };
        // Before the first sample, the file may not exist.
        let counts = self.counts(*generation).unwrap_or_default();
        let sampled = map.targets().iter().zip(counts);
        let sampled = sampled.filter(|(_, count)| *count > 0);
        sampled
            .map(|(target, count)| (target.clone(), count))
            .collect()
    }

    /// The contents of the file in which the runtime counts the samples in a map's targets.
    fn counts(&self, generation: u32) -> std::io::Result<Vec<u64>> {
        let name = format!("{}.{generation}.counts", self.stem);
        let bytes = fs::read(self.folder.join(name))?;
        let word = |word: &[u8]| u64::from_le_bytes(word.try_into().expect("chunks of eight"));
        Ok(bytes.chunks_exact(8).map(word).collect())
    }

    /// Sets how long experiments on these targets warm up.
    pub(crate) fn set_warmups(&self, warmups: &[(TargetId, Duration)]) {
        if let Some(map) = self.maps.values().next_back() {
            for (target, warmup) in warmups {
                map.set_warmup(target, *warmup);
            }
        }
    }

    fn is_dormant(&self) -> bool {
        !matches!(self.answer, Answer::Profiled)
    }

    /// The requested lines that this process lacks.
    pub(crate) fn unplaced(&self) -> &[Unplaced] {
        &self.unplaced
    }

    /// Whether it is being profiled.
    pub(crate) fn is_recording(&self) -> bool {
        !self.is_finished() && self.is_alive()
    }

    /// Whether it was or is profiled, and is alive.
    pub(crate) fn is_profiled_and_alive(&self) -> bool {
        matches!(self.answer, Answer::Profiled) && self.is_alive()
    }

    /// Why the program must not start.
    pub(crate) fn refusal(&self) -> Option<&str> {
        match &self.answer {
            Answer::Refused(why) => Some(why.trim_end_matches('.')),
            Answer::Profiled | Answer::Dormant(_) => None,
        }
    }

    /// Whether the runtime has written its last record.
    pub(crate) fn is_finished(&self) -> bool {
        self.is_dormant() || self.block.get().state.load(Ordering::Acquire) == state::FINISHED
    }

    /// The process id.
    pub(crate) fn pid(&self) -> u32 {
        self.block.get().pid
    }

    /// Whether it was forked from a process that was profiled already.
    pub(crate) fn is_child(&self) -> bool {
        let process = self.block.get();
        process.map_pid != process.pid
    }

    /// Whether the process still exists (a zombie counts as gone).
    pub(crate) fn is_alive(&self) -> bool {
        proc::is_alive(self.pid())
    }

    /// The file of the records that it makes with a map.
    fn stream(&self, generation: u32) -> PathBuf {
        let name = if generation == self.block.get().first_generation {
            format!("causal-{}.jsonl", self.stem)
        } else {
            format!("causal-{}-{generation}.jsonl", self.stem)
        };
        self.folder.join(name)
    }

    /// Whether it left no records: a process opens a file for them when it makes an experiment, or after half a second.
    pub(crate) fn left_no_records(&self) -> bool {
        let first = self.block.get().first_generation;
        !self.is_alive() && !self.stream(first).exists()
    }

    /// Writes the last records for a process that could not, because it was killed or called `exec`.
    pub(crate) fn complete(&self) -> std::io::Result<()> {
        let process = self.block.get();
        let generation = process.adopted.load(Ordering::Acquire);
        let Some(map) = self.maps.get(&generation).filter(|_| !self.is_finished()) else {
            return Ok(());
        };
        let path = self.stream(generation);
        let Ok(mut stream) = OpenOptions::new().append(true).read(true).open(&path) else {
            return Ok(());
        };
        let counts = self.counts(generation)?;
        // The session polls, so the process has died just now.
        let elapsed = monotonic_ns().saturating_sub(process.epoch_ns.load(Ordering::Relaxed));
        let delay = process
            .global_ns
            .load(Ordering::Relaxed)
            .saturating_sub(process.epoch_delay_ns.load(Ordering::Relaxed));
        let samples = self.last_samples(map, &counts, elapsed, delay);
        let end = json!({
            (TYPE): kind::END,
            (END.time): elapsed,
            (END.delay): delay,
            (END.reason): "killed",
        });
        // A record that the disk had no room for is incomplete: drop it.
        let bytes = fs::read(&path)?;
        let whole = bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        stream.set_len(whole as u64)?;
        stream.write_all(format!("{samples}\n{end}\n").as_bytes())
    }

    /// The record of samples that the runtime would have written, `elapsed` nanoseconds after its beginning and with so much
    /// `delay`.
    fn last_samples(&self, map: &MapFile, counts: &[u64], elapsed: u64, delay: u64) -> Value {
        let process = self.block.get();
        let lines: BTreeMap<_, _> = map.named(counts).filter(|(_, count)| *count > 0).collect();
        let calls = map.calls(counts).map(|(at, function, processor, whole)| {
            json!({
                (CALL.at): at,
                (CALL.function): function,
                (CALL.processor): processor,
                (CALL.whole): whole,
            })
        });
        let holders = map.holders(counts).map(
            |(at, by, count)| json!({ (HOLDER.at): at, (HOLDER.by): by, (HOLDER.count): count }),
        );
        let sees_kernel = process.flags.load(Ordering::Relaxed) & flag::KERNEL_UNSEEN == 0;
        json!({
            (TYPE): kind::SAMPLES,
            (SAMPLES.time): elapsed,
            (SAMPLES.delay): delay,
            (SAMPLES.total): process.samples.load(Ordering::Relaxed),
            (SAMPLES.in_scope): process.in_scope.load(Ordering::Relaxed),
            (SAMPLES.lines): lines,
            (SAMPLES.queued): process.queued_ns.load(Ordering::Relaxed),
            (SAMPLES.kernel): sees_kernel,
            (SAMPLES.calls): calls.collect::<Vec<_>>(),
            (SAMPLES.holders): holders.collect::<Vec<_>>(),
        })
    }

    /// Whether its recording ended because it gave up system calls that Fulcrum needs.
    pub(crate) fn is_sealed(&self) -> bool {
        self.block.get().flags.load(Ordering::Relaxed) & flag::SEALED != 0
    }

    /// Sentences on what weakens the result of this process.
    pub(crate) fn notes(&self, options: &Options) -> Vec<String> {
        let process = self.block.get();
        match &self.answer {
            Answer::Dormant(why) => return vec![why.to_string()],
            Answer::Refused(why) => return vec![why.clone()],
            Answer::Profiled => {}
        }
        let flags = process.flags.load(Ordering::Relaxed);
        let mut notes = self.notes.clone();
        notes.extend(self.points.iter().flat_map(Points::notes));
        if flags & flag::TIMER != 0 && options.sampler == Sampler::Auto {
            notes.push(
                "Perf events are not available here, so samples came from the CPU timer, which is coarser: \
                 intervals are wider. Lower kernel.perf_event_paranoid to 2, or leave the container, for perf."
                    .into(),
            );
        }
        if flags & flag::NOT_SAMPLED != 0 {
            notes.push(
                "Some threads could not be sampled at all, so their lines are missing: allow perf events \
                 (kernel.perf_event_paranoid 2) or raise the limit of pending signals (ulimit -i)."
                    .into(),
            );
        }
        if self.is_sealed() {
            notes.push(format!(
                "{} gave up system calls that Fulcrum needs (seccomp), so the recording of process {} ends there, and \
                 the program ran on without it: for a result, run it with its sandbox switched off.",
                self.program.display(),
                self.pid(),
            ));
        }
        if flags & flag::TOO_MANY_THREADS != 0 {
            notes.push(
                "More than 8192 threads ran at once; those beyond ran without being profiled."
                    .into(),
            );
        }
        if flags & flag::TOO_MANY_POINTS != 0 {
            notes.push(
                "More than 256 progress points were visited; those beyond were not counted.".into(),
            );
        }
        if flags & flag::WRITE_FAILED != 0 {
            let errno = -process.write_error.load(Ordering::Relaxed) as i32;
            notes.push(not_written(errno, &self.folder));
        }
        notes
    }
}

/// Says that records could not be written, and what to do about it.
fn not_written(errno: i32, folder: &Path) -> String {
    let error = std::io::Error::from_raw_os_error(errno);
    let folder = folder.display();
    let what_next = match errno {
        libc::ENOSPC | libc::EDQUOT => format!("free space in {folder} and run again"),
        libc::EFBIG => "raise the limit of file sizes (ulimit -f) and run again".to_owned(),
        libc::EACCES | libc::EPERM | libc::EROFS => format!(
            "the process may not write into {folder}; name a folder that its user may write into with --output"
        ),
        _ => format!("check the folder {folder} and run again"),
    };
    format!("Some records could not be written ({error}): {what_next}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_could_not_be_written_is_reported_with_its_remedy() {
        for (errno, remedy) in [
            (libc::ENOSPC, "free space in /run/it"),
            (libc::EFBIG, "ulimit -f"),
            (libc::EACCES, "may not write into /run/it"),
            (libc::EIO, "check the folder /run/it"),
        ] {
            let note = not_written(errno, Path::new("/run/it"));
            assert!(note.contains(remedy), "{note}");
            assert_eq!(note.contains("free space"), errno == libc::ENOSPC, "{note}");
        }
    }
}
