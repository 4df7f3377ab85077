//! The profiler thread (COZ §3.2): one performance experiment after another.

use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use fulcrum_runtime_core::draw::{Deck, Levels, Random};
use fulcrum_runtime_core::pace::Pace;
use fulcrum_runtime_core::record::{self, Experiment};
use fulcrum_wire::{FULL_SPEEDUP, MAX_LEVELS, NONE, command, state};

use crate::blocked::{Call, Frame};
use crate::machine::Machine;
use crate::points::Snapshot;
use crate::real::real;
use crate::{control, life, output, points, signals, sys, thread};

/// The line under experiment, or `NONE`.
static TARGET: AtomicU32 = AtomicU32::new(NONE);
/// Samples before this time are not of this experiment.
static SINCE: AtomicU64 = AtomicU64::new(0);
/// Ten-thousandths.
static SPEEDUP: AtomicU32 = AtomicU32::new(0);
/// Samples in the target during this experiment.
static HITS: AtomicU64 = AtomicU64::new(0);
/// [`WANTED`], or the line that a sample in scope chose.
static CHOICE: AtomicU32 = AtomicU32::new(NONE);
const WANTED: u32 = NONE - 1;
/// Samples in scope that pass before one chooses. The paper takes the first; after an experiment that ended at a visit
/// that would nearly always be the same thread's.
static PASS: AtomicU32 = AtomicU32::new(0);
/// More than any program has threads that run at once, so that every one of them may be the chooser.
const MOST_PASSED: u64 = 32;
/// 0 runs, 1 the program exits, 2 the last record is written; a futex word.
static EXIT: AtomicU32 = AtomicU32::new(0);
/// The profiler thread.
static ID: AtomicU64 = AtomicU64::new(0);

/// How often counters are read while waiting for a visit.
const POLL_NS: u64 = 250_000;
/// How often commands and the engine's heartbeat are looked at.
const SLICE_NS: u64 = 50_000_000;

/// One sample, or as many as `count`; returns the delay it earns its thread, nanoseconds. Runs in signal handlers.
#[inline]
pub fn on_sample(line: Option<u32>, time: u64, count: u64, weight_ns: u64) -> u64 {
    let Some(line) = line else { return 0 };
    control::process()
        .in_scope
        .fetch_add(count, Ordering::Relaxed);
    if let Some(counter) = control::counts().get(line as usize) {
        counter.fetch_add(count, Ordering::Relaxed);
    }
    if CHOICE.load(Ordering::Acquire) == WANTED {
        choose(line);
    }
    if TARGET.load(Ordering::Acquire) != line || time < SINCE.load(Ordering::Relaxed) {
        return 0;
    }
    HITS.fetch_add(count, Ordering::Relaxed);
    weight_ns * u64::from(SPEEDUP.load(Ordering::Relaxed)) / u64::from(FULL_SPEEDUP)
}

fn choose(line: u32) {
    let fixed = control::fixed_line();
    if fixed != NONE && fixed != line {
        return;
    }
    let pass = PASS.load(Ordering::Relaxed);
    if pass > 0 && fixed == NONE {
        let _ = PASS.compare_exchange(pass, pass - 1, Ordering::Relaxed, Ordering::Relaxed);
    } else {
        let _ = CHOICE.compare_exchange(WANTED, line, Ordering::AcqRel, Ordering::Relaxed);
    }
}

/// Starts the thread, with every signal blocked. `false` when the system refuses.
pub fn spawn() -> bool {
    type Create = unsafe extern "C-unwind" fn(
        *mut libc::pthread_t,
        *const libc::pthread_attr_t,
        thread::Routine,
        *mut c_void,
    ) -> i32;
    let create: Create = real!(pthread_create: fn(
        *mut libc::pthread_t, *const libc::pthread_attr_t, thread::Routine, *mut c_void) -> i32);
    // SAFETY: fresh attributes and signal sets; the mask is restored before returning. The machine goes into memory of
    // its own, which the thread reads.
    unsafe {
        let mut machine: *mut c_void = null_mut();
        if let (Some(opened), Some(room)) =
            (Machine::open(), sys::map_anonymous(size_of::<Machine>()))
        {
            room.cast::<Machine>().write(opened);
            machine = room.cast();
        }
        let mut all: libc::sigset_t = core::mem::zeroed();
        let mut before: libc::sigset_t = core::mem::zeroed();
        libc::sigfillset(&mut all);
        signals::real_mask(libc::SIG_SETMASK, &all, &mut before);
        let mut attributes: libc::pthread_attr_t = core::mem::zeroed();
        libc::pthread_attr_init(&mut attributes);
        libc::pthread_attr_setstacksize(&mut attributes, 256 * 1024);
        let mut id: libc::pthread_t = 0;
        let result = create(&mut id, &attributes, main, machine);
        libc::pthread_attr_destroy(&mut attributes);
        signals::real_mask(libc::SIG_SETMASK, &before, null_mut());
        if result == 0 {
            ID.store(id, Ordering::Release);
        }
        result == 0
    }
}

