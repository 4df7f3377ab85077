//! The engine's end of the control block (`fulcrum-wire`): the session, its heartbeat, and each process's answer.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::{JoinHandle, Thread};
use std::time::Duration;

use fulcrum_runtime_core::draw::{Levels, Treatment};
use fulcrum_wire::{
    ControlBlock, FULL_SPEEDUP, MAX_LEVELS, NONE, PROCESS_MAGIC, Process, SESSION_MAGIC, VERSION,
    part, sampler,
};
use memmap2::MmapRaw;

use crate::program::clock::monotonic_ns;
use crate::program::shared_file;
use crate::{Options, Sampler, TargetChoice};

/// The CPU time between two samples of a thread. COZ §3.1 takes 1 ms; where an interrupt costs 30 µs, as in virtual machines,
/// that would cost more than 3 % of a program's time. With 2 ms, a pause would be longer than the steps of programs whose
/// threads meet every 2 ms: `samples/barrier` was 12 percentage points off.
const PERIOD_NS: u64 = 1_500_000;
/// Samples for each signal. COZ takes ten; with one, a pause follows the sample that caused it within a millisecond, which
/// matters when an experiment sees few visits.
const BATCH: u32 = 1;
/// The shortest experiment.
const EXPERIMENT_NS: u64 = 300_000_000;
/// The effect right after a speedup begins is not the lasting one: a faster stage first works off its queue.
const WARMUP_NS: u64 = 100_000_000;
/// The pause between experiments: the time of ten samples (COZ §3.2).
const COOLOFF_NS: u64 = 10_000_000;
/// The most of a program's time that an experiment of the first length may cost, in seconds.
pub(crate) const MOST_EXPERIMENT_S: f64 = (WARMUP_NS + EXPERIMENT_NS) as f64 / 1e9;
/// The visits that an experiment should see (COZ §3.2).
const MIN_VISITS: u32 = 5;
/// The speedups to draw from, in ten-thousandths. Four levels and a fit find a slope sooner than twenty 5 % steps.
const LEVELS: [u32; 4] = [2500, 5000, 7500, 10_000];

/// Switches all but one part of the runtime off, `hooks` or `sampling`, so that the cost of each can be measured.
const PART_VARIABLE: &str = "FULCRUM_ONLY";

fn wake(word: &AtomicU32) {
    // SAFETY: the call wakes waiters on a word that outlives it, and writes nothing.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

/// Unparks `sleeper` whenever a process announces itself, until `stop`. The session sleeps meanwhile: on a machine whose
/// processors are all busy, polling hundreds of times a second would cost the program a few percent.
fn wake_at_announcements(hellos: &AtomicU32, stop: &AtomicBool, sleeper: &Thread) {
    let mut seen = 0;
    while !stop.load(Ordering::Acquire) {
        // SAFETY: the word outlives the call, which only reads it; without a time limit, the fourth argument is null.
        unsafe {
            let nothing = std::ptr::null::<libc::timespec>();
            libc::syscall(
                libc::SYS_futex,
                hellos.as_ptr(),
                libc::FUTEX_WAIT,
                seen,
                nothing,
            )
        };
        seen = hellos.load(Ordering::Acquire);
        sleeper.unpark();
    }
}

/// Unparks the calling thread when the child process `pid` ends, without reaping it.
pub(crate) fn unpark_at_end(pid: u32) -> io::Result<()> {
    let sleeper = std::thread::current();
    let watch = move || {
        // SAFETY: a zeroed siginfo_t is valid, and the call writes to nothing else. For a child that is gone it fails at once.
        unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let flags = libc::WEXITED | libc::WNOWAIT;
            while libc::waitid(libc::P_PID, pid, &raw mut info, flags) < 0
                && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
            {}
        }
        sleeper.unpark();
    };
    std::thread::Builder::new()
        .name("end".into())
        .spawn(watch)?;
    Ok(())
}

/// `session.ctl`, kept alive by a heartbeat.
pub(crate) struct Control {
    block: Arc<SessionBlock>,
    stop: Arc<AtomicBool>,
    heartbeat: Option<JoinHandle<()>>,
    announcements: Option<JoinHandle<()>>,
}

