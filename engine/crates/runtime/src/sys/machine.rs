//! What else the machine does: an experiment that shared it with a compiler says little about the program.
//!
//! `/proc/stat` is read by hand: crates that read it (`procfs`) allocate and open the file each time.

use fulcrum_preload::{descriptors, sys};

use crate::sys::allowed::{self, Purpose};

/// `/proc/stat`, kept open.
#[derive(Clone, Copy)]
pub(crate) struct Machine {
    fd: i32,
    tick_ns: u64,
}

/// What processors did, nanoseconds, all together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Processors {
    /// They worked for others than this process; counts time that the hypervisor gave to others.
    pub others_ns: u64,
    /// They had nothing to do.
    pub idle_ns: u64,
}

impl Processors {
    /// What they did from `before` to this.
    pub(crate) fn since(self, before: Processors) -> Processors {
        Processors {
            others_ns: self.others_ns.saturating_sub(before.others_ns),
            idle_ns: self.idle_ns.saturating_sub(before.idle_ns),
        }
    }
}

impl Machine {
    /// `None` where the system does not say. To be called while the process has one thread: a descriptor that is opened later
    /// would for a moment take a number that the program expects for its own.
    pub(crate) fn open() -> Option<Machine> {
        // SAFETY: plain calls; the path is a C string.
        unsafe {
            let flags = (libc::O_RDONLY | libc::O_CLOEXEC) as usize;
            let here = libc::AT_FDCWD as usize;
            let path = c"/proc/stat".as_ptr() as usize;
            let fd = sys::call(libc::SYS_openat, [here, path, flags, 0, 0, 0]);
            let ticks = libc::sysconf(libc::_SC_CLK_TCK);
            (fd >= 0 && ticks > 0).then(|| Machine {
                fd: descriptors::protect(fd as i32),
                tick_ns: 1_000_000_000 / ticks as u64,
            })
        }
    }

    /// What processors did since boot.
    pub(crate) fn use_of_processors(&self) -> Option<Processors> {
        if !allowed::may(Purpose::Machine) {
            return None;
        }
        let mut text = [0_u8; 256];
        // SAFETY: reads into `text`.
        let length = unsafe {
            let args = [
                self.fd as usize,
                text.as_mut_ptr() as usize,
                text.len(),
                0,
                0,
                0,
            ];
            sys::call(libc::SYS_pread64, args)
        };
        let text = text.get(..usize::try_from(length).ok()?)?;
        let [busy_ns, idle_ns] = busy_and_idle_ticks(text)?.map(|ticks| ticks * self.tick_ns);
        let own_ns = sys::clock(libc::CLOCK_PROCESS_CPUTIME_ID);
        Some(Processors {
            others_ns: busy_ns.saturating_sub(own_ns),
            idle_ns,
        })
    }
}

/// The first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal.
fn busy_and_idle_ticks(text: &[u8]) -> Option<[u64; 2]> {
    let line = text
        .strip_prefix(b"cpu ")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let words = line
        .split(|byte| *byte == b' ')
        .filter(|word| !word.is_empty());
    let mut sums = [0; 2];
    for (index, word) in words.take(8).enumerate() {
        let is_idle = matches!(index, 3 | 4);
        sums[usize::from(is_idle)] += str::from_utf8(word).ok()?.parse::<u64>().ok()?;
    }
    Some(sums)
}
