//! Flow through shared memory (Whodunit §3, §7.2). Critical sections run out of line, and the library logs when a thread
//! consumes what another one produced.

use core::ffi::c_int;
use core::mem;
use core::ops::Range;
use core::sync::atomic::{AtomicU32, Ordering};

use fulcrum_critical_sections::{
    Captured, Functions, Limits, Observer, Registers as AllRegisters, Scope, Translated,
    Unavailable, Wish, code_around, flows_under, wake,
};
use fulcrum_preload::quiet::Shared;
use fulcrum_shared_memory::{
    self as memory, CodeAddress, Consumption, Effect, FlowDetector, Learning, LockId, Mode,
    Reaction, Role, Synopsis, ThreadId,
};
use fulcrum_wire::transactions::Record;

use super::{copies, pool, watch};
use crate::call_paths::modules;
use crate::hooks::frame::Called;
use crate::threads::thread::{self, Inside, Thread};
use crate::{active, session, windows};

/// The detector of this process. Its contexts are items: numbers of [`Record::Produce`].
static DETECTOR: Shared<Option<FlowDetector>> = Shared::new(None);
/// The last item of the process.
static LAST_ITEM: AtomicU32 = AtomicU32::new(0);
/// The detector's count of sites with flow when threads were last told to ask again.
static WOKEN: AtomicU32 = AtomicU32::new(0);

/// Starts to watch sections, if the session asks for it. `native` are hooks that run unchanged, `later` those that signal a condition
/// or begin by releasing a lock, `last` those that return twice.
pub(crate) fn begin(
    native: impl Iterator<Item = u64>,
    later: &[u64],
    last: impl Iterator<Item = u64>,
) {
    if !session::session().is_some_and(session::Session::watches_memory) {
        return;
    }
    *DETECTOR.lock() = Some(detector());
    let native: Vec<u64> = native.collect();
    let last: Vec<u64> = last.collect();
    let functions = Functions {
        native: &native,
        later,
        last: &last,
        own: code_around(end_thread as *const () as usize as u64),
    };
    match fulcrum_critical_sections::begin(&Sections, Limits::default(), functions) {
        Ok(()) => {
            copies::begin();
            watch::turn_on();
        }
        Err(why) => say(match why {
            Unavailable::NoCodeMemory => NO_CODE_MEMORY,
            Unavailable::ShadowStack => SHADOW_STACK,
            Unavailable::Begun => return,
        }),
    }
}

const NO_CODE_MEMORY: &str = "Flow through shared memory was not seen: the system allows no memory that is writable and \
     executable.";
const SHADOW_STACK: &str =
    "Flow through shared memory was not recorded: the program has a shadow stack.";

fn say(what: &str) {
    if let Some(inside) = thread::enter() {
        inside.write(0, &Record::Note(what.as_bytes()));
    }
}

fn detector() -> FlowDetector {
    FlowDetector::with_limits(memory::Limits {
        // Each item is a context of its own; the engine counts them.
        pairs: 0,
        // In sections that threads ask about: usually one in 256.
        learning: Learning {
            first_rest: 32,
            longest_rest: 1 << 17,
            ..Learning::default()
        },
        ..memory::Limits::default()
    })
}

/// The calling thread, if its sections are watched.
#[inline]
fn watched() -> Option<&'static Thread> {
    if !watch::is_on() || !active::is_active() {
        return None;
    }
    thread::current().filter(|it| !it.is_vforked())
}

/// The same in windows: no section begins to be watched in a pause, though one may end there.
#[inline]
fn watched_now() -> Option<&'static Thread> {
    match windows::is_open() {
        true => watched(),
        false => None,
    }
}

