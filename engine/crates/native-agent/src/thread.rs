//! What the agent keeps for each thread.

use std::arch::{asm, global_asm};
use std::ffi::c_void;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use fulcrum_agent_core::Writer;
use fulcrum_agent_core::metering::Metering;
use fulcrum_agent_core::shadow::ShadowStack;
use fulcrum_preload::life::ThreadEnd;
use fulcrum_preload::real;
use fulcrum_wire::log::{PayloadBuffer, kind};

use crate::quiet::quietly;
use crate::session::{self, Agent};

/// A thread's calls and its writer.
pub(crate) struct State {
    pub(crate) session: u32,
    pub(crate) number: u32,
    pub(crate) shadow: ShadowStack,
    pub(crate) writer: Writer,
    pub(crate) metering: Option<&'static Metering>,
    /// How many logged calls inside one another there may be.
    pub(crate) deepest: usize,
    /// Calls by signal handlers that interrupted a probe of this thread.
    pub(crate) missed: AtomicU64,
    /// The event that is being written. A signal handler may jump out of that.
    pub(crate) pending: Pending,
    /// Where the C++ library counts the thread's uncaught exceptions.
    throws: *const u32,
}

/// An event that is being written.
#[derive(Clone, Copy, Default)]
pub(crate) struct Pending {
    /// 0 when none is being written.
    pub(crate) kind: u8,
    /// The depth of calls before it.
    pub(crate) depth: usize,
    /// The stream's position before it.
    pub(crate) position: u64,
}

// Thread-local variables. The library is loaded with the program, so they are at fixed places in each thread: reaching them
// takes two instructions and never calls the loader, which allocates.
global_asm!(
    ".pushsection .tbss.fulcrum_native,\"awT\",@nobits",
    ".balign 8",
    ".globl fulcrum_native_words",
    ".hidden fulcrum_native_words",
    ".type fulcrum_native_words,@object",
    ".size fulcrum_native_words,32",
    "fulcrum_native_words:",
    ".zero 32",
    ".popsection",
);

/// A thread's own variables.
#[repr(C)]
pub(crate) struct ThreadLocals {
    /// Owned; null before the first event, and again when the thread has ended.
    pub(crate) state: *mut State,
    /// The stack pointer of the probe that the thread is in; 0 when it is in none.
    pub(crate) busy: usize,
    /// The number of the thread that created this one.
    pub(crate) parent: u64,
    /// When it started, ticks; 0 when that was not observed.
    pub(crate) began: u64,
}

/// The calling thread's variables, for its own use only.
#[inline(always)]
pub(crate) fn locals() -> *mut ThreadLocals {
    let locals: *mut ThreadLocals;
    // SAFETY: the initial-exec model of x86-64 Linux.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + fulcrum_native_words@gottpoff]",
            "add {0}, qword ptr fs:[0]",
            out(reg) locals,
            options(nostack, readonly, pure),
        );
    }
    locals
}

/// The count of exceptions where there is no C++ library.
static NO_THROWS: u32 = 0;

impl State {
    fn new(agent: &Agent, number: u32) -> State {
        State {
            session: agent.session,
            number,
            shadow: ShadowStack::new(stack()),
            // The shadow stack limits the depth.
            writer: Writer::new(agent.log.stream(number), u32::MAX),
            metering: agent.metering(),
            deepest: agent.filter.depth as usize,
            missed: AtomicU64::new(0),
            pending: Pending::default(),
            throws: uncaught(),
        }
    }

    /// A state that writes into another log, to measure what that costs.
    pub(crate) fn rehearsal(writer: Writer, metering: Option<&'static Metering>) -> State {
        State {
            deepest: writer.deepest() as usize,
            session: session::number(),
            number: 0,
            shadow: ShadowStack::new(stack()),
            writer,
            metering,
            missed: AtomicU64::new(0),
            pending: Pending::default(),
            throws: &raw const NO_THROWS,
        }
    }

    /// How many exceptions are thrown and not caught yet.
    #[inline(always)]
    pub(crate) fn throws(&self) -> u32 {
        // SAFETY: the C++ library's own count for this thread, which lives as long as that, or a constant.
        unsafe { self.throws.read_volatile() }
    }

    /// Counts calls by signal handlers that were missed as not logged.
    #[inline(always)]
    pub(crate) fn take_missed(&mut self) {
        if self.missed.load(Ordering::Relaxed) > 0 {
            for _ in 0..self.missed.swap(0, Ordering::Relaxed) {
                self.writer.skip();
            }
        }
    }
}

/// The thread's own stack; empty when it is not known.
fn stack() -> Range<usize> {
    // SAFETY: plain data, for which zeros are a value; the places are ours.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) != 0 {
            return 0..0;
        }
        let (mut start, mut size) = (std::ptr::null_mut(), 0);
        let failed =
            libc::pthread_attr_getstack(&raw const attributes, &raw mut start, &raw mut size);
        libc::pthread_attr_destroy(&raw mut attributes);
        match failed {
            0 => start.addr()..start.addr() + size,
            _ => 0..0,
        }
    }
}

/// Where the C++ library counts the thread's uncaught exceptions (Itanium ABI §2.2.2: `__cxa_eh_globals`).
fn uncaught() -> *const u32 {
    let Some(get) = real::find(c"__cxa_get_globals") else {
        return &raw const NO_THROWS;
    };
    // SAFETY: the function takes nothing and gives the thread's structure, whose second field that is.
    unsafe {
        let get: unsafe extern "C" fn() -> *const u32 = std::mem::transmute(get);
        let globals = get();
        match globals.is_null() {
            true => &raw const NO_THROWS,
            false => globals.add(2),
        }
    }
}

