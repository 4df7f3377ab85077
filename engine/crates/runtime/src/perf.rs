//! Events of the kernel (`perf_event_open(2)`).

use fulcrum_preload::sys;

/// `struct perf_event_attr` up to `PERF_ATTR_SIZE_VER5`.
#[repr(C)]
#[derive(Default)]
pub struct Attributes {
    pub kind: u32,
    pub size: u32,
    pub config: u64,
    pub period: u64,
    pub sample_type: u64,
    pub read_format: u64,
    pub flags: u64,
    pub wakeup: u32,
    pub breakpoint: u32,
    pub config1: u64,
    pub config2: u64,
    pub branches: u64,
    pub user_registers: u64,
    pub user_stack: u32,
    pub clock: i32,
    pub interrupt_registers: u64,
    pub aux: u32,
    pub deepest: u16,
    pub reserved: u16,
}

impl Attributes {
    /// Flags of an event that leaves kernel and hypervisor out.
    pub const USER_ONLY: u64 = EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR;
}

/// Leaves out what the kernel does.
pub const EXCLUDE_KERNEL: u64 = 1 << 5;
/// Leaves out what a hypervisor does.
pub const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const CLOSE_ON_EXEC: usize = 8;

/// An event of the calling thread on any processor.
pub fn open_event(attributes: &Attributes) -> Option<i32> {
    // SAFETY: `attributes` outlives the call; this thread, any CPU, no group.
    let fd = unsafe {
        let args = [
            core::ptr::from_ref(attributes) as usize,
            0,
            usize::MAX,
            usize::MAX,
            CLOSE_ON_EXEC,
            0,
        ];
        sys::call(libc::SYS_perf_event_open, args)
    };
    (fd >= 0).then_some(fd as i32)
}
