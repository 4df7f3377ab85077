//! One profiled process: its announcement, our answers, and its end.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use fulcrum_model::TargetId;
use fulcrum_wire::{flag, mode, state};
use serde_json::{Value, json};

use crate::breakpoints::{self, Points};
use crate::control::{ProcessBlock, now};
use crate::map::{MapFile, Plan};
use crate::plan::{self, Memory, NoPlan, Tables};
use crate::queue::Queue;
use crate::{Aim, Options, Sampler};
use crate::{section, unwind};

/// Whether a process still exists (a zombie counts as gone).
pub fn is_alive(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // Behind the name, which may contain anything.
    let state = status.rsplit_once(") ").map_or("", |(_, rest)| rest);
    !state.is_empty() && !state.starts_with(['Z', 'X'])
}

/// What a process turned out to be.
pub enum Answer {
    /// It is profiled.
    Profiled,
    /// It has nothing to profile.
    Dormant(NoPlan),
    /// It is the program that was given, and lacks what was asked for by name: it is left waiting, to be ended before it
    /// begins. The sentence says what.
    Refused(String),
}

/// What processes of one run share.
pub struct Shared<'a> {
    /// The run folder.
    pub folder: &'a Path,
    /// What may be sped up now.
    pub aim: Aim,
    /// The only target that may be selected.
    pub fixed: Option<String>,
    /// Debug information read so far.
    pub tables: Tables,
    /// Unwind tables made so far.
    pub unwind: unwind::Cache,
    /// The process that must have every target and progress point that was asked for by name. `None` when the given program
    /// starts others, of which one may have them.
    pub must_have_all: Option<u32>,
    /// What was asked for.
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

    /// Whether this is the given program itself, not one that it has become.
    fn is_given_program(&self, process: &Watched) -> bool {
        self.must_have_all == Some(process.pid()) && process.block.get().turn == 0
    }
}

/// A process of the session.
pub struct Watched {
    /// `<pid>-<turn>`.
    stem: String,
    folder: PathBuf,
    /// What the process tells us.
    pub block: Arc<ProcessBlock>,
    /// How it was answered.
    pub answer: Answer,
    /// The file that it runs; empty when that was not seen.
    pub program: PathBuf,
    // By generation.
    maps: BTreeMap<u32, Arc<MapFile>>,
    modules: Vec<PathBuf>,
    unwinds: u32,
    queue: Queue,
    notes: Vec<String>,
    points: Option<Points>,
    /// The lines to count visits to that are not in this process, each with why.
    unplaced: Vec<(String, String)>,
}

