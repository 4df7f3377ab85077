//! io_uring: what is submitted is not followed, but counted, so that a reader knows.

use core::sync::atomic::Ordering;

use fulcrum_wire::transactions::word;

use crate::libraries::call::{Call, exports};
use crate::libraries::resolve::{Behind, Library};
use crate::{active, log};

static LIBRARY: Library = Library {
    marks: &[c"io_uring_submit", c"io_uring_get_probe"],
    fits: |_| true,
};

/// So many operations were submitted; negative: an error.
pub(crate) fn submitted(count: i64) {
    if let Ok(count) = u64::try_from(count)
        && count > 0
        && active::is_active()
    {
        log::header(word::UNSEEN_OPERATIONS).fetch_add(count, Ordering::Relaxed);
    }
}

/// A call that returns how many were.
fn submits(call: &mut Call, behind: Behind) -> usize {
    type Submit = unsafe extern "C-unwind" fn(u64, u64, u64, u64, u64) -> i32;
    let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|at| call.argument(at));
    // SAFETY: passes the program's arguments on, and more than the function may have, which it does not look at.
    let count = unsafe { behind.function::<Submit>()(a, b, c, d, e) };
    submitted(i64::from(count));
    call.answer(count as u64)
}

exports! {
    LIBRARY;
    io_uring_submit => submits;
    io_uring_submit_and_wait => submits;
    io_uring_submit_and_wait_timeout => submits;
    io_uring_submit_and_get_events => submits;
}