/// The last thread of the program is ending, and with it the process: main may have left by `pthread_exit` before. Our
/// own thread must be gone by then, or libc would not notice that nobody is left.
pub fn finish_with_last_thread() {
    finish_at_exit();
    let id = ID.swap(0, Ordering::AcqRel);
    if id != 0 {
        // SAFETY: our own thread, which nobody else joins.
        unsafe {
            real!(pthread_join: fn(libc::pthread_t, *mut *mut c_void) -> i32)(id, null_mut());
        }
    }
}

/// Time spent blocked in a call that another speedup could have shortened.
pub fn on_blocked(_call: Call, _from: Frame, _duration_ns: u64) {}

/// The program is exiting: lets the profiler thread write the last records, and waits for them.
pub fn finish_at_exit() {
    if EXIT
        .compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed)
        .is_err()
    {
        return;
    }
    sys::futex_wake(&EXIT);
    let limit = sys::now() + 2_000_000_000;
    while EXIT.load(Ordering::Acquire) != 2 && sys::now() < limit {
        sys::futex_wait(&EXIT, 1, 100_000_000);
    }
}

fn exiting() -> bool {
    EXIT.load(Ordering::Acquire) != 0
}

/// Why experiments stop for good.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    Exit,
    Finished,
    EngineGone,
}

impl Stop {
    fn reason(self) -> &'static str {
        match self {
            Stop::Exit => "exit",
            Stop::Finished => "finished",
            Stop::EngineGone => "engine-gone",
        }
    }
}

unsafe extern "C-unwind" fn main(argument: *mut c_void) -> *mut c_void {
    // SAFETY: names the calling thread.
    unsafe { libc::prctl(libc::PR_SET_NAME, c"fulcrum".as_ptr()) };
    // SAFETY: `spawn` passes a `Machine` or nothing, in memory that is never freed.
    let machine = unsafe { argument.cast::<Machine>().as_ref() };
    if let Some(mut profiler) = Profiler::new(machine.copied()) {
        let stop = profiler.run();
        profiler.finish(stop);
    }
    life::wind_down();
    control::process()
        .state
        .store(state::FINISHED, Ordering::Release);
    EXIT.store(2, Ordering::Release);
    sys::futex_wake(&EXIT);
    null_mut()
}

struct Profiler {
    levels: Levels,
    random: Random,
    pace: Pace,
    decks: &'static mut [Deck],
    busiest: u64,
    before: Snapshot,
    after: Snapshot,
    next_samples_ns: u64,
    machine: Option<Machine>,
}

impl Profiler {
    fn new(machine: Option<Machine>) -> Option<Profiler> {
        let session = control::session();
        let count = (session.level_count as usize).min(MAX_LEVELS);
        let levels = &session.levels[..count];
        let lines = control::counts().len();
        let decks = sys::map_anonymous((lines * size_of::<Deck>()).max(1))?;
        let mut program = [0_u8; 4096];
        // SAFETY: the link's text is written to `program`; the decks are fresh zeroed memory, which is a valid deck.
        let (length, decks) = unsafe {
            let path = c"/proc/self/exe".as_ptr();
            let length = libc::readlink(path, program.as_mut_ptr().cast(), program.len());
            (
                length.max(0) as usize,
                core::slice::from_raw_parts_mut(decks.cast::<Deck>(), lines),
            )
        };
        output::header(levels, &program[..length], sys::clock(libc::CLOCK_REALTIME));
        Some(Profiler {
            levels: Levels::new(levels, session.fixed_speedup),
            random: Random::new(u64::from(session.seed) << 32 ^ u64::from(control::process().pid)),
            pace: Pace::new(session.experiment_ns, u64::from(session.min_visits)),
            decks,
            busiest: 0,
            before: Snapshot::EMPTY,
            after: Snapshot::EMPTY,
            next_samples_ns: 1_000_000_000,
            machine,
        })
    }

    fn run(&mut self) -> Stop {
        loop {
            if let Some(stop) = self.one_experiment().err() {
                TARGET.store(NONE, Ordering::Release);
                control::process().selected.store(NONE, Ordering::Relaxed);
                return stop;
            }
            self.keep_samples();
        }
    }

