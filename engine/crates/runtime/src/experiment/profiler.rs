//! The profiler thread (COZ §3.2): one performance experiment after another.

mod experiment;

use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use fulcrum_preload::real::find;
use fulcrum_preload::{descriptors, own, sys};
use fulcrum_runtime_core::draw::{Deck, Levels};
use fulcrum_runtime_core::pace::Pace;
use fulcrum_stats::Random;
use fulcrum_wire::{MAX_LEVELS, command, mode, part, state};

use crate::experiment::output::StreamTimes;
use crate::experiment::points::{Pending, Snapshot};
use crate::experiment::rest::Rests;
use crate::experiment::{choice, output, points};
use crate::process::control::Map;
use crate::process::{activity, control, thread};
use crate::signals::program_view;
use crate::sys::machine::Machine;

/// How far the end is: [`RUNS`], [`EXITS`], [`SEALED`] or [`WRITTEN`]. A futex word.
static EXIT: AtomicU32 = AtomicU32::new(RUNS);
/// The profiler thread, or 0.
static ID: AtomicU64 = AtomicU64::new(0);

/// How often commands and the engine's heartbeat are checked.
const SLICE_NS: u64 = 50_000_000;
/// The shortest time between two checks for a chosen target.
const CHOICE_NS: u64 = 1_000_000;
/// How often requests in progress are counted during an experiment, for their average.
const PENDING_NS: u64 = 2_000_000;
/// A forked child that has lived this long gets its own records even if it does nothing in scope.
const LASTING_NS: u64 = 500_000_000;

/// What the thread's own frames may take, bytes.
const STACK: usize = 256 * 1024;

/// The stack of a thread that libc makes: the variables of all libraries are at its top.
fn stack_size(attributes: &libc::pthread_attr_t) -> usize {
    type Least = unsafe extern "C" fn(*const libc::pthread_attr_t) -> usize;
    let least = find(c"__pthread_get_minstack").map_or(0, |found| {
        // SAFETY: glibc's function of that name has this type, and reads the attributes at most.
        unsafe { core::mem::transmute::<*mut c_void, Least>(found)(attributes) }
    });
    (STACK + least).next_multiple_of(sys::PAGE)
}

/// Starts the profiler thread, with every signal blocked. `false` when the system refuses.
///
/// libc itself creates it, past whatever else follows the program's threads: a sanitizer would report it as leaked, and would
/// not let a forked child create another.
pub(crate) fn spawn() -> bool {
    let create = own!(pthread_create: fn(
        *mut libc::pthread_t, *const libc::pthread_attr_t, thread::Routine, *mut c_void) -> i32);
    // SAFETY: fresh attributes and signal sets; the mask is restored before returning. `machine` is null or points to memory that
    // is never freed, which the thread reads.
    unsafe {
        output::prepare();
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
        program_view::real_mask(libc::SIG_SETMASK, &all, &mut before);
        let mut attributes: libc::pthread_attr_t = core::mem::zeroed();
        libc::pthread_attr_init(&mut attributes);
        let size = stack_size(&attributes);
        libc::pthread_attr_setstacksize(&mut attributes, size);
        let mut id: libc::pthread_t = 0;
        let result = create(&mut id, &attributes, main, machine);
        libc::pthread_attr_destroy(&mut attributes);
        program_view::real_mask(libc::SIG_SETMASK, &before, null_mut());
        if result == 0 {
            ID.store(id, Ordering::Release);
        }
        result == 0
    }
}

/// The last thread of the program ends, and with it the process: main may have left by `pthread_exit` before. Our own thread
/// must have ended by then, or libc would not notice that no thread is left.
pub(crate) fn finish_with_last_thread() {
    finish_at_exit();
    join();
}

/// The program is about to forbid what we need to go on: lets the profiler thread write the last records, and waits until it has
/// ended.
pub(crate) fn finish_early() {
    finish(SEALED);
    join();
}

fn join() {
    let id = ID.swap(0, Ordering::AcqRel);
    if id != 0 {
        // SAFETY: our own thread, which nobody else joins.
        unsafe {
            own!(pthread_join: fn(libc::pthread_t, *mut *mut c_void) -> i32)(id, null_mut());
        }
    }
}

/// The program is exiting: lets the profiler thread write the last records, and waits for them.
pub(crate) fn finish_at_exit() {
    finish(EXITS);
}

fn finish(why: u32) {
    if EXIT
        .compare_exchange(RUNS, why, Ordering::AcqRel, Ordering::Relaxed)
        .is_err()
    {
        return;
    }
    sys::futex_wake(&EXIT);
    let limit = sys::now() + 2_000_000_000;
    while EXIT.load(Ordering::Acquire) != WRITTEN && sys::now() < limit {
        sys::futex_wait(&EXIT, why, 100_000_000);
    }
}