/// Creates the calling thread's state. `first` names the first function that it calls.
pub(crate) fn begin(agent: &'static Agent, first: &dyn Fn() -> String) {
    let number = agent.next_thread();
    let mut state = Box::new(State::new(agent, number));
    let locals = locals();
    // SAFETY: the calling thread's own.
    let (parent, began) = unsafe { ((*locals).parent, (*locals).began) };
    let payload = PayloadBuffer::default()
        .number(parent)
        .number(0)
        .text(&name(first))
        .text("");
    let began = if began == 0 { u64::MAX } else { began };
    state.writer.begins(began.max(agent.began), &payload);
    state.shadow.make_room();
    state.writer.meters().make_room();
    // SAFETY: the calling thread's own.
    unsafe { (*locals).state = Box::into_raw(state) };
    at_thread_end();
}

/// The thread's name: `main`, the name that the program gave it, or that of the first function that it calls.
fn name(first: &dyn Fn() -> String) -> String {
    // SAFETY: the buffer is ours and longer than names are; the name of the program is libc's, set before it starts.
    unsafe {
        if libc::gettid() == libc::getpid() {
            return "main".into();
        }
        let mut name = [0_u8; 32];
        libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr());
        let end = name.iter().position(|it| *it == 0).unwrap_or(0);
        let name = String::from_utf8_lossy(&name[..end]).into_owned();
        let program = std::ffi::CStr::from_ptr(program_invocation_short_name).to_string_lossy();
        let unnamed =
            program.as_bytes().starts_with(name.as_bytes()) && name.len() >= program.len().min(15);
        match unnamed || name.is_empty() {
            true => first(),
            false => name,
        }
    }
}

unsafe extern "C" {
    static program_invocation_short_name: *const libc::c_char;
}

/// Ends the calling thread's state.
pub(crate) fn end() {
    let locals = locals();
    // SAFETY: the calling thread's own; whoever takes the pointer owns the state.
    let state = unsafe { std::mem::replace(&mut (*locals).state, std::ptr::null_mut()) };
    if state.is_null() {
        return;
    }
    // SAFETY: `begin` made it.
    let mut state = unsafe { Box::from_raw(state) };
    if state.session != session::number() {
        // In a forked child, whose parent owns the streams.
        std::mem::forget(state);
        return;
    }
    state.take_missed();
    state.drop_frames(state.shadow.depth());
    state
        .writer
        .event(kind::THREAD_END, &PayloadBuffer::default());
}

static THREAD_END: ThreadEnd = ThreadEnd::new();

/// To be called before any thread has a state.
pub(crate) fn prepare() {
    // SAFETY: threads end with numbers; the handler lives as long as the process.
    unsafe { THREAD_END.prepare(end_of_thread) };
}

/// Has the calling thread's state end with it.
fn at_thread_end() {
    set_rounds(1);
}

fn set_rounds(rounds: usize) {
    THREAD_END.set(std::ptr::without_provenance(rounds));
}

/// Called at a thread's end. Other libraries' handlers may call instrumented functions, so ours must be the last.
unsafe extern "C" fn end_of_thread(rounds: *mut c_void) {
    const LAST: usize = 4;
    match rounds.addr() {
        LAST.. => quietly(|| probe(end)),
        rounds => set_rounds(rounds + 1),
    }
}

/// Does something as if in a probe: calls meanwhile are not observed.
pub(crate) fn probe(what: impl FnOnce()) {
    let locals = locals();
    // SAFETY: the calling thread's own.
    unsafe {
        let before = (*locals).busy;
        (*locals).busy = usize::MAX;
        what();
        (*locals).busy = before;
    }
}

type Routine = extern "C-unwind" fn(*mut c_void) -> *mut c_void;

struct Start {
    routine: Routine,
    argument: *mut c_void,
    parent: u64,
}

/// `pthread_create(3)`: the new thread knows which thread created it, and when it started.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn pthread_create(
    id: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    routine: Routine,
    argument: *mut c_void,
) -> libc::c_int {
    let real = real!(pthread_create: fn(*mut libc::pthread_t, *const libc::pthread_attr_t, Routine, *mut c_void) -> libc::c_int);
    if session::number() == 0 {
        // SAFETY: passes the program's arguments on.
        return unsafe { real(id, attributes, routine, argument) };
    }
    // SAFETY: the calling thread's own state, or null.
    let parent = unsafe { (*locals()).state.as_ref() }.map_or(0, |it| u64::from(it.number));
    let start = quietly(|| {
        let start = Start {
            routine,
            argument,
            parent,
        };
        Some(Box::into_raw(Box::new(start)))
    });
    let Some(start) = start else {
        // SAFETY: passes the program's arguments on.
        return unsafe { real(id, attributes, routine, argument) };
    };
    // SAFETY: passes the program's arguments on, its routine inside the box; which is ours again when there is no thread.
    unsafe {
        let failed = real(id, attributes, begins, start.cast());
        if failed != 0 {
            quietly(|| drop(Box::from_raw(start)));
        }
        failed
    }
}

extern "C-unwind" fn begins(start: *mut c_void) -> *mut c_void {
    let start = quietly(|| {
        // SAFETY: the box that `pthread_create` made for this thread.
        let start = unsafe { Box::from_raw(start.cast::<Start>()) };
        let locals = locals();
        // SAFETY: the calling thread's own.
        unsafe {
            (*locals).parent = start.parent;
            (*locals).began = fulcrum_agent_core::clock::now().ticks;
        }
        Some((start.routine, start.argument))
    });
    let Some((routine, argument)) = start else {
        return std::ptr::null_mut();
    };
    routine(argument)
}
