//! What the agent keeps for each thread.

use std::cell::Cell;

use fulcrum_event_log::Stream;
use fulcrum_wire::log::{Body, MACHINE, PayloadBuffer, kind, thread_flag};

use crate::agent::{self, Agent};
use crate::clock::ThreadClock;
use crate::jvmti::Thread;

/// A thread's way into the log, with its clock.
pub struct State {
    stream: Stream,
    clock: ThreadClock,
}

thread_local! {
    /// The calling thread's state, owned by this pointer; null before its first event.
    static STATE: Cell<*mut State> = const { Cell::new(std::ptr::null_mut()) };
}

impl State {
    fn new(agent: &Agent) -> State {
        let number = agent.next_thread();
        debug_assert!(number > MACHINE);
        State {
            stream: agent.log.stream(number),
            clock: ThreadClock::here(),
        }
    }

    /// Writes an event that has no method.
    pub fn event(&mut self, kind: u8, payload: &PayloadBuffer) {
        let (ticks, cpu) = self.clock.stamp();
        self.stream
            .write(kind, ticks, cpu, 0, Body::Payload(payload.as_bytes()));
    }

    /// Writes an event of a method.
    #[inline]
    pub fn method(&mut self, kind: u8, method: u32) {
        let (ticks, cpu) = self.clock.stamp();
        self.stream.write(kind, ticks, cpu, 0, Body::Method(method));
    }
}

/// Does something with the calling thread's state; makes it for a thread whose beginning was not seen.
#[inline]
pub fn with(what: impl FnOnce(&mut State)) {
    let state = STATE.get();
    if state.is_null() {
        return first(what);
    }
    // SAFETY: only this thread has the pointer, it is valid until `ended` resets it, and `what` calls nothing that comes
    // back here: neither the log nor the clock calls the machine.
    what(unsafe { &mut *state });
}

#[cold]
fn first(what: impl FnOnce(&mut State)) {
    let Some(agent) = agent::get() else { return };
    let thread = agent.jvmti.thread(std::ptr::null_mut());
    began(agent, thread, thread_flag::EARLIER);
    let state = STATE.get();
    if !state.is_null() {
        // SAFETY: as in `with`; `began` has just made it.
        what(unsafe { &mut *state });
    }
}

/// The calling thread begins.
pub fn began(agent: &Agent, thread: Option<Thread>, flags: u64) {
    if !STATE.get().is_null() {
        return;
    }
    let thread = thread.unwrap_or(Thread {
        name: String::new(),
        group: String::new(),
        daemon: false,
    });
    let daemon = if thread.daemon {
        thread_flag::DAEMON
    } else {
        0
    };
    let mut state = Box::new(State::new(agent));
    let payload = PayloadBuffer::default().number(0).number(flags | daemon);
    state.event(
        kind::THREAD_START,
        &payload.text(&thread.name).text(&thread.group),
    );
    STATE.set(Box::into_raw(state));
}

/// The calling thread ends: what is left of its chunk goes to others.
pub fn ended() {
    let state = STATE.replace(std::ptr::null_mut());
    if !state.is_null() {
        // SAFETY: `began` made it by `Box::into_raw`, and nobody else has it.
        let mut state = unsafe { Box::from_raw(state) };
        state.event(kind::THREAD_END, &PayloadBuffer::default());
    }
}