    /// Waits `ns`, unless there is a reason to stop.
    fn pause(&self, ns: u64) -> Result<(), Stop> {
        let end = sys::now() + ns;
        loop {
            if exiting() {
                return Err(Stop::Exit);
            }
            if control::session().command.load(Ordering::Acquire) == command::FINISH {
                return Err(Stop::Finished);
            }
            if control::engine_is_gone() {
                return Err(Stop::EngineGone);
            }
            let now = sys::now();
            if now >= end {
                return Ok(());
            }
            sys::futex_wait(&EXIT, 0, (end - now).min(SLICE_NS));
        }
    }

    /// Waits for the next completed unit of work, `limit_ns` at most.
    fn next_visit(&self, limit_ns: u64) -> Result<(), Stop> {
        if !self.pace.align(self.busiest) {
            return Ok(());
        }
        let seen = points::completions_now();
        let end = sys::now() + limit_ns;
        while points::completions_now() == seen && sys::now() < end {
            self.pause(POLL_NS)?;
        }
        Ok(())
    }

    /// Waits until a sample falls in a line in scope: the line to speed up (COZ §3.2).
    fn choose_line(&mut self) -> Result<u32, Stop> {
        let tell_visits = || {
            control::process()
                .visits
                .store(points::visits(), Ordering::Relaxed)
        };
        // Without a progress point there is nothing to measure.
        while points::completions_now() == 0
            || control::session().command.load(Ordering::Acquire) == command::PAUSE
        {
            self.pause(10_000_000)?;
            tell_visits();
            self.keep_samples();
        }
        PASS.store(self.random.below(MOST_PASSED) as u32, Ordering::Relaxed);
        CHOICE.store(WANTED, Ordering::Release);
        loop {
            let line = CHOICE.load(Ordering::Acquire);
            if line != WANTED {
                return Ok(line);
            }
            self.pause(1_000_000)?;
            self.keep_samples();
        }
    }

    fn one_experiment(&mut self) -> Result<(), Stop> {
        let process = control::process();
        let line = self.choose_line()?;
        let Some(deck) = self.decks.get_mut(line as usize) else {
            return Ok(());
        };
        let speedup = self.levels.draw(deck, &mut self.random);
        let length = self.pace.length_ns();
        self.next_visit(2 * length)?;

        let others = self.others_ns();
        self.before.take();
        let start = sys::now();
        let delay = thread::global().now();
        HITS.store(0, Ordering::Relaxed);
        SPEEDUP.store(speedup, Ordering::Relaxed);
        SINCE.store(start, Ordering::Relaxed);
        TARGET.store(line, Ordering::Release);
        process.selected.store(line, Ordering::Relaxed);

        let stop = self
            .pause(length)
            .and_then(|()| self.next_visit(length))
            .err();
        self.after.take();
        let end = sys::now();
        let delay = thread::global().now() - delay;
        TARGET.store(NONE, Ordering::Release);
        process.selected.store(NONE, Ordering::Relaxed);

        // An experiment that the end of the program cuts short still counts, unless there is next to nothing of it.
        if stop.is_none() || end - start >= length / 2 {
            let others = self
                .others_ns()
                .zip(others)
                .map(|(after, before)| after.saturating_sub(before));
            let finished = Experiment {
                selected: control::line_name(line),
                speedup,
                start_ns: start - process.start_ns,
                wall_ns: end - start,
                delay_ns: delay,
                selected_samples: HITS.load(Ordering::Relaxed),
                others_ns: others,
            };
            output::record(|text| {
                record::experiment(text, &finished, points::between(&self.before, &self.after));
            });
            process.experiments.fetch_add(1, Ordering::Relaxed);
        }
        process.visits.store(points::visits(), Ordering::Relaxed);
        self.busiest = points::busiest(&self.before, &self.after);
        self.pace.ended(self.busiest);
        match stop {
            Some(stop) => Err(stop),
            None => self.pause(control::session().cooloff_ns),
        }
    }

    fn others_ns(&self) -> Option<u64> {
        self.machine.as_ref()?.others_ns()
    }

    /// Writes the samples so far, ever less often: what is lost when everything is killed at once stays a fraction.
    fn keep_samples(&mut self) {
        let elapsed = sys::now() - control::process().start_ns;
        if elapsed >= self.next_samples_ns {
            output::samples(elapsed);
            self.next_samples_ns = (elapsed * 2).min(elapsed + 60_000_000_000);
        }
    }

    fn finish(&mut self, stop: Stop) {
        life::wind_down();
        control::process()
            .visits
            .store(points::visits(), Ordering::Relaxed);
        let elapsed = sys::now() - control::process().start_ns;
        output::samples(elapsed);
        output::end(elapsed, stop.reason());
    }
}
