//! The engine: takes threads into translated code and back, and reports to the observer what they did.

use core::sync::atomic::{AtomicU64, Ordering};

use fulcrum_preload::kept::Kept;
use fulcrum_shared_memory::CodeAddress;
use fulcrum_shared_memory::{Effect, Mode};

use crate::hooks::captured::Captured;
use crate::list::List;
use crate::memory::tls::{self, Words};
use crate::observer::{Counts, Limits, Observer, Wish};
use crate::replay::Replay;
use crate::thread::{Recording, State, Thread};
use crate::translation::emit::{RAX, RSP};
use crate::translation::gate::{self, BELOW_RETURN};
use crate::translation::unit::{Exit, Kind, To, Unit};
use crate::translation::units::{ENTERED, RETURNED, Units};

/// How often a unit is entered before the path through it is translated as one unit.
const PATH_AFTER: u32 = 12;

/// The engine of the process.
pub(crate) struct Engine {
    pub(crate) units: Units,
    pub(crate) limits: Limits,
    pub(crate) observer: &'static dyn Observer,
    pub(crate) counts: Tally,
}

/// The engine, once [`crate::begin`] has succeeded.
pub(crate) static ENGINE: Kept<Engine> = Kept::new();

/// Counters that all threads add to.
#[derive(Default)]
pub(crate) struct Tally {
    watched: AtomicU64,
    stopped: AtomicU64,
    stopped_at: AtomicU64,
    too_long: AtomicU64,
    abandoned: AtomicU64,
}

impl Tally {
    fn add(count: &AtomicU64) {
        count.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Counts {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counts {
            watched: read(&self.watched),
            stopped: read(&self.stopped),
            stopped_at: CodeAddress(read(&self.stopped_at)),
            too_long: read(&self.too_long),
            abandoned: read(&self.abandoned),
        }
    }
}

/// Where a thread continues.
enum Next {
    /// At an address of the program, out of line if possible.
    Watched(u64),
    /// At an address of the program, natively.
    Native(u64),
}

/// The function of the engine that gates call.
///
/// # Safety
/// Only a gate may call this, with the calling thread's words.
pub(crate) unsafe extern "C" fn dispatch(words: *mut Words) {
    // SAFETY: the words belong to the calling thread, and a gate has filled them in. The thread's state lives as long as
    // its words refer to it.
    let (words, thread) = unsafe {
        let words = &mut *words;
        let thread = core::ptr::with_exposed_provenance_mut::<Thread>(words.thread as usize);
        (words, &mut *thread)
    };
    let Some(engine) = ENGINE.get() else {
        return;
    };
    let mut pass = Pass {
        engine,
        words,
        thread,
    };
    let next = match pass.words.exit {
        ENTERED => Next::Watched(pass.words.target),
        RETURNED => pass.returned(),
        number => match engine.units.exit(number) {
            Some(exit) => pass.left(exit),
            None => return,
        },
    };
    pass.go(next);
}

/// One pass of a thread through the engine.
struct Pass<'a> {
    engine: &'static Engine,
    words: &'a mut Words,
    thread: &'a mut Thread,
}

