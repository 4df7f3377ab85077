//! The observer of critical sections, limits on what is watched, and counts.

use fulcrum_shared_memory::{CodeAddress, Effect, Mode};

use crate::memory::tls::Registers;
use crate::policy::Scope;

/// Receives what threads do in critical sections.
///
/// Its methods run in the program's threads, on the engine's stack or in hooks, while the program holds a lock, which may
/// be its allocator's. So they allocate only from their own memory, take no lock of the program's, and must not panic.
pub trait Observer: Sync {
    /// The calling thread has taken a lock. `site` is the call's return address. `is_followed` tells whether the thread was
    /// watched until then, since the observer last wished so.
    fn entered(&self, lock: u64, site: u64, is_followed: bool) -> Wish;

    /// The thread releases a lock that was passed to [`Self::entered`], after these effects.
    fn left(&self, lock: u64, effects: &[(CodeAddress, Effect)]) -> Mode;

    /// The calling thread has taken a lock where the observer watched the last section. Returns whether the section can be
    /// reported to [`Self::passed`]; otherwise, it is reported to [`Self::entered`] at once.
    fn expected(&self, lock: u64, site: u64) -> bool {
        let _ = (lock, site);
        false
    }

    /// The calling thread is about to release its only lock, after these effects since it took the lock.
    fn passed(&self, lock: u64, site: u64, effects: &[(CodeAddress, Effect)]) -> (Wish, Mode) {
        let wish = self.entered(lock, site, false);
        (wish, self.left(lock, effects))
    }

    /// What the thread's instructions did, in order. Called at the latest before the thread takes or releases another lock
    /// or runs natively. `registers` are those from when the thread was last seen.
    fn effects(&self, registers: &Registers, effects: &[(CodeAddress, Effect)]) -> Mode;

    /// Instructions were translated to `start`, where there was nothing before. This is for external samplers, which cannot
    /// call [`crate::locate`]. Called in ascending order, one call at a time.
    fn translated(&self, copy: &Translated<'_>) {
        let _ = copy;
    }
}

/// What an observer wants to know about a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// What the section does.
    Watched,
    /// Nothing, for a while.
    Native(Scope),
}

impl From<Mode> for Wish {
    fn from(mode: Mode) -> Wish {
        match mode {
            Mode::Watched => Wish::Watched,
            Mode::Native => Wish::Native(Scope::Site),
        }
    }
}

/// Translations of consecutively executed instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Translated<'a> {
    /// Where the translations begin.
    pub start: u64,
    /// Their length in bytes.
    pub length: u32,
    /// For each instruction, in ascending order: the offset of its translation from `start`, and its address in the
    /// program.
    pub instructions: &'a [(u32, u64)],
}

/// Limits on how long threads are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Instructions in one section.
    pub section: u32,
    /// Instructions after the outermost unlock: the paper's `MAX`.
    pub window: u32,
}

impl Default for Limits {
    /// 20,000 instructions, and the paper's 128.
    fn default() -> Self {
        Limits {
            section: 20_000,
            window: 128,
        }
    }
}

/// Counts of what has happened so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Sections that were watched.
    pub watched: u64,
    /// Sections that continued natively because of an instruction or a function.
    pub stopped: u64,
    /// Where the last of these stopped.
    pub stopped_at: CodeAddress,
    /// Sections that exceeded their budget or were too long for the observer.
    pub too_long: u64,
    /// Native calls that never returned.
    pub abandoned: u64,
}