/// The only speedup to test, in ten-thousandths.
fn fixed_speedup(options: &Options) -> Option<u32> {
    let speedup = options.fixed_speedup?.clamp(0.0, 1.0);
    Some((speedup * f64::from(FULL_SPEEDUP)).round() as u32)
}

/// The treatments that whole runs of a program draw from. As within a program, blocked calls have no placebos.
pub(crate) fn levels(options: &Options) -> Levels {
    let fixed = fixed_speedup(options).unwrap_or(NONE);
    let levels = Levels::new(&LEVELS, fixed);
    if options.no_placebo || options.aim.target == TargetChoice::Blocked {
        levels.without_placebos()
    } else {
        levels
    }
}

/// The bits that stand for these speedups, 0 to 1, among those that experiments draw from.
pub(crate) fn levels_of(speedups: &[f64]) -> u32 {
    let wanted = |level: &u32| {
        let level = f64::from(*level) / f64::from(FULL_SPEEDUP);
        speedups.iter().any(|it| (it - level).abs() < 1e-6)
    };
    let bits = LEVELS.iter().enumerate();
    let bits = bits.filter(|(_, level)| wanted(level));
    bits.map(|(index, _)| 1 << index).sum()
}

/// The block as the session begins.
fn control_block(options: &Options) -> ControlBlock {
    let fixed = fixed_speedup(options);
    // The record names the levels drawn from, so that no line needs more points than it can have.
    let drawn = match fixed {
        Some(fixed) if fixed > 0 => vec![fixed],
        _ => LEVELS.to_vec(),
    };
    let mut levels = [0; MAX_LEVELS];
    levels[..drawn.len()].copy_from_slice(&drawn);
    let seed = monotonic_ns() as u32;
    ControlBlock {
        magic: SESSION_MAGIC,
        version: VERSION,
        command: AtomicU32::new(fulcrum_wire::command::RUN),
        heartbeat_ns: AtomicU64::new(monotonic_ns()),
        hellos: AtomicU32::new(0),
        // The signal that profilers use; programs that use it too still get theirs.
        signal: libc::SIGPROF,
        period_ns: PERIOD_NS,
        batch: BATCH,
        sampler: match options.sampler {
            Sampler::Auto => sampler::AUTO,
            Sampler::Perf => sampler::PERF,
            Sampler::Timer => sampler::TIMER,
        },
        experiment_ns: EXPERIMENT_NS,
        cooloff_ns: COOLOFF_NS,
        min_visits: MIN_VISITS,
        level_count: drawn.len() as u32,
        levels,
        fixed_speedup: AtomicU32::new(fixed.unwrap_or(NONE)),
        seed,
        max_overhead: options.max_overhead.map_or(NONE, |share| {
            (share * f64::from(FULL_SPEEDUP)).round() as u32
        }),
        part: match std::env::var(PART_VARIABLE).as_deref() {
            Ok("hooks") => part::HOOKS,
            Ok("sampling") => part::SAMPLING,
            _ => part::ALL,
        },
        end_to_end: u32::from(options.end_to_end.is_some()),
        placebo: u32::from(!options.no_placebo),
        warmup_ns: WARMUP_NS,
    }
}

/// The mapped control block.
struct SessionBlock(MmapRaw);

impl SessionBlock {
    fn get(&self) -> &ControlBlock {
        // SAFETY: `Control::create` maps exactly one ControlBlock, page-aligned, and fills it before it makes this. Fields that
        // change afterwards are atomics.
        unsafe { &*self.0.as_ptr().cast::<ControlBlock>() }
    }
}

