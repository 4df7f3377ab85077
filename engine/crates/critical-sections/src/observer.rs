//! Who is told of critical sections, how far they are watched, and what happened.

use fulcrum_shared_memory::{CodeAddress, Effect, Mode};

use crate::memory::tls::Registers;
use crate::policy::Scope;

/// Who is told what threads do in critical sections.
///
/// Its methods run in the program's threads, on the engine's stack or within hooks, while the program holds a lock, which may
/// be that of its allocator: they allocate from their own memory, take no lock of the program's, and must not panic.
pub trait Observer: Sync {
    /// The calling thread has taken a lock; `site` is where the call returns to.
    fn entered(&self, lock: u64, site: u64) -> Wish;

    /// It gives back a lock of which [`Self::entered`] told.
    fn left(&self, lock: u64) -> Mode;

    /// What its instructions did, in their order. Told at the latest before the thread takes or gives back another lock, or
    /// runs natively. `registers` are those that it had when it was last seen.
    fn effects(&self, registers: &Registers, effects: &[(CodeAddress, Effect)]) -> Mode;

    /// Instructions were translated to `start`, where there was nothing before: for those who sample from outside, and cannot
    /// ask [`crate::locate`]. Called in ascending order, one call at a time.
    fn translated(&self, copy: &Translated<'_>) {
        let _ = copy;
    }
}

/// What an observer wants of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// To be told what it does.
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

/// Translations of instructions that are executed one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Translated<'a> {
    /// Where they begin.
    pub start: u64,
    /// How long they are, bytes.
    pub length: u32,
    /// Of each instruction, in ascending order: where its translation begins, from `start`, and where the program has it.
    pub instructions: &'a [(u32, u64)],
}

/// How far threads are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Instructions of one section.
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

/// What happened so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Sections that were watched.
    pub watched: u64,
    /// Sections that went on natively because of an instruction or a function.
    pub stopped: u64,
    /// Where the last one of these did.
    pub stopped_at: CodeAddress,
    /// Sections that used up their budget, or were too long for the observer.
    pub too_long: u64,
    /// Native calls that never returned.
    pub abandoned: u64,
}
