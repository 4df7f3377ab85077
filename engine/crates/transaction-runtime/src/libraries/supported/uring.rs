//! io_uring: submitted operations are not followed, but counted and reported.

use core::sync::atomic::Ordering;

use fulcrum_wire::transactions::word;

use crate::libraries::call::{Call, exports};
use crate::libraries::resolve::{Behind, Library};
use crate::{active, log};

static LIBRARY: Library = Library {
    marks: &[c"io_uring_submit", c"io_uring_get_probe"],
    fits: |_| true,
};

/// This many operations were submitted, or an error occurred if it is negative.
pub(crate) fn submitted(count: i64) {
    if let Ok(count) = u64::try_from(count)
        && count > 0
        && active::is_active()
    {
        log::header(word::UNSEEN_OPERATIONS).fetch_add(count, Ordering::Relaxed);
    }
}

/// A call that returns how many operations were submitted.
fn submits(call: &mut Call, behind: Behind) -> usize {
    type Submit = unsafe extern "C-unwind" fn(u64, u64, u64, u64, u64) -> i32;
    let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|at| call.argument(at));
    // SAFETY: passes on the program's arguments, and possibly more than the function has, which it ignores.
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