/// In a forked child: drops the parent's experiment.
pub(crate) fn reset() {
    EXIT.store(RUNS, Ordering::Release);
    ID.store(0, Ordering::Release);
    choice::withdraw();
    choice::end();
}

/// Experiments go on.
const RUNS: u32 = 0;
/// The program exits.
const EXITS: u32 = 1;
/// The last record is written.
const WRITTEN: u32 = 2;
/// The program is about to forbid what we need to go on.
const SEALED: u32 = 3;

/// Why experiments stop for good.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    Exit,
    Sealed,
    Finished,
    EngineGone,
}

impl Stop {
    fn reason(self) -> &'static str {
        match self {
            Stop::Exit => "exit",
            Stop::Sealed => "sealed",
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
    activity::wind_down();
    control::process()
        .state
        .store(state::FINISHED, Ordering::Release);
    EXIT.store(WRITTEN, Ordering::Release);
    sys::futex_wake(&EXIT);
    null_mut()
}

struct Profiler {
    map: &'static Map,
    unwind: u32,
    levels: Levels,
    random: Random,
    pace: Pace,
    decks: &'static mut [Deck],
    busiest: u64,
    before: Snapshot,
    middle: Snapshot,
    after: Snapshot,
    /// The longest warm-up with the current map.
    warmup_ns: u64,
    pending: Pending,
    began_ns: u64,
    delay_before_ns: u64,
    rested_before_ns: u64,
    rests: Rests,
    next_samples_ns: u64,
    machine: Option<Machine>,
}

fn decks(count: usize) -> Option<&'static mut [Deck]> {
    let room = sys::map_anonymous((count * size_of::<Deck>()).max(1))?;
    // SAFETY: fresh zeroed memory of that size, which is valid decks.
    Some(unsafe { core::slice::from_raw_parts_mut(room.cast(), count) })
}

impl Profiler {
    fn new(machine: Option<Machine>) -> Option<Profiler> {
        let (session, process, map) = (control::session(), control::process(), control::map());
        let levels = &session.levels[..(session.level_count as usize).min(MAX_LEVELS)];
        let drawn = Levels::new(levels, session.fixed_speedup.load(Ordering::Relaxed));
        Some(Profiler {
            map,
            unwind: 0,
            levels: if session.placebo == 0 {
                drawn.without_placebos()
            } else {
                drawn
            },
            random: Random::new(u64::from(session.seed) << 32 ^ u64::from(process.pid)),
            pace: Pace::new(session.experiment_ns, u64::from(session.min_visits)),
            decks: decks(map.counts.len())?,
            busiest: 0,
            before: Snapshot::EMPTY,
            middle: Snapshot::EMPTY,
            warmup_ns: session.warmup_ns,
            after: Snapshot::EMPTY,
            pending: Pending::NONE,
            began_ns: process.start_ns,
            delay_before_ns: 0,
            rested_before_ns: 0,
            rests: Rests::new(),
            next_samples_ns: 1_000_000_000,
            machine,
        })
    }

    /// Opens the stream of records, unless it is open. A forked child that soon becomes another program leaves none.
    fn open(&mut self) {
        if output::is_open() || output::open().is_none() {
            return;
        }
        let session = control::session();
        let levels = &session.levels[..(session.level_count as usize).min(MAX_LEVELS)];
        output::header(levels, sys::clock(libc::CLOCK_REALTIME));
    }

    fn run(&mut self) -> Stop {
        let session = control::session();
        let process = control::process();
        if process.map_pid == process.pid {
            self.open();
        }
        loop {
            let step = if session.part != part::ALL {
                self.pause(SLICE_NS)
            } else if session.end_to_end != 0 {
                self.end_to_end()
            } else {
                self.one_experiment()
            };
            if let Err(stop) = step {
                choice::withdraw();
                choice::end();
                return stop;
            }
            self.follow_engine();
            self.write_samples_when_due();
        }
    }

    /// Adopts what the engine has written since: the unwind table, libraries that were opened, another aim of the user.
    fn follow_engine(&mut self) {
        let process = control::process();
        let unwind = process.unwind.load(Ordering::Acquire);
        if unwind != self.unwind {
            self.unwind = unwind;
            let _ = descriptors::apart(|| control::adopt_unwind(unwind));
        }
        let generation = process.generation.load(Ordering::Acquire);
        if generation == self.map.generation {
            return;
        }
        self.open();
        self.last_records("retargeted");
        if descriptors::apart(|| control::adopt(generation)).is_none() {
            // The answer is unreadable: go on with the current map.
            process
                .generation
                .store(self.map.generation, Ordering::Release);
            return;
        }
        self.map = control::map();
        if let Some(fresh) = decks(self.map.counts.len()) {
            self.decks = fresh;
        }
        self.warmup_ns = control::session().warmup_ns;
        self.began_ns = sys::now();
        self.delay_before_ns = thread::global().now();
        self.rested_before_ns = self.rests.total_ns();
        process.epoch_ns.store(self.began_ns, Ordering::Relaxed);
        process
            .epoch_delay_ns
            .store(self.delay_before_ns, Ordering::Relaxed);
        self.next_samples_ns = 1_000_000_000;
        output::close();
        self.open();
    }

