//! CPU samples of a whole tree of processes, taken from outside: by perf's clocks, with the registers and a copy of the top of the
//! stack of each running thread.
//!
//! Nothing happens in the profiled processes: no signal, no descriptor, no thread. If the user is allowed to, the processors'
//! clocks are sampled, and samples outside the tree are skipped. Otherwise the tree inherits an event of its own, which costs
//! more: in a virtual machine, setting its timer at each context switch takes 4 µs.
//!
//! The rings are read by hand: of the kernel's records, we need four kinds with one layout each, and the attributes are those
//! that the runtime opens its own events with (`fulcrum_wire::perf`), which may link no library for this.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use fulcrum_wire::perf::Attributes;
use memmap2::{MmapOptions, MmapRaw};

/// What the kernel recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event<'a> {
    /// A sample of a running thread.
    Sample(Sampled<'a>),
    /// A thread has this name from now on.
    Name {
        /// The process.
        pid: u32,
        /// The thread.
        tid: u32,
        /// At most 15 bytes.
        name: &'a [u8],
        /// Whether the reason is that the process executes another program.
        executed: bool,
    },
    /// This many samples were lost, because they were not read fast enough.
    Lost(u64),
    /// A process or a thread was created. These come before all other events of the same reading.
    Made {
        /// Its process.
        pid: u32,
        /// The process that created it.
        by: u32,
        /// The thread that created it.
        by_thread: u32,
    },
}

/// A sample of a running thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sampled<'a> {
    /// Its process.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// `CLOCK_MONOTONIC`, nanoseconds.
    pub time_ns: u64,
    /// The instruction pointer, possibly in the kernel.
    pub ip: u64,
    /// Its state in user mode. `None` for a kernel thread, which has none.
    pub user: Option<User<'a>>,
}

/// Registers in user mode and the stack from the stack pointer on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct User<'a> {
    /// Instruction pointer.
    pub rip: u64,
    /// Stack pointer.
    pub rsp: u64,
    /// Frame base register.
    pub rbp: u64,
    /// The stack from `rsp` on.
    pub stack: &'a [u8],
}

/// IP, TID, TIME, REGS_USER, STACK_USER.
const SAMPLE: u64 = 1 | 2 | 4 | 1 << 12 | 1 << 13;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_IDLE: u64 = 1 << 7;
const NAMES: u64 = 1 << 9;
const ENABLE_ON_EXEC: u64 = 1 << 12;
const MADE: u64 = 1 << 13;
const WATERMARK: u64 = 1 << 14;
const NAMES_BY_EXEC: u64 = 1 << 24;
/// The base, stack and instruction pointers of `asm/perf_regs.h`, in this order within a record.
const REGISTERS: u64 = 1 << 6 | 1 << 7 | 1 << 8;
/// Bytes of stack in a sample.
const STACK: u32 = 16 << 10;
/// Data pages of a ring, as many as the system allows: room for a second of samples, while the recorder reads the debug
/// information of a large program; or, with its head page, what an unprivileged user may lock for each processor.
const RING_PAGES: [usize; 2] = [2048, 128];
const PAGE: usize = 4096;
/// The reader is woken when a ring has this many bytes.
const WAKE_AT: u32 = 160 << 10;

const RECORD_LOST: u32 = 2;
const RECORD_NAME: u32 = 3;
const RECORD_MADE: u32 = 7;
const RECORD_SAMPLE: u32 = 9;
const NAME_BY_EXEC: u16 = 1 << 13;

/// The events of one tree of processes: those that the calling thread starts from now on.
pub(crate) struct Perf {
    rings: Vec<Ring>,
    /// What is sampled.
    pub scope: Scope,
    /// Time in the kernel is sampled too.
    pub with_kernel: bool,
}

/// What is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Everything that runs: samples outside the tree must be skipped.
    Machine,
    /// What inherits the events, which is the tree.
    Tree,
}

