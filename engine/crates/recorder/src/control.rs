//! The engine's end of the control block (`fulcrum-wire`): the session, its heartbeat, and each process's answer.

use std::fs::{File, OpenOptions};
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
use memmap2::MmapMut;

use crate::{Options, Sampler, TargetChoice, open_folder};

/// CPU time between two samples of a thread. COZ §3.1 has 1 ms; where an interrupt costs 30 µs, as in virtual machines,
/// that is more than 3 % of a program's time. With 2 ms, a pause is longer than the steps of programs that meet every
/// 2 ms: `samples/barrier` was 12 points off.
const PERIOD_NS: u64 = 1_500_000;
/// Samples a signal. COZ takes ten; with one, a pause follows the sample that caused it within a millisecond, which
/// matters when an experiment holds few visits.
const BATCH: u32 = 1;
/// The shortest experiment.
const EXPERIMENT_NS: u64 = 300_000_000;
/// What happens right after a speedup sets in is not what it leads to: a faster stage first lives on what is queued.
const WARMUP_NS: u64 = 100_000_000;
/// Between experiments: ten samples' time (COZ §3.2).
const COOLOFF_NS: u64 = 10_000_000;
/// What an experiment of the first length may take of a program's time, seconds.
pub const MOST_EXPERIMENT_S: f64 = (WARMUP_NS + EXPERIMENT_NS) as f64 / 1e9;
/// Visits that an experiment should see (COZ §3.2).
const MIN_VISITS: u32 = 5;
/// Four levels and a fit find a slope sooner than twenty 5 % steps.
const LEVELS: [u32; 4] = [2500, 5000, 7500, 10_000];

/// Leaves parts of the runtime out, so that what each costs can be measured: `hooks` or `sampling`.
const PART_VARIABLE: &str = "FULCRUM_ONLY";

