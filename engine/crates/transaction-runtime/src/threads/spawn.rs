//! Threads that the program creates.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

use fulcrum_preload::{real, sys};
use fulcrum_wire::transactions::Record;
use libc::{pthread_attr_t, pthread_t};

use super::thread::{self, Routine, Thread};
use crate::active;
use crate::hooks::frame::{Frame, hooks};

/// The stack size of a new thread in bytes, or 0 if unknown.
unsafe fn stack_size(attributes: *const pthread_attr_t) -> u64 {
    let mut size = 0;
    // SAFETY: reads the program's attributes, or fresh ones that are initialised first.
    unsafe {
        if attributes.is_null() {
            let mut defaults: pthread_attr_t = core::mem::zeroed();
            if libc::pthread_attr_init(&raw mut defaults) == 0 {
                libc::pthread_attr_getstacksize(&raw const defaults, &raw mut size);
                libc::pthread_attr_destroy(&raw mut defaults);
            }
        } else {
            libc::pthread_attr_getstacksize(attributes, &raw mut size);
        }
    }
    size as u64
}

/// Creates a thread with `make`, which gets the thread's function and argument. 0 means success.
fn made(
    frame: &Frame,
    (routine, argument, stack_size): (Routine, *mut c_void, u64),
    make: impl FnOnce(Routine, *mut c_void) -> c_int,
) -> c_int {
    let slot = slot();
    let Some(slot) = slot else {
        return make(routine, argument);
    };
    slot.set_routine(routine, argument, stack_size);
    // The new thread may be the first to write.
    let (number, began) = (slot.number(), sys::now());
    let result = make(thread::start, core::ptr::from_ref(slot).cast_mut().cast());
    if result != 0 {
        thread::release(slot);
        return result;
    }
    if let Some(inside) = thread::enter() {
        inside.write_at(began, inside.path(frame), &Record::Spawn { thread: number });
    }
    result
}

fn slot() -> Option<&'static Thread> {
    if !active::is_active() {
        return None;
    }
    let inside = thread::enter()?;
    let slot = thread::allocate(inside.thread().number());
    if slot.is_none() && !NOTED.swap(true, Ordering::Relaxed) {
        inside.write(0, &Record::Note(TOO_MANY.as_bytes()));
    }
    slot
}

/// Whether the note was written, once in a process.
static NOTED: AtomicBool = AtomicBool::new(false);
const TOO_MANY: &str = "More than 4096 threads ran at once: the work of further ones is missing.";
const _: () = assert!(thread::SLOTS == 4096, "the note says so");

unsafe extern "C-unwind" fn pthread_create(
    id: *mut pthread_t,
    attributes: *const pthread_attr_t,
    routine: Routine,
    argument: *mut c_void,
    frame: &Frame,
) -> c_int {
    type Create = unsafe extern "C-unwind" fn(
        *mut pthread_t,
        *const pthread_attr_t,
        Routine,
        *mut c_void,
    ) -> c_int;
    let real: Create = real!(pthread_create: fn(*mut pthread_t, *const pthread_attr_t, Routine, *mut c_void) -> c_int);
    // SAFETY: the program's attributes, valid or null by the function's contract.
    let size = unsafe { stack_size(attributes) };
    // SAFETY: passes on the program's arguments, with its routine in the slot.
    made(
        frame,
        (routine, argument, size),
        |routine, argument| unsafe { real(id, attributes, routine, argument) },
    )
}

type Start = unsafe extern "C" fn(*mut c_void) -> c_int;

/// The C11 function, which is a symbol of its own in glibc and does not go through that of `pthread`.
unsafe extern "C-unwind" fn thrd_create(
    id: *mut c_void,
    routine: Start,
    argument: *mut c_void,
    frame: &Frame,
) -> c_int {
    // SAFETY: an `int` result is in the low half of the register that a pointer is returned in, and `thread::start` passes
    // on that register.
    unsafe {
        let routine = core::mem::transmute::<Start, Routine>(routine);
        let size = stack_size(core::ptr::null());
        made(frame, (routine, argument, size), |routine, argument| {
            let start = core::mem::transmute::<Routine, Start>(routine);
            real!(thrd_create: fn(*mut c_void, Start, *mut c_void) -> c_int)(id, start, argument)
        })
    }
}

hooks! {
    pthread_create => pthread_create, "r8";
    thrd_create => thrd_create, "rcx";
}
