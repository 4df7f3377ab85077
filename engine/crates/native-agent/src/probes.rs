//! The probes: functions that instrumented functions call when they are entered and left.

use std::arch::naked_asm;
use std::ops::Range;
use std::sync::atomic::{AtomicPtr, Ordering, compiler_fence};

use fulcrum_agent_core::costs::{self, Costs, ROUND};
use fulcrum_agent_core::metering::Metering;
use fulcrum_agent_core::shadow::{At, Frame};
use fulcrum_agent_core::table::Gate;
use fulcrum_agent_core::{MethodEvent, Stamp};
use fulcrum_wire::log::{PayloadBuffer, kind};

use crate::quiet::quietly;
use crate::session::{self, NamesAfterFork};
use crate::thread::{self, Pending, State, ThreadLocals, locals};
use crate::values::{Function, Plan, Probed, Saved};

/// Where a function's values are, the probe's stack pointer, and the saved registers.
type Kept<'k> = (&'static Function, usize, &'k Saved);

/// `-finstrument-functions`: a function is entered. Its address, and where it returns to.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn __cyg_profile_func_enter(function: usize, caller: usize) {
    naked_asm!("mov rdx, rsp", "mov rcx, rbp", "jmp qword ptr [rip + {}]", sym ENTER)
}

/// `-finstrument-functions`: a function is left.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn __cyg_profile_func_exit(function: usize, caller: usize) {
    naked_asm!("mov rdx, rsp", "mov rcx, rbp", "jmp qword ptr [rip + {}]", sym EXIT)
}

/// What the probes jump to. Registers are only saved where values are logged.
static ENTER: AtomicPtr<()> = AtomicPtr::new(enter as *const () as *mut ());
static EXIT: AtomicPtr<()> = AtomicPtr::new(exit as *const () as *mut ());

/// To be called before the first probe: lets the probes save registers if the recorder wrote a plan for values.
pub(crate) fn prepare() {
    if session::folder().is_some_and(|folder| Plan::is_there(&folder)) {
        ENTER.store(enter_keeping as *const () as *mut (), Ordering::Relaxed);
        EXIT.store(exit_keeping as *const () as *mut (), Ordering::Relaxed);
    }
}

/// Defines a function that saves the callee-saved registers, in the order of [`Saved`], without changing them.
macro_rules! keeping {
    ($name:ident, $with_values:ident) => {
        #[unsafe(naked)]
        unsafe extern "C" fn $name(function: usize, caller: usize, sp: usize, fp: usize) {
            naked_asm!(
                "push r15", "push r14", "push r13", "push r12", "push rbp", "push rbx",
                "mov r8, rsp",
                "sub rsp, 8",
                "call {}",
                "add rsp, 56",
                "ret",
                sym $with_values,
            )
        }
    };
}

keeping!(enter_keeping, enter_with_values);
keeping!(exit_keeping, exit_with_values);

/// The most bytes of a record. With less room in the chunk, the slow path is taken.
const ROOM: usize = 64;

unsafe extern "C" fn enter(function: usize, caller: usize, sp: usize, fp: usize) {
    match session::gate(function) {
        Some(Gate::None) => {}
        Some(Gate::Shut(method)) => {
            if let Some(agent) = session::get() {
                agent.pass(method);
            }
        }
        Some(Gate::Open(method)) => {
            let locals = locals();
            // SAFETY: the calling thread's own variables and state, which nobody else uses while it is busy; this probe's
            // return address is at `sp`.
            unsafe {
                if !begin_probe(locals, sp) {
                    return;
                }
                match usable(locals) {
                    Some(state) => state.enter(function, method, state.shadow.at(sp, fp, caller)),
                    None => unknown(
                        locals,
                        ProbeCall {
                            function,
                            caller,
                            sp,
                            fp,
                        },
                        None,
                    ),
                }
                end_probe(locals);
            }
        }
        None => {
            if session::is_off() {
                return;
            }
            let locals = locals();
            // SAFETY: as above.
            unsafe {
                if begin_probe(locals, sp) {
                    unknown(
                        locals,
                        ProbeCall {
                            function,
                            caller,
                            sp,
                            fp,
                        },
                        None,
                    );
                    end_probe(locals);
                }
            }
        }
    }
}