impl Watched {
    /// Reads a new process's debug information and answers it. A forked child goes on with the map of one of `others`.
    pub fn greet(
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
            queue: Queue::default(),
            notes: Vec::new(),
            points: None,
            unplaced: Vec::new(),
        };
        let said = process.block.get();
        if said.state.load(Ordering::Acquire) != state::HELLO {
            let owner = others.iter().find(|it| {
                let other = it.block.get();
                (other.pid, other.turn) == (said.map_pid, said.map_turn)
            });
            process.program = owner.map(|it| it.program.clone()).unwrap_or_default();
            let map = owner.and_then(|it| it.maps.get(&said.first_generation));
            if let Some(map) = map {
                process.maps.insert(said.first_generation, Arc::clone(map));
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
        if let Some((text, why)) = self.unplaced.first()
            && shared.is_given_program(self)
        {
            return Err(NoPlan::Missing(format!("--progress {text}: {why}.")));
        }
        let learning = self.learn_callers(memory, &shared.unwind);
        // A line's own samples need no callers; every sample of the other kinds does.
        if !matches!(plan.mode, mode::LINE | mode::FUNCTION)
            && let Some(learning) = learning
        {
            let _ = learning.join();
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

    /// Makes the unwind table beside the running program; until it is there, callers are found by frame pointers.
    fn learn_callers(&mut self, memory: Memory, cache: &unwind::Cache) -> Option<JoinHandle<()>> {
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
        // Without a thread to spare, frame pointers have to do.
        let thread = std::thread::Builder::new().name("unwind".into());
        thread.spawn(work).ok()
    }

    /// Looks after a running process: whether it has opened libraries.
    pub fn tend(&mut self, shared: &mut Shared<'_>) -> bool {
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
        // Without a binary scope the program itself is in scope, and that does not change.
        let aim = &shared.aim.binary_scope;
        if !aim.is_empty() && !self.modules.is_empty() {
            let known = memory.in_scope(aim);
            let within = |modules: &[PathBuf]| -> Vec<&PathBuf> {
                known.iter().filter(|it| modules.contains(it)).collect()
            };
            if within(&code) != within(&self.modules) {
                self.aim_anew(&memory, shared);
            }
        }
        self.learn_callers(memory, &shared.unwind);
        true
    }

    /// Gives the process a new map; what cannot be done is said, and the old one stays.
    pub fn retarget(&mut self, shared: &mut Shared<'_>) {
        if self.is_dormant() || self.is_finished() || !self.is_alive() {
            return;
        }
        match Memory::of(self.pid()) {
            Ok(memory) => self.aim_anew(&memory, shared),
            Err(why) => self.notes.push(why),
        }
    }

    fn aim_anew(&mut self, memory: &Memory, shared: &mut Shared<'_>) {
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

    /// Tells the runtime how long its threads have stood in run queues.
    pub fn look_at_queue(&mut self) {
        if self.is_dormant() || self.is_finished() {
            return;
        }
        if let Some(waited) = self.queue.look(self.pid()) {
            let word = &self.block.get().queued_ns;
            // Zero says that nobody has looked.
            word.store(waited.max(1), Ordering::Relaxed);
        }
    }

    /// How likely samples of these targets are accepted as the choice of what to speed up.
    pub fn set_weights(&self, weights: &[(TargetId, f64)]) {
        if let Some(map) = self.maps.values().next_back() {
            for (target, weight) in weights {
                map.set_weight(target, *weight);
            }
        }
    }

    /// Has experiments concentrate on these targets and levels ([`MapFile::concentrate`]).
    pub fn concentrate(&self, targets: &[TargetId], levels: u32, weight: f64) {
        if let Some(map) = self.maps.values().next_back() {
            map.concentrate(targets, levels, weight);
        }
    }

    /// Samples of the targets of the newest map, as far as there are any.
    pub fn samples(&self) -> Vec<(TargetId, u64)> {
        let Some((generation, map)) = self.maps.last_key_value() else {
            return Vec::new();
        };
        // Before the first sample there need not be any.
        let counts = self.counts(*generation).unwrap_or_default();
        let sampled = map.targets().iter().zip(counts);
        let sampled = sampled.filter(|(_, count)| *count > 0);
        sampled
            .map(|(target, count)| (target.clone(), count))
            .collect()
    }

    /// The words of the file in which the runtime counts samples of a map's targets.
    fn counts(&self, generation: u32) -> std::io::Result<Vec<u64>> {
        let name = format!("{}.{generation}.counts", self.stem);
        let bytes = fs::read(self.folder.join(name))?;
        let word = |word: &[u8]| u64::from_le_bytes(word.try_into().expect("chunks of eight"));
        Ok(bytes.chunks_exact(8).map(word).collect())
    }

    /// How long experiments on these targets warm up.
    pub fn set_warmups(&self, warmups: &[(TargetId, Duration)]) {
        if let Some(map) = self.maps.values().next_back() {
            for (target, warmup) in warmups {
                map.set_warmup(target, *warmup);
            }
        }
    }

    fn is_dormant(&self) -> bool {
        !matches!(self.answer, Answer::Profiled)
    }

    /// The lines to count visits to that are not in this process, each with why.
    pub fn unplaced(&self) -> &[(String, String)] {
        &self.unplaced
    }

    /// Whether it is profiled and has more to record.
    pub fn goes_on(&self) -> bool {
        !self.is_finished() && self.is_alive()
    }

    /// Whether it is profiled, or was, and has not ended.
    pub fn is_left(&self) -> bool {
        matches!(self.answer, Answer::Profiled) && self.is_alive()
    }

    /// Why the program must not begin.
    pub fn refusal(&self) -> Option<&str> {
        match &self.answer {
            Answer::Refused(why) => Some(why.trim_end_matches('.')),
            Answer::Profiled | Answer::Dormant(_) => None,
        }
    }

    /// Whether the runtime has written its last record.
    pub fn is_finished(&self) -> bool {
        self.is_dormant() || self.block.get().state.load(Ordering::Acquire) == state::FINISHED
    }

    /// The process's id.
    pub fn pid(&self) -> u32 {
        self.block.get().pid
    }

    /// Whether it was forked from a process that was profiled already.
    pub fn is_child(&self) -> bool {
        let process = self.block.get();
        process.map_pid != process.pid
    }

    /// Whether the process still exists (a zombie counts as gone).
    pub fn is_alive(&self) -> bool {
        is_alive(self.pid())
    }

    /// Writes the last records for a process that could not: it was killed, or left by `exec`.
    pub fn complete(&self) -> std::io::Result<()> {
        let process = self.block.get();
        let generation = process.adopted.load(Ordering::Acquire);
        let Some(map) = self.maps.get(&generation).filter(|_| !self.is_finished()) else {
            return Ok(());
        };
        let name = if generation == process.first_generation {
            format!("causal-{}.jsonl", self.stem)
        } else {
            format!("causal-{}-{generation}.jsonl", self.stem)
        };
        let path = self.folder.join(name);
        let Ok(mut stream) = OpenOptions::new().append(true).read(true).open(&path) else {
            return Ok(());
        };
        let counts = self.counts(generation)?;
        // The session looks every 20 ms: now is about when the process died.
        let elapsed = now().saturating_sub(process.epoch_ns.load(Ordering::Relaxed));
        let delay = process
            .global_ns
            .load(Ordering::Relaxed)
            .saturating_sub(process.epoch_delay_ns.load(Ordering::Relaxed));
        let samples = self.last_samples(map, &counts, (elapsed, delay));
        let end = json!({ "type": "end", "time": elapsed, "delay": delay, "reason": "killed" });
        // A record that the disk had no room for is no record.
        let bytes = fs::read(&path)?;
        let whole = bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        stream.set_len(whole as u64)?;
        stream.write_all(format!("{samples}\n{end}\n").as_bytes())
    }

    /// The record of samples that the runtime would have written, so long after its beginning and with so much delay.
    fn last_samples(&self, map: &MapFile, counts: &[u64], (elapsed, delay): (u64, u64)) -> Value {
        let process = self.block.get();
        let lines: BTreeMap<_, _> = map.named(counts).filter(|(_, count)| *count > 0).collect();
        let calls = map.calls(counts).map(|(at, function, processor, whole)| {
            json!({ "at": at, "function": function, "processor": processor, "whole": whole })
        });
        let holders = map
            .holders(counts)
            .map(|(at, by, count)| json!({ "at": at, "by": by, "count": count }));
        let sees_kernel = process.flags.load(Ordering::Relaxed) & flag::KERNEL_UNSEEN == 0;
        json!({
            "type": "samples",
            "time": elapsed,
            "delay": delay,
            "total": process.samples.load(Ordering::Relaxed),
            "in_scope": process.in_scope.load(Ordering::Relaxed),
            "lines": lines,
            "queued": process.queued_ns.load(Ordering::Relaxed),
            "kernel": sees_kernel,
            "calls": calls.collect::<Vec<_>>(),
            "holders": holders.collect::<Vec<_>>(),
        })
    }

    /// Whether its recording ended because it gave up system calls that we need.
    pub fn is_sealed(&self) -> bool {
        self.block.get().flags.load(Ordering::Relaxed) & flag::SEALED != 0
    }

    /// Sentences about what weakens this process's result.
    pub fn notes(&self, options: &Options) -> Vec<String> {
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
                 the program went on alone: for a result, run it with its sandbox switched off.",
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

/// What to do when records could not be written.
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
    fn a_record_that_could_not_be_written_is_told_with_its_own_way_out() {
        for (errno, words) in [
            (libc::ENOSPC, "free space in /run/it"),
            (libc::EFBIG, "ulimit -f"),
            (libc::EACCES, "may not write into /run/it"),
            (libc::EIO, "check the folder /run/it"),
        ] {
            let note = not_written(errno, Path::new("/run/it"));
            assert!(note.contains(words), "{note}");
            assert_eq!(note.contains("free space"), errno == libc::ENOSPC, "{note}");
        }
    }
}
