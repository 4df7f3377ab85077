//! Flow through shared memory: which thread consumes what another one produced, inferred from moves in critical sections
//! (Whodunit §3, §7.2).
//!
//! A watcher, such as an interpreter of a thread's instructions, reports to a [`FlowDetector`] when the thread enters and
//! leaves critical sections. It also reports each [`Effect`] of an instruction in a section and for a short time after it.
//! Reports of sections under one lock must not overlap, just as the sections do not overlap in the program.
//!
//! The paper's algorithm associates locations with contexts. It leaves out the following rules. Each comes from an observed
//! failure and is explained where it is implemented:
//!
//! 1. Only what an *earlier* section produced is consumed, and only stores outside the thread's own stack produce.
//! 2. A native call drops the tags of registers that it may change. At the start of a section, no register and no word of
//!    the thread's own stack is tagged.
//! 3. Allocation is not watched: it is a native call.
//! 4. The window after a section tags no memory, and ends with the first use.
//! 5. A pointer that points right next to where it is stored is invalid.
//! 6. A tag holds as long as its location keeps the value that was stored.
//! 7. A section has a limit. Lock sites where nothing flows rest, longer each time.
//! 8. A transaction that comes back is not a new one: `fulcrum_transactions::Activity::take_over`.
//! 9. Roles belong to one list, which is a lock and a producing store.
//! 10. Nothing flows through a list whose objects come from a queue and go back to it, if whoever takes one overwrites it before
//!     reading it: a list of free objects.
//!
//! Open problem: an address computed from a tagged one (`container_of`) loses its context.

#![forbid(unsafe_code)]

mod detector;
mod flows;
mod habits;
mod ids;
mod lists;
mod numbers;
mod recycling;
mod registers;
mod routines;
mod section;
mod sites;
mod table;
mod thread;
mod words;

use std::ops::Range;

pub use detector::{Counts, FlowDetector, Limits};
pub use flows::Flow;
pub use ids::{CodeAddress, ListId, LockId, Synopsis, ThreadId};
pub use lists::{Consumption, ListSummary};
pub use sites::Learning;

/// A 64-bit register.
///
/// A whole word, like the other parts of an [`Effect`]: what is stored in small parts is read slowly in large ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Register(u64);

impl Register {
    /// The number of registers: sixteen general ones, and two halves of each of sixteen vector registers.
    pub const COUNT: usize = 48;

    /// A general register by its number in x86-64 instructions: 0 is `rax`, 4 `rsp`, 15 `r15`.
    #[inline]
    pub fn general(number: u8) -> Option<Self> {
        (number < 16).then(|| Register(number.into()))
    }

    /// A half of a vector register, 0 for the lower one. A longer move is one move for each half.
    #[inline]
    pub fn vector(number: u8, half: u8) -> Option<Self> {
        (number < 16 && half < 2).then(|| Register((16 + 2 * number + half).into()))
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

/// A span of memory that an instruction reads or writes: one to eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    address: u64,
    bytes: u64,
}

impl Span {
    /// The longest span, in bytes. A longer access is several spans.
    pub const LONGEST: u8 = 8;

    /// `None` unless the span has 1 to [`Span::LONGEST`] bytes and ends within the address space.
    #[inline]
    pub fn new(address: u64, bytes: u8) -> Option<Self> {
        address.checked_add(u64::from(bytes))?;
        (1..=Span::LONGEST).contains(&bytes).then(|| Span {
            address,
            bytes: bytes.into(),
        })
    }

    /// The first address.
    pub fn address(self) -> u64 {
        self.address
    }

    /// The length in bytes.
    pub fn bytes(self) -> u8 {
        self.bytes as u8
    }

    fn range(self) -> Range<u64> {
        self.address..self.address + self.bytes
    }
}

/// The location of a value, in the paper's name space of memory and thread registers (§3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A register of the executing thread.
    Register(Register),
    /// Memory.
    Memory(Span),
}

/// What an instruction does, as far as flow is concerned. One instruction may have several effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Copies a value. In the window after a section, pushes and pops that save a register for a caller are not reported.
    Move {
        /// The source.
        from: Place,
        /// The destination.
        to: Place,
        /// The value, truncated to the bytes in memory.
        value: u64,
    },
    /// Writes anything else: a constant, a sum, an address. In the window after a section, values in memory are not known.
    Overwrite {
        /// The destination.
        to: Place,
        /// The new value.
        value: u64,
    },
    /// Uses a value other than by copying it: computes or compares with it, dereferences it, or passes it to the system. Only
    /// what happens in the window after a section matters. Values in memory need not be known.
    Use {
        /// The source.
        of: Place,
        /// The value.
        value: u64,
    },
    /// A call that ran unwatched has returned.
    NativeCall,
}

/// How a thread continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Its effects are reported.
    Watched,
    /// It runs unwatched until the next section.
    Native,
}

/// The role in which a thread's context is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The thread produces: a consumer continues its context.
    Producer,
    /// The thread consumes what another one produced.
    Consumer,
}

/// Returns the thread's context in a role.
type Context<'a> = &'a dyn Fn(Role) -> Synopsis;

/// What an effect led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// Nothing to report.
    None(Mode),
    /// A transaction came to this thread.
    Consumed(Consumption, Mode),
}

impl Reaction {
    /// How the thread continues.
    pub fn mode(self) -> Mode {
        match self {
            Reaction::None(mode) | Reaction::Consumed(_, mode) => mode,
        }
    }
}
