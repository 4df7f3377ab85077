//! Translated code: units that are entered at their start and left through one of their exits.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::step::{Noted, Step};

/// A step, with the instruction it belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    /// The instruction's address in the program.
    pub(crate) at: u64,
    pub(crate) step: Step<Noted>,
}

/// What is known about the code at an address.
#[derive(Debug)]
pub(crate) struct Unit {
    /// The address in the program.
    pub(crate) ip: u64,
    pub(crate) kind: Kind,
    entered: AtomicU32,
}

/// How the code at an address runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// Out of line.
    Code(Code),
    /// Natively, as a whole function. The engine continues when it has returned.
    Native,
    /// The same, for one of our functions before which nothing is reported.
    Later,
    /// In its own place. The engine stops there.
    InPlace,
    /// It was translated once, and must be translated again.
    Gone,
}

/// A translation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code {
    pub(crate) start: u64,
    /// Its length in bytes.
    pub(crate) length: u32,
    /// Whether it begins with a system call.
    pub(crate) is_system_call: bool,
    /// Whether it follows a path over several branches.
    pub(crate) is_path: bool,
    /// For each instruction, the offset of its translation from the start, and its address in the program.
    pub(crate) starts: &'static [(u32, u64)],
}

/// A way out of a unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exit {
    /// The steps on the way here.
    pub(crate) steps: &'static [Placed],
    /// The steps that matter within a section. In the window after a section, all steps do.
    pub(crate) lasting: &'static [Placed],
    /// The number of instructions on the way here.
    pub(crate) instructions: u32,
    pub(crate) to: To,
}

/// Where an exit leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum To {
    /// To an address, by a branch.
    Branch(u64),
    /// To the next instruction, which is in another unit.
    Next(u64),
    /// To a function that is called natively.
    Call(u64),
    /// To the address in the thread's [target](crate::memory::tls::TARGET).
    Indirect,
}

impl Unit {
    pub(crate) fn new(ip: u64, kind: Kind) -> Unit {
        Unit {
            ip,
            kind,
            entered: AtomicU32::new(0),
        }
    }

    pub(crate) fn code(&self) -> Option<&Code> {
        match &self.kind {
            Kind::Code(it) => Some(it),
            _ => None,
        }
    }

    /// A thread enters the unit. Returns roughly how many have done so.
    pub(crate) fn enter(&self) -> u32 {
        let before = self.entered.load(Ordering::Relaxed);
        self.entered
            .store(before.wrapping_add(1), Ordering::Relaxed);
        before.wrapping_add(1)
    }

    /// Whether the unit has code in this range of addresses.
    pub(crate) fn touches(&self, from: u64, to: u64) -> bool {
        let within = |ip: u64| (from..to).contains(&ip);
        match &self.kind {
            Kind::Code(code) => code.starts.iter().any(|it| within(it.1)),
            _ => within(self.ip),
        }
    }
}