impl Control {
    /// Creates the file and starts the heartbeat.
    pub(crate) fn create(path: &Path, options: &Options) -> io::Result<Control> {
        let mut block = shared_file::create(path, size_of::<ControlBlock>())?;
        // SAFETY: the mapping is page-aligned and exactly as long as the block.
        unsafe {
            block
                .as_mut_ptr()
                .cast::<ControlBlock>()
                .write(control_block(options))
        };
        // If anything fails from here on, dropping it ends the threads that have started.
        let mut control = Control {
            block: Arc::new(SessionBlock(block.into())),
            stop: Arc::new(AtomicBool::new(false)),
            heartbeat: None,
            announcements: None,
        };
        control.announcements = Some(control.spawn("announcements", {
            let sleeper = std::thread::current();
            move |session, stop| wake_at_announcements(&session.hellos, stop, &sleeper)
        })?);
        control.heartbeat = Some(control.spawn("heartbeat", |session, stop| {
            while !stop.load(Ordering::Relaxed) {
                session
                    .heartbeat_ns
                    .store(monotonic_ns(), Ordering::Release);
                std::thread::park_timeout(Duration::from_millis(100));
            }
        })?);
        Ok(control)
    }

    /// Starts a thread that works on the session until it is told to stop.
    fn spawn(
        &self,
        name: &str,
        work: impl FnOnce(&ControlBlock, &AtomicBool) + Send + 'static,
    ) -> io::Result<JoinHandle<()>> {
        let (block, stop) = (self.block.clone(), self.stop.clone());
        std::thread::Builder::new()
            .name(name.into())
            .spawn(move || work(block.get(), &stop))
    }

    /// Sets what the only experiment of the next process does (end-to-end mode).
    pub(crate) fn set_treatment(&self, treatment: Treatment) {
        let word = &self.block.get().fixed_speedup;
        word.store(treatment.to_word(), Ordering::Release);
    }

    /// How many processes have announced themselves so far.
    pub(crate) fn hellos(&self) -> u32 {
        self.block.get().hellos.load(Ordering::Acquire)
    }

    /// Gives every process a command, one of `fulcrum_wire::command`.
    pub(crate) fn command(&self, command: u32) {
        let word = &self.block.get().command;
        if word.swap(command, Ordering::AcqRel) != command {
            wake(word);
        }
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(heartbeat) = self.heartbeat.take() {
            heartbeat.thread().unpark();
            let _ = heartbeat.join();
        }
        if let Some(announcements) = self.announcements.take() {
            let hellos = &self.block.get().hellos;
            hellos.fetch_add(1, Ordering::AcqRel);
            wake(hellos);
            let _ = announcements.join();
        }
    }
}

/// A process's `.proc` file.
pub(crate) struct ProcessBlock(MmapRaw);

impl ProcessBlock {
    /// Maps the file. `None` while it is incomplete, and for a file of another version.
    pub(crate) fn open(path: &Path) -> io::Result<Option<ProcessBlock>> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        if (file.metadata()?.len() as usize) < size_of::<Process>() {
            return Ok(None);
        }
        let block = ProcessBlock(shared_file::open(&file)?);
        let sound = block.get().magic == PROCESS_MAGIC && block.get().version == VERSION;
        Ok(sound.then_some(block))
    }

    /// The block.
    pub(crate) fn get(&self) -> &Process {
        // SAFETY: the mapping is page-aligned, and `open` has checked its length. The process writes the plain fields before
        // the magic number, which `open` has checked too; fields that change later are atomics.
        unsafe { &*self.0.as_ptr().cast::<Process>() }
    }

    /// Answers a waiting process with one of `fulcrum_wire::state`.
    pub(crate) fn answer(&self, state: u32) {
        self.get().state.store(state, Ordering::Release);
        wake(&self.get().state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speedups_have_bits() {
        assert_eq!(levels_of(&fulcrum_causal::SPEEDUPS), 0b1010);
        assert_eq!(levels_of(&[]), 0);
    }

    #[test]
    fn a_session_beats_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let control = Control::create(&folder.path().join("s"), &Options::default()).unwrap();
        let block = control.block.clone();
        let first = block.get().heartbeat_ns.load(Ordering::Acquire);
        let renewed = (0..200).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            block.get().heartbeat_ns.load(Ordering::Acquire) > first
        });
        assert!(renewed);
        drop(control);
        let last = block.get().heartbeat_ns.load(Ordering::Acquire);
        std::thread::sleep(Duration::from_millis(250));
        assert_eq!(block.get().heartbeat_ns.load(Ordering::Acquire), last);
    }
}