/// Whether time in the kernel is sampled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kernel {
    Included,
    Excluded,
}

struct Ring {
    event: OwnedFd,
    map: MmapRaw,
    record: Vec<u8>,
}

impl Perf {
    /// Events for all processes that the calling thread starts, one each `period_ns` of a thread's CPU time.
    ///
    /// # Errors
    /// When the kernel does not allow it.
    pub(crate) fn open(period_ns: u64) -> io::Result<Perf> {
        let opened = |scope, kernel| {
            Perf::rings(period_ns, scope, kernel).map(|rings| Perf {
                rings,
                scope,
                with_kernel: kernel == Kernel::Included,
            })
        };
        opened(Scope::Machine, Kernel::Included)
            .or_else(|_| opened(Scope::Tree, Kernel::Included))
            .or_else(|_| opened(Scope::Tree, Kernel::Excluded))
    }

    /// One ring for each processor.
    fn rings(period_ns: u64, scope: Scope, kernel: Kernel) -> io::Result<Vec<Ring>> {
        // SAFETY: takes a number and returns one.
        let processors = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
        let mut attributes = attributes(period_ns, scope);
        if kernel == Kernel::Excluded {
            attributes.flags |= Attributes::EXCLUDE_KERNEL;
        }
        let mut rings = Vec::new();
        for processor in 0..processors.max(1) as i32 {
            match Ring::open(processor, scope, &attributes) {
                Ok(ring) => rings.push(ring),
                // A processor that is switched off.
                Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(rings)
    }

    /// Lets samples come after another period from now on, where all processors are sampled: what inherits an event keeps the period
    /// that it had then.
    ///
    /// # Errors
    /// When the kernel does not do it.
    pub(crate) fn set_period(&self, period_ns: u64) -> io::Result<()> {
        self.descriptors().try_for_each(|event| {
            // SAFETY: the kernel reads one number.
            match unsafe { libc::ioctl(event, Attributes::SET_PERIOD as _, &period_ns) } {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        })
    }

    /// What becomes readable when there is much to read.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = i32> {
        self.rings.iter().map(|ring| ring.event.as_raw_fd())
    }

    /// Passes on everything recorded since the last call, ring by ring. The creations of all rings come first: a child may run
    /// on another processor than its parent.
    pub(crate) fn read(&mut self, mut take: impl FnMut(Event<'_>)) {
        let heads: Vec<u64> = self.rings.iter().map(Ring::head).collect();
        for (ring, &head) in self.rings.iter_mut().zip(&heads) {
            ring.read(head, |kind| kind == RECORD_MADE, &mut take);
        }
        for (ring, &head) in self.rings.iter_mut().zip(&heads) {
            ring.read(head, |kind| kind != RECORD_MADE, &mut take);
            ring.free(head);
        }
    }
}

fn attributes(period_ns: u64, scope: Scope) -> Attributes {
    let (clock, flags) = match scope {
        Scope::Machine => (Attributes::CPU_CLOCK, EXCLUDE_IDLE),
        Scope::Tree => (
            Attributes::TASK_CLOCK,
            Attributes::DISABLED | INHERIT | ENABLE_ON_EXEC,
        ),
    };
    Attributes {
        kind: Attributes::SOFTWARE,
        size: size_of::<Attributes>() as u32,
        config: clock,
        period: period_ns,
        sample_type: SAMPLE,
        flags: Attributes::EXCLUDE_HYPERVISOR
            | NAMES
            | NAMES_BY_EXEC
            | MADE
            | WATERMARK
            | Attributes::USE_CLOCK
            | flags,
        wakeup: WAKE_AT,
        user_registers: REGISTERS,
        user_stack: STACK,
        clock: libc::CLOCK_MONOTONIC,
        ..Attributes::default()
    }
}

impl Ring {
    fn open(processor: i32, scope: Scope, attributes: &Attributes) -> io::Result<Ring> {
        let whom = match scope {
            Scope::Machine => -1,
            Scope::Tree => 0,
        };
        // SAFETY: the attributes are laid out as the kernel expects and outlive the call; nothing else owns the new descriptor.
        let event = unsafe {
            let fd = libc::syscall(
                libc::SYS_perf_event_open,
                std::ptr::from_ref(attributes),
                whom,
                processor,
                -1,
                Attributes::CLOSE_ON_EXEC,
            );
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(fd as i32)
        };
        let mapped = |pages: usize| {
            let mut options = MmapOptions::new();
            options.len((1 + pages) * PAGE).map_raw(event.as_raw_fd())
        };
        let map = mapped(RING_PAGES[0]).or_else(|_| mapped(RING_PAGES[1]))?;
        Ok(Ring {
            event,
            map,
            record: Vec::new(),
        })
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        // SAFETY: the word lies within the head page, aligned. The kernel and we use it as an atomic only.
        unsafe { &*self.map.as_ptr().add(at).cast::<AtomicU64>() }
    }

    /// How much the kernel has written.
    fn head(&self) -> u64 {
        self.word(Attributes::HEAD_AT).load(Ordering::Acquire)
    }

    /// Reads all records of the wanted kinds up to `head`.
    fn read(&mut self, head: u64, wanted: fn(u32) -> bool, take: &mut impl FnMut(Event<'_>)) {
        let mut tail = self.word(Attributes::TAIL_AT).load(Ordering::Relaxed);
        let mut record = std::mem::take(&mut self.record);
        while tail < head {
            let mut header = [0; 8];
            self.copy(tail, &mut header);
            let size = u16::from_le_bytes([header[6], header[7]]);
            let next = tail + u64::from(size);
            // The kernel writes whole records; anything else would make this loop endless.
            if size < 8 || next > head {
                break;
            }
            let [a, b, c, d, ..] = header;
            if wanted(u32::from_le_bytes([a, b, c, d])) {
                record.resize(usize::from(size), 0);
                self.copy(tail, &mut record);
                if let Some(event) = event(&record) {
                    take(event);
                }
            }
            tail = next;
        }
        self.record = record;
    }

    /// Returns the space that was read to the kernel.
    fn free(&self, head: u64) {
        self.word(Attributes::TAIL_AT)
            .store(head, Ordering::Release);
    }

    /// Copies bytes from a position in the endless stream.
    fn copy(&self, from: u64, into: &mut [u8]) {
        let length = self.map.len() - PAGE;
        let at = (from % length as u64) as usize;
        let first = into.len().min(length - at);
        // SAFETY: both parts lie within the data pages of the ring, and `into` is elsewhere. The kernel does not write there before
        // the tail moves.
        unsafe {
            let data = self.map.as_ptr().add(PAGE);
            let out = into.as_mut_ptr();
            out.copy_from_nonoverlapping(data.add(at), first);
            out.add(first)
                .copy_from_nonoverlapping(data, into.len() - first);
        }
    }
}

/// Reads a record with its header. `None` when it is irrelevant or incomplete.
fn event(record: &[u8]) -> Option<Event<'_>> {
    let word = |at: usize| {
        let bytes = record.get(at..at + 8)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    };
    let pair = |at: usize| word(at).map(|it| (it as u32, (it >> 32) as u32));
    let header = word(0)?;
    let (kind, misc) = (header as u32, (header >> 32) as u16);
    match kind {
        RECORD_LOST => Some(Event::Lost(word(16)?)),
        RECORD_NAME => {
            let (pid, tid) = pair(8)?;
            let name = record.get(16..)?;
            let end = name.iter().position(|&it| it == 0).unwrap_or(name.len());
            Some(Event::Name {
                pid,
                tid,
                name: &name[..end],
                executed: misc & NAME_BY_EXEC != 0,
            })
        }
        RECORD_MADE => {
            let (pid, by) = pair(8)?;
            let (_, by_thread) = pair(16)?;
            Some(Event::Made { pid, by, by_thread })
        }
        RECORD_SAMPLE => {
            let (ip, time_ns) = (word(8)?, word(24)?);
            let (pid, tid) = pair(16)?;
            let user = match word(32)? {
                0 => None,
                _ => Some(user(record, [word(40)?, word(48)?, word(56)?])?),
            };
            Some(Event::Sample(Sampled {
                pid,
                tid,
                time_ns,
                ip,
                user,
            }))
        }
        _ => None,
    }
}

/// The part of a sample after the registers: the size of the copy, the copy, and how much of it belongs to the stack.
fn user(record: &[u8], [rbp, rsp, rip]: [u64; 3]) -> Option<User<'_>> {
    let word = |at: usize| {
        let bytes = record.get(at..at + 8)?;
        usize::try_from(u64::from_le_bytes(bytes.try_into().ok()?)).ok()
    };
    const SIZE_AT: usize = 64;
    let size = word(SIZE_AT)?;
    let copy = record.get(SIZE_AT + 8..)?.get(..size)?;
    let used = match size {
        0 => 0,
        _ => word(SIZE_AT + 8 + size)?,
    };
    Some(User {
        rip,
        rsp,
        rbp,
        stack: copy.get(..used)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u32, misc: u16, words: &[u64], text: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let size = 8 + 8 * words.len() + text.len();
        bytes.extend(kind.to_le_bytes());
        bytes.extend(misc.to_le_bytes());
        bytes.extend((size as u16).to_le_bytes());
        bytes.extend(words.iter().flat_map(|it| it.to_le_bytes()));
        bytes.extend(text);
        bytes
    }

    const IDS: u64 = 7 | 8 << 32;

    #[test]
    fn a_sample_has_registers_and_the_used_part_of_the_stack() {
        let stack = [1, 2, 3, 0];
        let words = [0x10, IDS, 99, 2, 30, 20, 10, 32];
        let mut all = words.to_vec();
        all.extend(stack);
        all.push(24);
        let record = record(RECORD_SAMPLE, 2, &all, &[]);
        let Some(Event::Sample(sample)) = event(&record) else {
            panic!("no sample");
        };
        assert_eq!(
            (sample.pid, sample.tid, sample.time_ns, sample.ip),
            (7, 8, 99, 0x10)
        );
        let user = sample.user.unwrap();
        assert_eq!((user.rip, user.rsp, user.rbp), (10, 20, 30));
        let expect: Vec<u8> = [1_u64, 2, 3]
            .iter()
            .flat_map(|it| it.to_le_bytes())
            .collect();
        assert_eq!(user.stack, expect);
        for end in 0..record.len() {
            assert_eq!(event(&record[..end]), None, "{end}");
        }
    }

    #[test]
    fn a_thread_without_code_of_its_own_has_no_stack() {
        let record = record(RECORD_SAMPLE, 1, &[0x10, IDS, 99, 0], &[]);
        let Some(Event::Sample(sample)) = event(&record) else {
            panic!("no sample");
        };
        assert_eq!(sample.user, None);
    }

    #[test]
    fn names_and_losses_are_passed_on_and_all_else_is_skipped() {
        let name = record(RECORD_NAME, NAME_BY_EXEC, &[IDS], b"worker\0\0");
        let expect = Event::Name {
            pid: 7,
            tid: 8,
            name: b"worker",
            executed: true,
        };
        assert_eq!(event(&name), Some(expect));
        let lost = record(RECORD_LOST, 0, &[1, 17], &[]);
        assert_eq!(event(&lost), Some(Event::Lost(17)));
        let made = record(RECORD_MADE, 0, &[7 | 5 << 32, 8 | 6 << 32, 99], &[]);
        let expect = Event::Made {
            pid: 7,
            by: 5,
            by_thread: 6,
        };
        assert_eq!(event(&made), Some(expect));
        assert_eq!(event(&record(77, 0, &[1, 17], &[])), None);
        assert_eq!(event(&[]), None);
    }
}
