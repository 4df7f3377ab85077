//! How an event is described to the kernel (`perf_event_open(2)`): the runtime's samples, breakpoints, and the recorder's samples
//! of whole trees of processes.

/// `struct perf_event_attr` up to `PERF_ATTR_SIZE_VER5`. Fields have the meaning that the manual page says.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs, reason = "they are the kernel's")]
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
    /// Events that the kernel makes itself.
    pub const SOFTWARE: u32 = 1;
    /// Of those, a processor's clock.
    pub const CPU_CLOCK: u64 = 0;
    /// Of those, the clock of whatever thread is on a processor.
    pub const TASK_CLOCK: u64 = 1;

    /// Flag of an event that does not count at first.
    pub const DISABLED: u64 = 1;
    /// Leaves out what the kernel does.
    pub const EXCLUDE_KERNEL: u64 = 1 << 5;
    /// Leaves out what a hypervisor does.
    pub const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
    /// Leaves out both.
    pub const USER_ONLY: u64 = Attributes::EXCLUDE_KERNEL | Attributes::EXCLUDE_HYPERVISOR;
    /// Times are those of `clock`.
    pub const USE_CLOCK: u64 = 1 << 25;

    /// Flag of the system call: the descriptor does not outlive `exec`.
    pub const CLOSE_ON_EXEC: usize = 8;

    /// Request of `ioctl(2)`: lets an event count.
    pub const ENABLE: usize = 0x2400;
    /// Lets it count no longer.
    pub const DISABLE: usize = 0x2401;
    /// Its samples come after another period, which the argument points to.
    pub const SET_PERIOD: usize = 0x4008_2404;

    /// Data begins so many bytes into a ring's first page: the kernel's position in the data, which only grows.
    pub const HEAD_AT: usize = 1024;
    /// The same for the position of whoever reads.
    pub const TAIL_AT: usize = 1032;
}

#[cfg(test)]
mod tests {
    use super::Attributes;
    use core::mem::{offset_of, size_of};

    #[test]
    fn the_layout_is_the_kernels() {
        const VERSION_5: usize = 112;
        assert_eq!(size_of::<Attributes>(), VERSION_5);
        assert_eq!(offset_of!(Attributes, flags), 40);
        assert_eq!(offset_of!(Attributes, branches), 72);
        assert_eq!(offset_of!(Attributes, clock), 92);
        assert_eq!(offset_of!(Attributes, deepest), 108);
    }
}