/// The calling thread has taken a lock and would now return `result`. Does not return if the section is watched, so no
/// frame up to the hook's caller may have anything to drop.
///
/// # Safety
/// `captured` belongs to the hook that makes this call.
#[inline]
pub(crate) unsafe fn taken(captured: &Captured, lock: u64, result: c_int) {
    if let Some(thread) = watched_now() {
        thread.watch.site.set(Called::caller(captured));
        // SAFETY: this function has the same contract.
        unsafe { fulcrum_critical_sections::lock_taken(captured, lock, result as u64) };
    }
}

/// The calling thread is about to release a lock, or to wait for a condition with it.
#[inline]
pub(crate) fn giving_back(lock: u64) {
    if watched().is_some() {
        fulcrum_critical_sections::unlocking(lock);
    }
}

/// A thread ends.
pub(crate) fn end_thread(thread: &Thread) {
    if !watch::is_on() {
        return;
    }
    if thread.watch.is_known.get() {
        let _ = with(thread, FlowDetector::end_thread);
    }
    thread.watch.begin();
    fulcrum_critical_sections::end_thread();
}

/// In a forked child, which starts with nothing: abandons what other threads were doing.
pub(crate) fn begin_again() {
    if !watch::is_on() {
        return;
    }
    pool::after_fork();
    copies::begin_again();
    WOKEN.store(0, Ordering::Relaxed);
    watch::has_missed();
    // SAFETY: in a forked child, no other thread has it.
    unsafe { DETECTOR.raw() }.free();
    let before = DETECTOR.lock().replace(detector());
    mem::forget(before);
    fulcrum_critical_sections::after_fork();
}

/// Works with the detector. Returns `None` if a jump out of a handler has left it locked. The detector has then missed some
/// of the thread's actions, and starts anew with the thread next time.
fn with<T>(thread: &Thread, what: impl FnOnce(&mut FlowDetector, ThreadId) -> T) -> Option<T> {
    let watch = &thread.watch;
    let Some(mut detector) = DETECTOR.lock_unless_left() else {
        watch.is_lost.set(true);
        return None;
    };
    let detector = detector.as_mut()?;
    if watch::has_missed() {
        detector.forget_memory();
    }
    let id = ThreadId(thread.number());
    if watch.is_lost.replace(false) {
        detector.end_thread(id);
        watch.is_known.set(false);
    }
    if !watch.is_known.replace(true) {
        detector.begin_thread(id, stack(thread));
    }
    Some(what(detector, id))
}

/// A thread's stack. If others created the thread, assumes that it is around the stack pointer.
fn stack(thread: &Thread) -> Range<u64> {
    const BELOW: u64 = 1 << 20;
    const ABOVE: u64 = 64 << 10;
    let stack = thread.stack();
    let here = thread.watch.site.get().rsp;
    match stack.has(here) {
        true => stack.low..stack.high,
        false => here.saturating_sub(BELOW)..here.saturating_add(ABOVE),
    }
}

/// The observer of sections.
struct Sections;

impl Observer for Sections {
    fn entered(&self, lock: u64, site: u64, is_followed: bool) -> Wish {
        let Some(thread) = watched_now() else {
            return Wish::Native(Scope::Lock);
        };
        thread.may_record();
        let enter = |it: &mut FlowDetector, id| {
            if !is_followed {
                it.missed(id);
            }
            wish(it, id, lock, site)
        };
        let wish = with(thread, enter).unwrap_or(Wish::Native(Scope::Lock));
        if wish == Wish::Watched {
            find_path(thread);
        }
        wish
    }

    fn expected(&self, _: u64, _: u64) -> bool {
        watched_now().is_some_and(find_path)
    }

    fn passed(&self, lock: u64, site: u64, effects: &[(CodeAddress, Effect)]) -> (Wish, Mode) {
        let Some(inside) = watched_now().and_then(|_| thread::enter()) else {
            return (Wish::Native(Scope::Lock), Mode::Native);
        };
        let path = inside.thread().watch.path.get();
        let both = with(inside.thread(), |detector, id| {
            detector.missed(id);
            let wish = wish(detector, id, lock, site);
            let context = |role| item(&inside, path, role);
            let reaction = detector.leave(id, LockId(lock), effects, context);
            (wish, react(&inside, detector, reaction))
        });
        both.unwrap_or((Wish::Native(Scope::Lock), Mode::Native))
    }