/// `CLOCK_MONOTONIC`, nanoseconds: the clock that the runtime compares heartbeats with.
pub fn now() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes to `time`.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn wake(word: &AtomicU32) {
    // SAFETY: wakes waiters on a word that outlives the call.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

/// Unparks `sleeper` whenever another process has said hello, until `stop`. The session sleeps meanwhile: on a machine
/// whose processors are all busy, looking around hundreds of times a second costs the program percents.
fn announce(hellos: &AtomicU32, stop: &AtomicBool, sleeper: &Thread) {
    let mut seen = 0;
    while !stop.load(Ordering::Acquire) {
        // SAFETY: the word outlives the call, which returns at once if it is not `seen`.
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

/// Unparks the calling thread when the child process `pid` has ended; leaves the child to be waited for.
pub fn unpark_at_end(pid: u32) -> io::Result<()> {
    let sleeper = std::thread::current();
    let watch = move || {
        // SAFETY: zeroed is a valid siginfo_t, which the call writes to. A child that is gone already is an error at once.
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

pub fn map_new(path: &Path, length: usize) -> io::Result<MmapMut> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .open(path)?;
    open_folder::share(&file)?;
    file.set_len(length as u64)?;
    map(&file)
}

fn map(file: &File) -> io::Result<MmapMut> {
    // SAFETY: the file is in our run folder; only atomics are read from it while the other side writes.
    unsafe { MmapMut::map_mut(file) }
}

/// `session.ctl`, kept alive by a heartbeat.
pub struct Control {
    block: Arc<MmapMut>,
    stop: Arc<AtomicBool>,
    heart: Option<JoinHandle<()>>,
    porter: Option<JoinHandle<()>>,
}

/// The only speedup that is wanted, ten-thousandths.
fn fixed_speedup(options: &Options) -> Option<u32> {
    let speedup = options.fixed_speedup?.clamp(0.0, 1.0);
    Some((speedup * f64::from(FULL_SPEEDUP)).round() as u32)
}

/// What whole runs of a program draw from. Of a blocked call there are no placebos, as within programs.
pub fn levels(options: &Options) -> Levels {
    let fixed = fixed_speedup(options).unwrap_or(NONE);
    let placebo = !options.no_placebo && options.aim.target != TargetChoice::Blocked;
    Levels::new(&LEVELS, fixed, placebo)
}

/// The bits of these speedups, 0 to 1, among those that experiments draw from.
pub fn levels_of(speedups: &[f64]) -> u32 {
    let wanted = |level: &u32| {
        let level = f64::from(*level) / f64::from(FULL_SPEEDUP);
        speedups.iter().any(|it| (it - level).abs() < 1e-6)
    };
    let bits = LEVELS.iter().enumerate();
    let bits = bits.filter(|(_, level)| wanted(level));
    bits.map(|(index, _)| 1 << index).sum()
}

fn session_of(block: &MmapMut) -> &ControlBlock {
    // SAFETY: `Control::create` maps exactly one page-aligned ControlBlock and fills it before anybody reads it.
    unsafe { &*block.as_ptr().cast::<ControlBlock>() }
}

impl Control {
    /// Creates the file and starts the heartbeat.
    pub fn create(path: &Path, options: &Options) -> io::Result<Control> {
        let mut block = map_new(path, size_of::<ControlBlock>())?;
        let fixed = fixed_speedup(options);
        // The record says which levels were drawn from, so that a line needs no more points than there can be.
        let drawn = match fixed {
            Some(fixed) if fixed > 0 => vec![fixed],
            _ => LEVELS.to_vec(),
        };
        let mut levels = [0; MAX_LEVELS];
        levels[..drawn.len()].copy_from_slice(&drawn);
        let seed = now() as u32;
        let session = ControlBlock {
            magic: SESSION_MAGIC,
            version: VERSION,
            command: AtomicU32::new(fulcrum_wire::command::RUN),
            heartbeat_ns: AtomicU64::new(now()),
            hellos: AtomicU32::new(0),
            // SIGPROF is what profilers use; programs that use it too still get theirs.
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
        };
        // SAFETY: the mapping is page-aligned and exactly as long.
        unsafe { block.as_mut_ptr().cast::<ControlBlock>().write(session) };
        // Whatever fails from here on, dropping it ends the threads that there are.
        let mut control = Control {
            block: Arc::new(block),
            stop: Arc::new(AtomicBool::new(false)),
            heart: None,
            porter: None,
        };
        control.porter = Some(control.employ("porter", {
            let sleeper = std::thread::current();
            move |session, stop| announce(&session.hellos, stop, &sleeper)
        })?);
        control.heart = Some(control.employ("heartbeat", |session, stop| {
            while !stop.load(Ordering::Relaxed) {
                session.heartbeat_ns.store(now(), Ordering::Release);
                std::thread::park_timeout(Duration::from_millis(100));
            }
        })?);
        Ok(control)
    }

    /// A thread that works on the session until it is told to stop.
    fn employ(
        &self,
        name: &str,
        work: impl FnOnce(&ControlBlock, &AtomicBool) + Send + 'static,
    ) -> io::Result<JoinHandle<()>> {
        let (block, stop) = (self.block.clone(), self.stop.clone());
        std::thread::Builder::new()
            .name(name.into())
            .spawn(move || work(session_of(&block), &stop))
    }

    /// What the next process's only experiment does (end-to-end mode).
    pub fn set_treatment(&self, treatment: Treatment) {
        session_of(&self.block)
            .fixed_speedup
            .store(treatment.to_word(), Ordering::Release);
    }

    /// Processes that have announced themselves so far.
    pub fn hellos(&self) -> u32 {
        session_of(&self.block).hellos.load(Ordering::Acquire)
    }

    /// Tells every process what to do: one of `fulcrum_wire::command`.
    pub fn command(&self, command: u32) {
        let word = &session_of(&self.block).command;
        if word.swap(command, Ordering::AcqRel) != command {
            wake(word);
        }
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(heart) = self.heart.take() {
            heart.thread().unpark();
            let _ = heart.join();
        }
        if let Some(porter) = self.porter.take() {
            let hellos = &session_of(&self.block).hellos;
            hellos.fetch_add(1, Ordering::AcqRel);
            wake(hellos);
            let _ = porter.join();
        }
    }
}

/// A process's `.proc` file.
pub struct ProcessBlock(MmapMut);

impl ProcessBlock {
    /// `None` while the file is not complete, or for a file that is not of this version.
    pub fn open(path: &Path) -> io::Result<Option<ProcessBlock>> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        if (file.metadata()?.len() as usize) < size_of::<Process>() {
            return Ok(None);
        }
        let block = ProcessBlock(map(&file)?);
        let sound = block.get().magic == PROCESS_MAGIC && block.get().version == VERSION;
        Ok(sound.then_some(block))
    }

    /// The block.
    pub fn get(&self) -> &Process {
        // SAFETY: `open` has checked the length; fields that change are atomics.
        unsafe { &*self.0.as_ptr().cast::<Process>() }
    }

    /// Answers a process that waits: one of `fulcrum_wire::state`.
    pub fn answer(&self, state: u32) {
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
        let first = session_of(&block).heartbeat_ns.load(Ordering::Acquire);
        let renewed = (0..200).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            session_of(&block).heartbeat_ns.load(Ordering::Acquire) > first
        });
        assert!(renewed);
        drop(control);
        let last = session_of(&block).heartbeat_ns.load(Ordering::Acquire);
        std::thread::sleep(Duration::from_millis(250));
        assert_eq!(
            session_of(&block).heartbeat_ns.load(Ordering::Acquire),
            last
        );
    }
}
