//! Our descriptors have high numbers, and look closed to the program.

use std::fs::File;
use std::os::fd::IntoRawFd;

use fulcrum_preload::descriptors::{apart, close, close_between, is_ours, out_of_the_way, protect};

fn open() -> i32 {
    File::open("/dev/null").expect("a file").into_raw_fd()
}

fn is_open(fd: i32) -> bool {
    // SAFETY: a plain call.
    unsafe { libc::fcntl(fd, libc::F_GETFD) >= 0 }
}

#[test]
fn ours_are_high_and_survive_who_closes_everything() {
    let theirs = open();
    let moved = out_of_the_way(open());
    assert!(moved > theirs + 100, "{moved}");
    assert!(!is_ours(moved));
    let (one, other) = (protect(open()), protect(open()));
    assert!(is_ours(one) && is_ours(other) && !is_ours(theirs) && !is_ours(-1));
    let closed = theirs.min(one) as u32;
    // SAFETY: nothing of this process needs what is above.
    assert_eq!(unsafe { close_between(closed, u32::MAX, 0) }, 0);
    assert!(is_open(one) && is_open(other));
    assert!(!is_open(theirs) && !is_open(moved));
    // SAFETY: no kernel knows these flags: nothing is closed.
    assert_eq!(unsafe { close_between(7, 7, -1) }, -1);
    close(one);
    assert!(!is_open(one) && !is_ours(one));
    assert!(is_open(other));
}

#[test]
fn work_apart_opens_what_nobody_sees() {
    let stdout = 1;
    // SAFETY: plain calls; the path is a C string. What they open is closed with the thread.
    let (thread, seen, fd) = apart(|| unsafe {
        let fd = libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY);
        Some((libc::gettid(), is_open(stdout), fd))
    })
    .expect("the result");
    // SAFETY: a plain call.
    assert_ne!(thread, unsafe { libc::gettid() });
    assert!(!seen, "it has none of ours");
    assert_eq!(fd, 0, "it begins with none");
    assert!(is_open(stdout), "ours stay open");
    assert_eq!(apart(|| None::<()>), None);
}