    fn left(&self, lock: u64, effects: &[(CodeAddress, Effect)]) -> Mode {
        let Some(thread) = watched() else {
            return Mode::Native;
        };
        let Some(inside) = thread::enter() else {
            let leave =
                |it: &mut FlowDetector, id| it.leave(id, LockId(lock), &[], |_| Synopsis::EMPTY);
            return with(thread, leave).map_or(Mode::Native, Reaction::mode);
        };
        let path = inside.thread().watch.path.get();
        let mode = with(inside.thread(), |detector, id| {
            let context = |role| item(&inside, path, role);
            let reaction = detector.leave(id, LockId(lock), effects, context);
            react(&inside, detector, reaction)
        });
        mode.unwrap_or(Mode::Native)
    }

    fn effects(&self, _: &AllRegisters, effects: &[(CodeAddress, Effect)]) -> Mode {
        let Some(inside) = watched().and_then(|_| thread::enter()) else {
            return Mode::Native;
        };
        let thread = inside.thread();
        let path = thread.watch.path.get();
        let mode = with(thread, |detector, id| {
            let reaction = detector.effects(id, effects, |role| item(&inside, path, role));
            react(&inside, detector, reaction)
        });
        mode.unwrap_or(Mode::Native)
    }

    fn translated(&self, copy: &Translated<'_>) {
        copies::add(copy);
    }
}

/// Finds the call path of a section that begins. By the time something flows, the function that took the lock may have returned.
fn find_path(thread: &Thread) -> bool {
    let path = thread::enter().map(|it| it.path_at(thread.watch.site.get()));
    thread.watch.path.set(path.unwrap_or(0));
    path.is_some()
}

/// Logs what came to the thread.
fn react(inside: &Inside, detector: &mut FlowDetector, reaction: Reaction) -> Mode {
    if let Reaction::Consumed(it, _) = reaction {
        let (item, list) = (it.from.number().into(), it.list.number());
        let path = inside.thread().watch.path.get();
        inside.write(path, &Record::Consume { item, list });
        tell_threads(detector, &it);
    }
    while let Some(list) = detector.take_demoted() {
        let list = list.number();
        inside.write(0, &Record::Demote { list });
    }
    reaction.mode()
}

/// What the detector wants to know about a section that begins.
fn wish(detector: &mut FlowDetector, id: ThreadId, lock: u64, site: u64) -> Wish {
    // Flow through a virtual machine's own locks belongs to no request, and the replay ignores it.
    if modules::is_of_machine(site) && !detector.holds_a_lock(id) {
        return Wish::Native(Scope::Site);
    }
    let at = CodeAddress(site);
    match detector.enter(id, LockId(lock), at) {
        Mode::Watched => Wish::Watched,
        Mode::Native if detector.tells_locks_apart(at) => Wish::Native(Scope::Lock),
        Mode::Native => Wish::Native(Scope::Site),
    }
}

/// Something has flowed, so what threads know about resting sites may be obsolete.
fn tell_threads(detector: &FlowDetector, consumption: &Consumption) {
    flows_under(consumption.lock.0);
    let woken = detector.woken();
    if WOKEN.swap(woken, Ordering::Relaxed) != woken {
        wake();
    }
}

/// A new item, which the detector treats as a producer's context. A consumer's does not matter.
fn item(inside: &Inside, path: u32, role: Role) -> Synopsis {
    match role {
        Role::Producer => {
            let number = LAST_ITEM.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
            let item = u64::from(number);
            inside.write(path, &Record::Produce { item });
            Synopsis::from_number(number)
        }
        Role::Consumer => Synopsis::EMPTY,
    }
}