impl Pass<'_> {
    /// The thread has left a unit.
    fn left(&mut self, exit: &Exit) -> Next {
        self.tell(exit);
        self.thread.left = self.thread.left.saturating_sub(exit.instructions);
        let next = match exit.to {
            To::Branch(it) | To::Next(it) | To::Call(it) => it,
            To::Indirect => self.words.target,
        };
        self.record(exit.to, next);
        if self.thread.is_wanted && self.thread.left > 0 {
            return Next::Watched(next);
        }
        if !self.thread.in_window {
            Tally::add(&self.engine.counts.too_long);
            let (site, lock) = (self.thread.site, self.thread.lock);
            self.thread.rests.too_long(site, lock);
        }
        Next::Native(next)
    }

    /// A native function has returned.
    fn returned(&mut self) -> Next {
        self.thread.state = State::Watched;
        self.thread.lanes.reset();
        let stack = self.words.registers.general[usize::from(RSP)];
        // SAFETY: the word is on the program's own stack; the function has just returned through it, so it is readable.
        let next = unsafe { word(stack.wrapping_sub(8)).read() };
        match self.thread.is_wanted {
            true => {
                // Reported together with what follows.
                if !self.thread.effects.has_room(1) {
                    self.flush();
                }
                let returned = (CodeAddress(next), Effect::NativeCall);
                self.thread.effects.push(returned);
                Next::Watched(next)
            }
            false => Next::Native(next),
        }
    }

    fn go(&mut self, next: Next) {
        match next {
            Next::Native(ip) => self.leave(ip),
            Next::Watched(ip) => {
                let unit = self.engine.units.find_or_make(ip);
                match unit.map(|it| (it, &it.kind)) {
                    Some((unit, Kind::Code(code))) => {
                        let number = self.words.registers.general[usize::from(RAX)];
                        if code.is_system_call && !is_harmless(number) {
                            return self.stop(ip);
                        }
                        if code.is_path {
                            self.end_recording();
                        } else {
                            self.begin_recording(unit);
                        }
                        self.words.target = code.start;
                    }
                    Some((_, Kind::Native)) => {
                        // Our own functions report other things. Report what was done before them first.
                        if self.engine.units.is_own(ip) {
                            self.flush();
                        }
                        self.call(ip);
                    }
                    Some((_, Kind::Later)) => self.call(ip),
                    _ => self.stop(ip),
                }
            }
        }
    }

    /// The thread continues natively, because the code at this address only runs in its own place.
    fn stop(&mut self, ip: u64) {
        Tally::add(&self.engine.counts.stopped);
        let last = &self.engine.counts.stopped_at;
        last.store(ip, Ordering::Relaxed);
        self.leave(ip);
    }

    /// The thread continues natively.
    fn leave(&mut self, ip: u64) {
        self.flush();
        self.end_recording();
        self.thread.state = State::Native;
        self.thread.in_window = false;
        self.words.target = ip;
        self.thread.settle();
    }

    /// Calls a native function whose return address is already on the stack.
    fn call(&mut self, ip: u64) {
        self.end_recording();
        let stack = &mut self.words.registers.general[usize::from(RSP)];
        let place = stack.wrapping_sub(BELOW_RETURN);
        // SAFETY: the words are below the stack pointer of the program's own stack, where a called function may write.
        unsafe {
            word(stack.wrapping_sub(8)).write(0);
            word(place).write(gate::return_address(gate::native_returned));
        }
        *stack = place;
        self.thread.state = State::Calling(place);
        self.words.target = ip;
    }

    /// Records what happened on the way to an exit. Reports it when there is a lot or something else to report; in the
    /// window after a section immediately, because the first use ends the window.
    fn tell(&mut self, exit: &Exit) {
        let mut rest = match self.thread.in_window {
            true => exit.steps,
            false => exit.lasting,
        };
        loop {
            rest = Replay {
                slots: &self.words.slots,
                registers: &self.words.registers,
                thread_pointer: self.words.itself.wrapping_add_signed(-tls::offset()),
                in_window: self.thread.in_window,
                lanes: &mut self.thread.lanes,
                effects: &mut self.thread.effects,
            }
            .steps(rest);
            if rest.is_empty() && !self.thread.in_window {
                return;
            }
            self.flush();
            if rest.is_empty() || !self.thread.is_wanted {
                return;
            }
        }
    }

    fn flush(&mut self) {
        self.engine.flush(self.thread, self.words);
    }

    fn begin_recording(&mut self, unit: &Unit) {
        if unit.enter() == PATH_AFTER && self.thread.recording.is_none() {
            self.thread.recording = Some(Recording {
                head: unit.ip,
                path: List::new(),
            });
        }
    }

    fn record(&mut self, to: To, next: u64) {
        let Some(recording) = &mut self.thread.recording else {
            return;
        };
        match to {
            To::Next(_) | To::Call(_) => self.end_recording(),
            _ if recording.path.has_room(1) => recording.path.push(next),
            _ => self.end_recording(),
        }
    }

    fn end_recording(&mut self) {
        if let Some(recording) = self.thread.recording.take()
            && !recording.path.as_slice().is_empty()
        {
            let units = &self.engine.units;
            units.make_path(recording.head, recording.path.as_slice());
        }
    }
}

