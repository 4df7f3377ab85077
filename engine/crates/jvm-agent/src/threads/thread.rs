//! What the agent keeps for each thread, platform or virtual.

use std::cell::Cell;

use fulcrum_agent_core::clock::{self, ThreadClock};
use fulcrum_agent_core::metering::Meters;
use fulcrum_agent_core::{MethodEvent, Stamp, Writer};
use fulcrum_wire::log::{MACHINE, PayloadBuffer, kind, thread_flag};

use crate::classes::metering::Metering;
use crate::jni::Object;
use crate::probes::pending_values::PendingValues;
use crate::session::agent::{self, Agent};
use crate::threads::parents;

/// A thread's writer, and what Java adds to it.
pub(crate) struct State {
    session: u32,
    number: u32,
    writer: Writer,
    /// Bytes allocated since the last sample, of objects that are not observed one by one.
    pub(crate) unsampled: u64,
    /// A virtual thread's CPU time so far on other carriers, nanoseconds.
    cpu_before: u64,
    is_virtual: bool,
    /// The virtual thread that it is about to start, by its own number.
    pub(crate) starting: Option<i64>,
    /// Values of the call that is about to be entered or left.
    pending_values: Option<Box<PendingValues>>,
}

thread_local! {
    /// The state of the thread that runs here, owned by this pointer; null before its first event. While a virtual thread is
    /// mounted, it is that thread's.
    static STATE: Cell<*mut State> = const { Cell::new(std::ptr::null_mut()) };
    /// The carrier's own state, while a virtual thread is mounted on it.
    static CARRIER: Cell<*mut State> = const { Cell::new(std::ptr::null_mut()) };
    /// The session in which this thread ended as a Java thread. It may still wait for a monitor then: whoever joins it holds
    /// its own monitor for a moment.
    static ENDED: Cell<u32> = const { Cell::new(0) };
}

impl State {
    fn new(agent: &Agent, is_virtual: bool) -> State {
        let number = agent.next_thread();
        debug_assert!(number > MACHINE);
        State {
            session: agent.session,
            number,
            writer: Writer::new(agent.log.stream(number), agent.filter.depth),
            unsampled: 0,
            cpu_before: 0,
            is_virtual,
            starting: None,
            pending_values: None,
        }
    }

    /// A state that writes into another log, to measure what that costs.
    pub(crate) fn rehearsal(writer: Writer) -> State {
        State {
            session: agent::session(),
            number: 0,
            writer,
            unsampled: 0,
            cpu_before: 0,
            is_virtual: false,
            starting: None,
            pending_values: None,
        }
    }

    /// The values of the call that is about to be entered or left.
    pub(crate) fn pending_values(&mut self) -> &mut PendingValues {
        self.pending_values.get_or_insert_default()
    }

    /// The writer.
    pub(crate) fn into_writer(self) -> Writer {
        self.writer
    }

    /// Writes an event that has no method.
    pub(crate) fn event(&mut self, kind: u8, payload: &PayloadBuffer) {
        self.writer.event(kind, payload);
    }

    /// What the thread's calls cost.
    pub(crate) fn meters(&mut self) -> &mut Meters {
        self.writer.meters()
    }

    /// Writes an event of a method and meters it. `true` when the method's gate must be shut.
    pub(crate) fn metered(&mut self, metering: &Metering, kind: u8, method: u32) -> bool {
        self.writer.metered(metering.core(), kind, method)
    }

    /// Reads the thread's clock, for [`Self::method_with`].
    pub(crate) fn stamp(&self) -> Stamp {
        self.writer.stamp()
    }

    /// Writes an event of a method with its objects or values, and meters it when there is a rule.
    pub(crate) fn method_with(
        &mut self,
        metering: Option<&Metering>,
        event: MethodEvent,
        objects: (u8, &PayloadBuffer),
    ) {
        let metering = metering.map(Metering::core);
        self.writer.method_with(metering, event, objects);
    }

