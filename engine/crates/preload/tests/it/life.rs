//! Ends of threads, forks, and values that are replaced.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use fulcrum_preload::kept::Kept;
use fulcrum_preload::life::{OwnWord, ThreadEnd};

#[test]
fn a_thread_ends_with_its_value_and_again_when_it_asks() {
    static END: ThreadEnd = ThreadEnd::new();
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" fn end(value: *mut c_void) {
        SEEN.fetch_add(value.addr(), Ordering::Relaxed);
        if value.addr() < 10 {
            END.set(std::ptr::without_provenance(10 * value.addr()));
        }
    }
    let thread = |value: usize| {
        let thread = std::thread::spawn(move || END.set(std::ptr::without_provenance(value)));
        thread.join().expect("it ends");
    };
    thread(1000);
    assert_eq!(SEEN.load(Ordering::Relaxed), 0, "nothing is prepared");
    // SAFETY: `end` takes any number.
    unsafe { END.prepare(end) };
    thread(3);
    assert_eq!(SEEN.load(Ordering::Relaxed), 33);
}

#[test]
fn a_forked_child_finds_nothing_of_its_parents() {
    static UNPREPARED: AtomicU32 = AtomicU32::new(0);
    static WORD: OwnWord = OwnWord::new(&UNPREPARED);
    assert_eq!(WORD.word().load(Ordering::Relaxed), 0);
    WORD.prepare().expect("a page");
    WORD.word().store(7, Ordering::Relaxed);
    assert_eq!(UNPREPARED.load(Ordering::Relaxed), 0);
    // SAFETY: the child, which no handler sees, makes no call but the one that ends it.
    let status = unsafe {
        let child = libc::syscall(libc::SYS_fork);
        if child == 0 {
            libc::_exit(WORD.word().load(Ordering::Relaxed) as i32);
        }
        let mut status = 0;
        assert_eq!(
            i64::from(libc::waitpid(child as i32, &raw mut status, 0)),
            child
        );
        status
    };
    assert!(libc::WIFEXITED(status));
    assert_eq!(libc::WEXITSTATUS(status), 0);
    assert_eq!(WORD.word().load(Ordering::Relaxed), 7);
}

#[test]
fn the_newest_value_is_found_until_it_is_cleared() {
    static VALUE: Kept<String> = Kept::new();
    assert_eq!(VALUE.get(), None);
    VALUE.set(Box::leak(Box::new("one".to_owned())));
    let one = VALUE.get();
    VALUE.set(Box::leak(Box::new("two".to_owned())));
    assert_eq!(one.map(String::as_str), Some("one"));
    assert_eq!(VALUE.get().map(String::as_str), Some("two"));
    VALUE.clear();
    assert_eq!(VALUE.get(), None);
}
