//! Perf events (`perf_event_open(2)`).

use fulcrum_preload::sys;
use fulcrum_wire::perf::Attributes;

/// Opens an event of the calling thread on any processor.
pub(crate) fn open_event(attributes: &Attributes) -> Option<i32> {
    // SAFETY: `attributes` outlives the call; this thread, any CPU, no group.
    let fd = unsafe {
        let args = [
            core::ptr::from_ref(attributes) as usize,
            0,
            usize::MAX,
            usize::MAX,
            Attributes::CLOSE_ON_EXEC,
            0,
        ];
        sys::call(libc::SYS_perf_event_open, args)
    };
    (fd >= 0).then_some(fd as i32)
}