    /// Writes an event of a method if that can be done at once; otherwise does nothing.
    #[inline(always)]
    fn fast(&mut self, kind: u8, method: u32) -> bool {
        self.session == agent::session() && self.writer.fast(kind, method)
    }

    /// The thread runs here from now on.
    fn arrives(&mut self) {
        self.writer.set_clock(ThreadClock::here());
        self.writer.clock().reset();
        self.writer
            .stream()
            .set_cpu_offset(self.cpu_before.cast_signed() - clock::thread_cpu().cast_signed());
    }

    /// The thread goes on elsewhere.
    fn leaves(&mut self) {
        self.cpu_before = self
            .writer
            .stream()
            .cpu_offset()
            .saturating_add_unsigned(clock::thread_cpu())
            .max(0)
            .cast_unsigned();
        // The thread that runs here next has its own clock, on the same field.
        self.writer.clock().reset();
    }
}

/// Writes an event of a method for the calling thread.
#[inline]
pub(crate) fn method(kind: u8, method: u32) {
    let state = STATE.get();
    // SAFETY: only the thread that runs here has the pointer, it is valid until `ended` resets it, and neither the log nor
    // the clock calls what comes back here.
    if !state.is_null() && unsafe { &mut *state }.fast(kind, method) {
        return;
    }
    slowly(kind, method);
}

#[cold]
fn slowly(kind: u8, method: u32) {
    fulcrum_agent_core::say::guarded(|| {
        with(|state| {
            state.writer.method(kind, method);
        });
    });
}

/// Does something with the calling thread's state. Creates the state of a thread whose start was not observed.
pub(crate) fn with(what: impl FnOnce(&mut State)) {
    let state = STATE.get();
    // SAFETY: as in `method`.
    if !state.is_null() && unsafe { (*state).session } == agent::session() {
        // SAFETY: as in `method`.
        return what(unsafe { &mut *state });
    }
    if ENDED.get() == agent::session() {
        return;
    }
    let Some(agent) = agent::get() else { return };
    here(agent);
    let state = STATE.get();
    if !state.is_null() {
        // SAFETY: as in `method`; it has just been made.
        what(unsafe { &mut *state });
    }
}

/// The calling thread's number.
pub(crate) fn number() -> u32 {
    let mut number = 0;
    with(|state| number = state.number);
    number
}

/// Creates the state of a thread that has been running already.
#[cold]
fn here(agent: &Agent) {
    let thread = agent.jvmti.current_thread();
    let is_virtual = agent.is_virtual(thread);
    let old = STATE.replace(std::ptr::null_mut());
    // SAFETY: as in `method`. A virtual thread's state is left alone: the thread may have moved to another carrier between
    // two sessions.
    if !old.is_null() && !unsafe { (*old).is_virtual } {
        drop_state(old);
    }
    began(agent, thread, is_virtual, thread_flag::EARLIER);
    if is_virtual {
        agent.jvmti.set_thread_storage(thread, STATE.get().cast());
    }
}

/// The calling thread has started.
pub(crate) fn began(agent: &Agent, thread: Object, is_virtual: bool, flags: u64) {
    ENDED.set(0);
    if !STATE.get().is_null() {
        return;
    }
    let state = Box::new(new(agent, thread, is_virtual, flags));
    STATE.set(Box::into_raw(state));
}

fn new(agent: &Agent, thread: Object, is_virtual: bool, mut flags: u64) -> State {
    let named = agent.jvmti.thread(thread).unwrap_or_default();
    if named.daemon {
        flags |= thread_flag::DAEMON;
    }
    if is_virtual {
        flags |= thread_flag::VIRTUAL;
    }
    let mut state = State::new(agent, is_virtual);
    // The same system thread may have been another Java thread before.
    if is_virtual || flags & thread_flag::EARLIER == 0 {
        state.arrives();
    }
    let parent = match is_virtual {
        true => parents::of_virtual(agent, thread),
        false => parents::of(agent, thread),
    };
    let payload = PayloadBuffer::default()
        .number(u64::from(parent))
        .number(flags);
    state.event(
        kind::THREAD_START,
        &payload.text(&named.name).text(&named.group),
    );
    state
}