/// As [`enter`], with the arguments of methods whose values are logged.
unsafe extern "C" fn enter_with_values(
    function: usize,
    caller: usize,
    sp: usize,
    fp: usize,
    saved: &Saved,
) {
    let values = match session::gate(function) {
        Some(Gate::Open(method)) => session::values(method).map(|values| (method, values)),
        None if session::is_off() => return,
        None => None,
        // SAFETY: the caller's promises.
        Some(_) => return unsafe { enter(function, caller, sp, fp) },
    };
    let known = session::gate(function).is_some();
    if values.is_none() && known {
        // SAFETY: the caller's promises.
        return unsafe { enter(function, caller, sp, fp) };
    }
    let locals = locals();
    // SAFETY: as in `enter`.
    unsafe {
        if !begin_probe(locals, sp) {
            return;
        }
        match (usable(locals), values) {
            (Some(state), Some((method, values))) => {
                let at = state.shadow.at(sp, fp, caller);
                state.enter_with(function, method, at, (values, sp, saved));
            }
            _ => unknown(
                locals,
                ProbeCall {
                    function,
                    caller,
                    sp,
                    fp,
                },
                Some(saved),
            ),
        }
        end_probe(locals);
    }
}

/// As [`exit`], with the results of methods whose values are logged.
unsafe extern "C" fn exit_with_values(
    function: usize,
    caller: usize,
    sp: usize,
    fp: usize,
    saved: &Saved,
) {
    let values = match session::gate(function) {
        Some(Gate::Open(method) | Gate::Shut(method)) => session::values(method),
        _ => None,
    };
    // SAFETY: the caller's promises.
    unsafe {
        match values {
            None => exit(function, caller, sp, fp),
            Some(values) => leave_by(function, caller, sp, fp, |state, at| {
                state.exit_by(function, at, |state, frame, kind| {
                    state.leave_with(frame, kind, (values, sp, saved));
                });
            }),
        }
    }
}

unsafe extern "C" fn exit(function: usize, caller: usize, sp: usize, fp: usize) {
    // SAFETY: the caller's promises.
    unsafe {
        leave_by(function, caller, sp, fp, |state, at| {
            state.exit(function, at)
        });
    }
}

#[inline(always)]
unsafe fn leave_by(
    function: usize,
    caller: usize,
    sp: usize,
    fp: usize,
    leave: impl FnOnce(&mut State, At),
) {
    let locals = locals();
    // SAFETY: as in `enter`.
    unsafe {
        let state = (*locals).state;
        if state.is_null() || (*state).shadow.depth() == 0 {
            return;
        }
        match session::gate(function) {
            None | Some(Gate::None) => return,
            // It was shut while the function ran, or before: then the innermost call is nearly always that of another function.
            Some(Gate::Shut(_)) => {
                let top = (*state).shadow.top();
                if top.is_some_and(|top| top.function != function && top.at.place > sp) {
                    return;
                }
            }
            Some(Gate::Open(_)) => {}
        }
        if (*locals).busy != 0 && !was_abandoned(locals, sp) {
            return;
        }
        (*locals).busy = sp;
        compiler_fence(Ordering::SeqCst);
        if let Some(state) = usable(locals) {
            let at = state.shadow.at(sp, fp, caller);
            leave(state, at);
        }
        end_probe(locals);
    }
}

/// Marks the thread as being in a probe. `false` when it is already: a signal handler has interrupted it, and its calls are only
/// counted.
///
/// # Safety
/// `locals` are the calling thread's.
#[inline(always)]
unsafe fn begin_probe(locals: *mut ThreadLocals, sp: usize) -> bool {
    // SAFETY: the calling thread's own variables.
    unsafe {
        if (*locals).busy != 0 && !was_abandoned(locals, sp) {
            if let Some(state) = (*locals).state.as_ref() {
                state.missed.fetch_add(1, Ordering::Relaxed);
            }
            return false;
        }
        (*locals).busy = sp;
    }
    compiler_fence(Ordering::SeqCst);
    true
}

