//! Events of the kernel (`perf_event_open(2)`).

use fulcrum_preload::sys;
use fulcrum_wire::perf::Attributes;

/// An event of the calling thread on any processor.
pub fn open_event(attributes: &Attributes) -> Option<i32> {
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