/// The calling thread ends. Others can use the rest of its chunk.
pub(crate) fn ended() {
    ENDED.set(agent::session());
    end(STATE.replace(std::ptr::null_mut()));
}

fn end(state: *mut State) {
    if !state.is_null() {
        // SAFETY: as in `method`.
        let it = unsafe { &mut *state };
        if it.session == agent::session() {
            it.event(kind::THREAD_END, &PayloadBuffer::default());
        }
        drop_state(state);
    }
}

fn drop_state(state: *mut State) {
    if !state.is_null() {
        // SAFETY: it comes from `Box::into_raw`, and the caller has just taken it from where it was stored.
        drop(unsafe { Box::from_raw(state) });
    }
}

/// Keeps the calling thread's own state while a virtual thread is mounted on it.
fn carrier_steps_back() {
    let here = STATE.get();
    // SAFETY: as in `method`.
    if !here.is_null() && !unsafe { (*here).is_virtual } {
        CARRIER.set(here);
    }
}

/// The calling thread runs its own code again.
fn carrier_returns() {
    let carrier = CARRIER.replace(std::ptr::null_mut());
    STATE.set(carrier);
    // SAFETY: the thread's own, which only it has.
    if let Some(carrier) = unsafe { carrier.as_mut() } {
        carrier.writer.clock().reset();
    }
}

/// A virtual thread is mounted on the calling thread.
pub(crate) fn mounted(agent: &Agent, thread: Object) {
    carrier_steps_back();
    let state: *mut State = agent.jvmti.thread_storage(thread).cast();
    STATE.set(state);
    if !state.is_null() {
        // SAFETY: a virtual thread runs on one thread at a time, and this is it.
        unsafe { &mut *state }.arrives();
    }
}

/// A virtual thread is unmounted from the calling thread.
pub(crate) fn unmounted() {
    // SAFETY: as in `method`.
    let Some(state) = (unsafe { STATE.get().as_mut() }) else {
        return carrier_returns();
    };
    if state.is_virtual {
        state.leaves();
        carrier_returns();
    }
}

/// A virtual thread starts on the calling thread.
pub(crate) fn virtual_began(agent: &Agent, thread: Object) {
    let state = Box::new(new(agent, thread, true, 0));
    let state = Box::into_raw(state);
    if !agent.jvmti.set_thread_storage(thread, state.cast()) {
        return drop_state(state);
    }
    carrier_steps_back();
    STATE.set(state);
}

/// A virtual thread ends on the calling thread.
pub(crate) fn virtual_ended(agent: &Agent, thread: Object) {
    let state: *mut State = agent.jvmti.thread_storage(thread).cast();
    agent.jvmti.set_thread_storage(thread, std::ptr::null_mut());
    if STATE.get() == state {
        STATE.set(std::ptr::null_mut());
    } else if !state.is_null() {
        // It was unmounted for good just before.
        // SAFETY: the storage's own, from which it has just been taken.
        unsafe { &mut *state }.arrives();
    }
    end(state);
    // SAFETY: as in `method`.
    match unsafe { STATE.get().as_mut() } {
        None => carrier_returns(),
        Some(here) => here.writer.clock().reset(),
    }
}

/// Runs something while the calling thread writes through this state, and returns the state.
pub(crate) fn instead(state: State, what: impl FnOnce()) -> State {
    let mine = STATE.replace(Box::into_raw(Box::new(state)));
    what();
    let state = STATE.replace(mine);
    // SAFETY: as in `method`; these stamps are in nobody's stream.
    if let Some(mine) = unsafe { mine.as_mut() } {
        mine.writer.clock().reset();
    }
    // SAFETY: the box from above; no thread ends meanwhile.
    *unsafe { Box::from_raw(state) }
}
