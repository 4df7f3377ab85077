//! Sections of our own code, and locks.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

use fulcrum_preload::quiet::{Section, Shared, uninterrupted};
use fulcrum_preload::sys::KeepErrno;

#[test]
fn signals_wait_until_the_section_is_over() {
    static HANDLED: AtomicU32 = AtomicU32::new(0);
    extern "C" fn handler(_: libc::c_int) {
        HANDLED.fetch_add(1, Ordering::Relaxed);
    }
    let send = || {
        // SAFETY: a plain call.
        unsafe { libc::raise(libc::SIGUSR2) };
        HANDLED.load(Ordering::Relaxed)
    };
    let handler: extern "C" fn(libc::c_int) = handler;
    // SAFETY: the handler only counts.
    unsafe { libc::signal(libc::SIGUSR2, handler as libc::sighandler_t) };
    assert_eq!(uninterrupted(send), 0);
    assert_eq!(HANDLED.load(Ordering::Relaxed), 1);
    assert_eq!(send(), 2);
}

#[test]
fn what_a_handler_wants_in_the_middle_is_done_at_the_end() {
    let section = Section::new();
    let done = Cell::new(0);
    let again = || done.set(done.get() + 1);
    assert!(section.enter());
    section.leave(again);
    assert_eq!(done.get(), 0);
    assert!(section.enter());
    assert!(!section.enter());
    assert!(!section.enter());
    section.leave(again);
    assert_eq!(done.get(), 1);
    assert!(section.enter());
    section.reset();
    assert!(section.enter());
}

#[test]
fn one_thread_at_a_time_has_what_is_shared() {
    static COUNT: Shared<u32> = Shared::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..1000 {
                    *COUNT.lock() += 1;
                }
            });
        }
    });
    let count = COUNT.lock();
    assert_eq!(*count, 4000);
    assert!(COUNT.try_lock().is_none());
    drop(count);
    // SAFETY: taken and freed here, and nobody has the value.
    let lock = unsafe { COUNT.raw() };
    lock.take();
    assert!(COUNT.try_lock().is_none());
    lock.free();
    assert!(COUNT.try_lock().is_some());
}

#[test]
fn errno_stays_the_programs() {
    // SAFETY: the calling thread's errno.
    let errno = || unsafe { &mut *libc::__errno_location() };
    *errno() = libc::EDOM;
    let kept = KeepErrno::new();
    *errno() = libc::EBADF;
    drop(kept);
    assert_eq!(*errno(), libc::EDOM);
}

#[test]
fn what_was_left_locked_is_given_up_and_used_again_when_it_is_freed() {
    let shared = Shared::new(1);
    std::mem::forget(shared.lock());
    // The first waits, the second does not.
    assert!(shared.lock_unless_left().is_none());
    assert!(shared.lock_unless_left().is_none());
    // SAFETY: the guard was forgotten.
    unsafe { shared.raw() }.free();
    assert_eq!(shared.lock_unless_left().map(|it| *it), Some(1));
}

#[test]
fn whoever_still_has_it_is_waited_for() {
    let shared = Shared::new(0);
    let asks = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        let mut guard = shared.lock();
        let asking = scope.spawn(|| {
            asks.wait();
            shared.lock_unless_left().map(|it| *it)
        });
        asks.wait();
        *guard = 1;
        drop(guard);
        assert_eq!(asking.join().unwrap(), Some(1));
    });
}