/// The thread leaves the probe.
///
/// # Safety
/// `locals` are the calling thread's.
#[inline(always)]
unsafe fn end_probe(locals: *mut ThreadLocals) {
    compiler_fence(Ordering::SeqCst);
    // SAFETY: the calling thread's own variables.
    unsafe { (*locals).busy = 0 };
}

/// Whether the probe that the thread was in is gone: a signal handler has jumped out of it, and the stack is no deeper than
/// it was there.
///
/// # Safety
/// `locals` are the calling thread's.
#[cold]
unsafe fn was_abandoned(locals: *mut ThreadLocals, sp: usize) -> bool {
    // SAFETY: the calling thread's own variables.
    unsafe {
        let Some(state) = (*locals).state.as_mut() else {
            return false;
        };
        let busy = (*locals).busy;
        if sp < busy || !state.shadow.is_own(sp) || !state.shadow.is_own(busy) {
            return false;
        }
        state.recover();
        true
    }
}

/// The thread is about to jump to a frame with this stack pointer: ends all calls below it, and the probe that it may be in.
pub(crate) fn jump(to: usize) {
    let locals = locals();
    // SAFETY: as in `enter`.
    unsafe {
        let Some(state) = usable(locals) else { return };
        let busy = (*locals).busy;
        if busy != 0 {
            let leaves = to > busy && state.shadow.is_own(to) && state.shadow.is_own(busy);
            if !leaves {
                // The jump stays within a signal handler, whose calls are not logged.
                return;
            }
            state.recover();
        }
        (*locals).busy = (&raw const locals).addr();
        compiler_fence(Ordering::SeqCst);
        let left = state.shadow.left_by_jump(to);
        state.drop_frames(left);
        end_probe(locals);
    }
}

/// The calling thread's state, if it belongs to this session.
///
/// # Safety
/// `locals` are the calling thread's, and no other reference to the state is used meanwhile.
#[inline(always)]
unsafe fn usable<'a>(locals: *mut ThreadLocals) -> Option<&'a mut State> {
    // SAFETY: the calling thread's own state, or null.
    let state = unsafe { (*locals).state.as_mut() }?;
    (state.session == session::number()).then_some(state)
}

/// A call of a probe: the function, where it returns to, and the registers of the call.
#[derive(Clone, Copy)]
struct ProbeCall {
    function: usize,
    caller: usize,
    sp: usize,
    fp: usize,
}

/// Handles the first call of a function or of a thread, or the first one in a forked child.
///
/// # Safety
/// `locals` are the calling thread's, which is in this probe; its return address is at `sp`.
#[cold]
unsafe fn unknown(locals: *mut ThreadLocals, call: ProbeCall, saved: Option<&Saved>) {
    let ProbeCall {
        function,
        caller,
        sp,
        fp,
    } = call;
    quietly(|| {
        if session::is_orphan() {
            session::forked(NamesAfterFork::Unknown);
        }
        let Some(agent) = session::begin(rehearse) else {
            return;
        };
        // SAFETY: the calling thread's own variables.
        unsafe {
            if usable(locals).is_none() {
                // In a forked child, it belongs to its parent's log.
                (*locals).state = std::ptr::null_mut();
                thread::begin(agent, &|| session::name_of(function));
            }
            if let Gate::Open(method) = session::look_up(agent, function)
                && let Some(state) = usable(locals)
            {
                let at = state.shadow.at(sp, fp, caller);
                match saved.zip(session::values(method)) {
                    Some((saved, values)) => {
                        state.enter_with(function, method, at, (values, sp, saved));
                    }
                    None => state.enter(function, method, at),
                }
            }
        }
    });
}

impl State {
    #[inline(always)]
    fn enter(&mut self, function: usize, method: u32, at: At) {
        self.enter_by(function, method, at, |state| {
            state.write(kind::ENTER, function, method);
        });
    }