/// System calls that return once, to where they were made.
fn is_harmless(number: u64) -> bool {
    !matches!(
        number as i64,
        libc::SYS_clone
            | libc::SYS_clone3
            | libc::SYS_fork
            | libc::SYS_vfork
            | libc::SYS_execve
            | libc::SYS_execveat
            | libc::SYS_rt_sigreturn
            | libc::SYS_exit
            | libc::SYS_exit_group
    )
}

fn word(address: u64) -> *mut u64 {
    core::ptr::with_exposed_provenance_mut(address as usize)
}

/// A thread has taken a lock and is about to return to its caller. Returns if the section runs natively.
///
/// # Safety
/// See [`crate::lock_taken`].
pub(crate) unsafe fn lock_taken(captured: &Captured, lock: u64, result: u64) {
    let (Some(engine), Some(thread)) = (ENGINE.get(), Thread::current()) else {
        return;
    };
    // SAFETY: the calling thread's own state; no other reference to it lives in this thread.
    let thread = unsafe { &mut *thread.as_ptr() };
    let caller = captured.caller();
    if Thread::owns_stack(caller.stack) {
        // A signal handler has interrupted the engine.
        return;
    }
    let is_nested = match thread.state {
        State::Native => false,
        State::Calling(place) => !engine.is_abandoned(place, &caller),
        // A signal handler has interrupted translated code.
        State::Watched => return,
    };
    if thread.is_telling {
        return;
    }
    if !is_nested {
        thread.state = State::Native;
        if thread.held.as_slice().is_empty() && thread.rests.rests(caller.ip, lock) {
            thread.settle();
            return;
        }
    }
    if !thread.held.has_room(1) {
        return;
    }
    // SAFETY: the calling thread's words.
    engine.flush(thread, unsafe { &*tls::words() });
    engine.announce(thread);
    let wish = engine.enter(thread, (lock, caller.ip), is_nested);
    thread.held.push(lock);
    thread.is_wanted = wish == Wish::Watched;
    thread.in_window = false;
    thread.left = engine.limits.section;
    thread.settle();
    if is_nested {
        return;
    }
    match wish {
        Wish::Native(scope) => thread.rests.unwanted(caller.ip, lock, scope),
        Wish::Watched => {
            (thread.site, thread.lock) = (caller.ip, lock);
            // SAFETY: this function has the same contract.
            unsafe { engine.begin(thread, captured, result) };
        }
    }
}

/// A thread is about to release a lock.
pub(crate) fn unlocking(lock: u64) {
    // SAFETY: reads the calling thread's own words.
    if unsafe { (*tls::words()).rests } != 0 {
        // It holds no lock that the observer knows, and has told everything.
        return;
    }
    let (Some(engine), Some(thread)) = (ENGINE.get(), Thread::known()) else {
        return;
    };
    // SAFETY: as in `lock_taken`.
    let thread = unsafe { &mut *thread.as_ptr() };
    if thread.is_telling || thread.state == State::Watched {
        return;
    }
    if !thread.held.remove(&lock) {
        // SAFETY: the calling thread's words.
        engine.flush(thread, unsafe { &*tls::words() });
        return;
    }
    thread.is_telling = true;
    let (wish, mode) = engine.leave(thread, lock);
    thread.is_telling = false;
    thread.effects.clear();
    thread.is_wanted = mode == Mode::Watched;
    if let State::Calling(place) = thread.state {
        engine.left(thread, place, wish);
    }
    thread.settle();
}

impl Engine {
    /// Reports what the thread has done.
    fn flush(&self, thread: &mut Thread, words: &Words) {
        if thread.effects.as_slice().is_empty() {
            return;
        }
        self.announce(thread);
        let effects = thread.effects.as_slice();
        thread.is_telling = true;
        let mode = self.observer.effects(&words.registers, effects);
        thread.is_telling = false;
        thread.is_wanted = mode == Mode::Watched;
        thread.effects.clear();
    }