    /// Waits for `ns`, unless there is a reason to stop.
    fn pause(&self, ns: u64) -> Result<(), Stop> {
        let end = sys::now() + ns;
        loop {
            match EXIT.load(Ordering::Acquire) {
                RUNS => {}
                SEALED => return Err(Stop::Sealed),
                _ => return Err(Stop::Exit),
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
            sys::futex_wait(&EXIT, RUNS, (end - now).min(SLICE_NS));
        }
    }

    /// Waits for the next completed unit of work, for `limit_ns` at most.
    fn wait_for_visit(&mut self, limit_ns: u64) -> Result<(), Stop> {
        if !self.pace.align(self.busiest) {
            return Ok(());
        }
        let seen = points::completions_now();
        let end = sys::now() + limit_ns;
        let mut poll = self.pace.poll_ns(self.busiest);
        if self.is_busy() {
            poll = poll.min(PENDING_NS);
        }
        while points::completions_now() == seen && sys::now() < end {
            self.pause(poll)?;
            self.pending.sample();
            thread::pass_blocked_time();
        }
        Ok(())
    }

    /// Whether something needs more attention than visits: requests in progress, or threads that wait in the target.
    fn is_busy(&self) -> bool {
        points::have_begins() || self.map.targets.mode == mode::BLOCKED
    }

    /// Lets the program work for `ns` of the experiment's time.
    fn run_for(&mut self, ns: u64) -> Result<(), Stop> {
        if !self.is_busy() {
            return self.pause(ns);
        }
        let end = sys::now() + ns;
        while sys::now() < end {
            self.pause(PENDING_NS)?;
            self.pending.sample();
            thread::pass_blocked_time();
        }
        Ok(())
    }

    /// Waits until a sample in scope selects what to speed up (COZ §3.2).
    fn choose_target(&mut self) -> Result<u32, Stop> {
        loop {
            while self.must_wait() {
                self.pause(10_000_000)?;
                self.publish_visits();
                self.follow_engine();
                self.write_samples_when_due();
            }
            self.rests.set(false);
            let map = self.map;
            choice::request(self.random.below(choice::MAX_SKIPPED) as u32);
            let begun = sys::now();
            while core::ptr::eq(map, self.map) {
                if let Some(target) = choice::chosen() {
                    return Ok(target);
                }
                if control::session().command.load(Ordering::Acquire) == command::PAUSE {
                    break;
                }
                // The longer it takes, the more rarely it is checked: at most an eighth of that time is lost.
                let waited = sys::now() - begun;
                self.pause((waited / 8).clamp(CHOICE_NS, SLICE_NS))?;
                self.rests.set(false);
                self.follow_engine();
                self.write_samples_when_due();
            }
            choice::withdraw();
        }
    }

    /// Whether no experiment is possible now. Rests when the user has paused, or an experiment would cost too much.
    fn must_wait(&mut self) -> bool {
        let paused = control::session().command.load(Ordering::Acquire) == command::PAUSE;
        // Without visits there is nothing to measure, but samples show where the program spends its time.
        let idle = points::completions_now() == 0;
        let due = if idle {
            self.rests.are_overdue()
        } else {
            let length = self.warmup_ns + self.pace.length_ns();
            self.rests.are_due(length)
        };
        self.rests.set(paused || due);
        paused || due || idle
    }

    fn publish_visits(&self) {
        control::process()
            .visits
            .store(points::visits(), Ordering::Relaxed);
    }

    fn elapsed_ns(&self) -> u64 {
        sys::now() - self.began_ns
    }

    /// Writes the samples so far, less and less often: if everything is killed at once, only a fraction is lost.
    fn write_samples_when_due(&mut self) {
        let elapsed = self.elapsed_ns();
        if elapsed >= LASTING_NS {
            self.open();
        }
        if elapsed >= self.next_samples_ns {
            output::samples(self.map, &self.stream_times());
            self.next_samples_ns = (elapsed * 2).min(elapsed + 60_000_000_000);
        }
    }

    /// The times of this stream of records so far.
    fn stream_times(&self) -> StreamTimes {
        StreamTimes {
            time_ns: self.elapsed_ns(),
            delay_ns: thread::global().now() - self.delay_before_ns,
            rested_ns: self.rests.total_ns() - self.rested_before_ns,
        }
    }

    fn last_records(&self, reason: &str) {
        let times = self.stream_times();
        output::samples(self.map, &times);
        output::end(&times, reason);
    }

    fn finish(&mut self, stop: Stop) {
        activity::wind_down();
        self.publish_visits();
        if output::is_open() {
            self.last_records(stop.reason());
        }
    }
}