    /// As [`Self::enter`], with the call's arguments.
    fn enter_with(&mut self, function: usize, method: u32, at: At, kept: Kept<'_>) {
        let (values, ..) = kept;
        let filter = session::get().map(|agent| &agent.filter);
        let Some(filter) = filter.filter(|_| values.has_arguments()) else {
            return self.enter(function, method, at);
        };
        let mut payload = PayloadBuffer::default().number(u64::from(method));
        self.probed(function, kept, |probed| {
            values.add_arguments(probed, usize::from(filter.most_values), &mut payload);
        });
        self.enter_by(function, method, at, |state| {
            let event = MethodEvent {
                kind: kind::ENTER,
                method,
                stamp: state.writer.stamp(),
            };
            state.write_with(event, (kind::ARGUMENTS, &payload));
        });
    }

    #[inline(always)]
    fn enter_by(&mut self, function: usize, method: u32, at: At, write: impl FnOnce(&mut State)) {
        self.take_missed();
        let stale = self.shadow.stale(&at);
        if stale > 0 {
            self.drop_frames(stale);
        }
        if self.shadow.depth() >= self.deepest {
            self.writer.skip();
            return;
        }
        if !self.shadow.has_room() {
            quietly(|| self.shadow.make_room());
        }
        let throws = self.throws();
        self.begin_write(kind::ENTER);
        self.shadow.push(Frame {
            at,
            function,
            method,
            throws,
        });
        write(self);
        self.end_write();
    }

    #[inline(always)]
    fn exit(&mut self, function: usize, at: At) {
        self.exit_by(function, at, |state, frame, kind| state.leave(frame, kind));
    }

    #[inline(always)]
    fn exit_by(&mut self, function: usize, at: At, leave: impl FnOnce(&mut State, &Frame, u8)) {
        // SAFETY: the part is between the thread's stack pointer and a frame that it has not left.
        let returns = |part: Range<usize>| unsafe {
            part.step_by(8)
                .any(|place| *(place as *const usize) == at.caller)
        };
        let Some(inside) = self.shadow.find(function, &at, returns) else {
            return;
        };
        if inside > 0 {
            self.drop_frames(inside);
        }
        if let Some(&frame) = self.shadow.top() {
            let kind = match self.throws() > frame.throws {
                true => kind::THROWN,
                false => kind::EXIT,
            };
            leave(self, &frame, kind);
        }
    }

    /// As [`Self::leave`], with the call's result.
    fn leave_with(&mut self, frame: &Frame, kind: u8, kept: Kept<'_>) {
        let stamp: Stamp = self.writer.stamp();
        let mut payload = PayloadBuffer::default().number(u64::from(frame.method));
        let mut has_result = false;
        if kind == kind::EXIT {
            self.probed(frame.function, kept, |probed| {
                has_result = kept.0.add_result(probed, &mut payload);
            });
        }
        if !has_result {
            return self.leave(frame, kind);
        }
        self.begin_write(kind);
        let event = MethodEvent {
            kind,
            method: frame.method,
            stamp,
        };
        self.write_with(event, (kind::RETURNED, &payload));
        self.shadow.pop();
        self.end_write();
    }