    /// Reports that the thread has taken a lock, or leaves that for later.
    fn enter(&self, thread: &mut Thread, (lock, site): (u64, u64), is_nested: bool) -> Wish {
        let is_first = !is_nested && thread.held.as_slice().is_empty();
        thread.is_telling = true;
        thread.is_unknown =
            is_first && thread.rests.was_watched(site, lock) && self.observer.expected(lock, site);
        let wish = match thread.is_unknown {
            true => Wish::Watched,
            false => self.observer.entered(lock, site, is_nested),
        };
        thread.is_telling = false;
        wish
    }

    /// Reports that the thread has taken a lock, if that was left for later.
    fn announce(&self, thread: &mut Thread) {
        if !thread.is_unknown {
            return;
        }
        thread.is_unknown = false;
        thread.is_telling = true;
        let wish = self.observer.entered(thread.lock, thread.site, false);
        thread.is_telling = false;
        self.wished(thread, wish);
    }

    /// The observer has now heard of the section.
    fn wished(&self, thread: &mut Thread, wish: Wish) {
        if let Wish::Native(scope) = wish {
            thread.is_wanted = false;
            thread.rests.unwanted(thread.site, thread.lock, scope);
        }
    }

    /// Reports that the thread releases a lock. Returns what the observer said of the section that began, if it says so only
    /// now.
    fn leave(&self, thread: &mut Thread, lock: u64) -> (Wish, Mode) {
        if !thread.is_unknown {
            let mode = self.observer.left(lock, thread.effects.as_slice());
            return (Wish::Watched, mode);
        }
        thread.is_unknown = false;
        let effects = thread.effects.as_slice();
        let (wish, mode) = self.observer.passed(lock, thread.site, effects);
        self.wished(thread, wish);
        (wish, mode)
    }

    /// A thread has released a lock in a watched section, in a native function that returns through the word at `place`.
    fn left(&self, thread: &mut Thread, place: u64, wish: Wish) {
        let is_outermost = thread.held.as_slice().is_empty();
        if is_outermost && wish == Wish::Watched {
            thread.rests.watched(thread.site, thread.lock);
        }
        if !thread.is_wanted {
            // SAFETY: the word is on the thread's stack as long as the function that returns by it runs.
            unsafe { word(place).write(gate::return_address(gate::native_done)) };
            thread.state = State::Native;
        } else if is_outermost {
            thread.in_window = true;
            thread.left = self.limits.window;
        }
    }

    /// Whether the native call recorded in the thread's state ended without returning: the thread was cancelled, or jumped
    /// out of it.
    fn is_abandoned(&self, place: u64, caller: &crate::hooks::captured::Caller) -> bool {
        // The function itself returns through the word at `place`. The frames of its callees are below.
        let is_it = || {
            // SAFETY: the word is on the thread's own stack, near its stack pointer.
            let returns_to = unsafe { word(place).read() };
            caller.stack <= place + BELOW_RETURN + 8
                && returns_to == gate::return_address(gate::native_returned)
        };
        let is_there = caller.stack <= place || is_it();
        if !is_there {
            Tally::add(&self.counts.abandoned);
        }
        !is_there
    }

    /// Leaves the caller and continues out of line at the caller's return address.
    ///
    /// # Safety
    /// See [`crate::lock_taken`].
    unsafe fn begin(&self, thread: &mut Thread, captured: &Captured, result: u64) {
        Tally::add(&self.counts.watched);
        thread.state = State::Watched;
        thread.lanes.reset();
        thread.effects.clear();
        thread.recording = None;
        let words = tls::words();
        let (registers, ip) = captured.registers(result);
        // SAFETY: the calling thread's words.
        unsafe {
            (*words).registers = registers;
            (*words).target = ip;
            gate::through(self.units.gates.enter);
        }
    }
}