    /// Passes on what reading values needs to know of a call of a probe.
    fn probed(&self, function: usize, (_, sp, saved): Kept<'_>, what: impl FnOnce(&Probed<'_>)) {
        let longest = session::get().map_or(0, |agent| agent.filter.longest_text);
        what(&Probed {
            function,
            sp,
            saved,
            is_own: &|place| self.shadow.is_own(place),
            longest: usize::from(longest),
        });
    }

    /// Writes an event of a method with its values.
    fn write_with(&mut self, event: MethodEvent, values: (u8, &PayloadBuffer)) {
        let needed = values.1.as_bytes().len() + 3 * ROOM;
        let metering = self.metering;
        let roomy = self.writer.stream().room() >= needed;
        if roomy && (metering.is_none() || self.writer.meters().has_room()) {
            return self.writer.method_with(metering, event, values);
        }
        quietly(|| {
            self.writer.meters().make_room();
            self.writer.method_with(metering, event, values);
        });
        if session::get().is_some_and(|agent| agent.log.is_closed()) {
            session::turn_off();
        }
    }

    /// Ends the innermost call.
    #[inline(always)]
    fn leave(&mut self, frame: &Frame, kind: u8) {
        self.begin_write(kind);
        self.write(kind, frame.function, frame.method);
        self.shadow.pop();
        self.end_write();
    }

    /// Ends so many of the innermost calls, which something jumped out of.
    #[cold]
    pub(crate) fn drop_frames(&mut self, count: usize) {
        for _ in 0..count {
            if let Some(&frame) = self.shadow.top() {
                self.leave(&frame, kind::THROWN);
            }
        }
    }

    #[inline(always)]
    fn begin_write(&mut self, kind: u8) {
        self.pending.depth = self.shadow.depth();
        self.pending.position = self.writer.stream().position();
        compiler_fence(Ordering::SeqCst);
        self.pending.kind = kind;
        compiler_fence(Ordering::SeqCst);
    }

    #[inline(always)]
    fn end_write(&mut self) {
        compiler_fence(Ordering::SeqCst);
        self.pending.kind = 0;
        compiler_fence(Ordering::SeqCst);
    }

    /// A signal handler has jumped out of a probe: makes the shadow stack agree with the log.
    fn recover(&mut self) {
        let Pending {
            kind,
            depth,
            position,
        } = self.pending;
        let written = self.writer.stream().position() != position;
        match kind {
            0 => {}
            kind::ENTER if written => {}
            kind::ENTER => self.shadow.truncate(depth),
            _ if written => self.shadow.truncate(depth.saturating_sub(1)),
            _ => {}
        }
        self.pending.kind = 0;
    }

    #[inline(always)]
    fn write(&mut self, kind: u8, function: usize, method: u32) {
        if self.metering.is_none()
            && self.writer.stream().room() >= ROOM
            && self.writer.fast(kind, method)
        {
            return;
        }
        self.write_slowly(kind, function, method);
    }

    #[cold]
    fn write_slowly(&mut self, kind: u8, function: usize, method: u32) {
        let roomy = self.writer.stream().room() >= ROOM;
        match self.metering {
            None if roomy => {
                self.writer.method(kind, method);
            }
            None => {
                quietly(|| self.writer.method(kind, method));
                if session::get().is_some_and(|agent| agent.log.is_closed()) {
                    session::turn_off();
                }
            }
            Some(metering) if roomy && self.writer.meters().has_room() => {
                self.meter(metering, kind, function, method);
            }
            Some(metering) => quietly(|| {
                self.writer.meters().make_room();
                self.meter(metering, kind, function, method);
            }),
        }
    }

    fn meter(&mut self, metering: &Metering, kind: u8, function: usize, method: u32) {
        if self.writer.metered(metering, kind, method)
            && let Some(agent) = session::get()
        {
            quietly(|| session::shut(agent, function, method));
        }
    }
}

/// Its address stands for the function of the rehearsal.
extern "C" fn rehearsed() {}

/// Measures what probes cost, and a tick's length in nanoseconds. The thread is in a probe, and signals are blocked.
fn rehearse(agent: &'static session::Agent) -> (Costs, f64) {
    let function = rehearsed as *const () as usize;
    session::rehearse_function(function);
    let metering = agent.rule().map(|rule| {
        // It lives as long as the process, like those of sessions.
        &*Box::leak(Box::new(Metering::new(rule, Costs::default(), 1.0, 1)))
    });
    let locals = locals();
    costs::measure(&mut |writer| {
        let mut state = State::rehearsal(writer, metering);
        state.shadow.make_room();
        state.writer.meters().make_room();
        let state = Box::into_raw(Box::new(state));
        // SAFETY: the calling thread's own variables, which are restored afterwards.
        unsafe {
            let before = ((*locals).state, (*locals).busy);
            ((*locals).state, (*locals).busy) = (state, 0);
            for _ in 0..ROUND {
                __cyg_profile_func_enter(function, 0);
                __cyg_profile_func_exit(function, 0);
            }
            ((*locals).state, (*locals).busy) = before;
            if let Some(mine) = before.0.as_ref() {
                mine.writer.clock().reset();
            }
            Some(Box::from_raw(state).writer)
        }
    })
}
