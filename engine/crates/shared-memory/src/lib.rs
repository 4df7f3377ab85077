//! Flow through shared memory: who consumed what whom produced, seen from the moves in critical sections (Whodunit §3, §7.2).
//!
//! Whoever watches a thread (an interpreter of its instructions) tells a [`FlowDetector`] when the thread enters and
//! leaves critical sections, and each [`Effect`] of an instruction within them and for a short while after them. Sections
//! of the same lock must not overlap in what is told, as they do not in the program.
//!
//! The paper's algorithm associates locations with contexts. What it leaves out, each from a failure that was seen, is
//! where it is implemented; in short:
//!
//! 1. Only what was produced in an *earlier* section is consumed, and only stores off the thread's own stack produce.
//! 2. A native call drops what registers held that it may change; a section begins with no register and no own stack tagged.
//! 3. Allocation is not watched: it is a native call.
//! 4. The window after a section tags no memory and ends with the first use.
//! 5. A pointer to beside where it is stored is invalid.
//! 6. A tag holds as long as its location has the value that was stored.
//! 7. A section has a limit, and lock sites at which nothing flows rest, longer each time.
//! 8. What comes back is no new transaction: `fulcrum_transactions::Activity::take_over`.
//! 9. Roles are those in one list: a lock and a producing store.
//!
//! An address that is computed from a tagged one (`container_of`) loses its context: that is open.

#![forbid(unsafe_code)]

mod detector;
mod flows;
mod ids;
mod lists;
mod numbers;
mod registers;
mod section;
mod sites;
mod thread;
mod words;

use std::ops::Range;

pub use detector::{Counts, FlowDetector, Limits};
pub use flows::Flow;
pub use ids::{CodeAddress, LockId, Synopsis, ThreadId};
pub use lists::{Consumption, ListId, ListSummary};
pub use sites::Learning;

/// A register of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Register(u8);

impl Register {
    /// How many there are: the sixteen general ones, and two halves of each of sixteen vector registers.
    pub const COUNT: usize = 48;

    /// A general register by its number in x86-64 instructions: 0 is `rax`, 4 `rsp`, 15 `r15`.
    #[inline]
    pub fn general(number: u8) -> Option<Self> {
        (number < 16).then_some(Register(number))
    }

    /// A half of a vector register, 0 the lower one. A longer move is one of each half.
    #[inline]
    pub fn vector(number: u8, half: u8) -> Option<Self> {
        (number < 16 && half < 2).then(|| Register(16 + 2 * number + half))
    }

    fn index(self) -> usize {
        self.0.into()
    }
}

/// What an instruction reads or writes in memory: one to eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    address: u64,
    bytes: u8,
}

impl Span {
    /// The longest, in bytes. A longer move is several.
    pub const LONGEST: u8 = 8;

    /// `None` unless the span has 1 to [`Span::LONGEST`] bytes and ends within the address space.
    #[inline]
    pub fn new(address: u64, bytes: u8) -> Option<Self> {
        address.checked_add(u64::from(bytes))?;
        (1..=Span::LONGEST)
            .contains(&bytes)
            .then_some(Span { address, bytes })
    }

    /// Where it begins.
    pub fn address(self) -> u64 {
        self.address
    }

    /// How many bytes it has.
    pub fn bytes(self) -> u8 {
        self.bytes
    }

    fn range(self) -> Range<u64> {
        self.address..self.address + u64::from(self.bytes)
    }
}

/// Where a value is: the paper's name space of memory and the registers of threads (§3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A register of the thread that executes.
    Register(Register),
    /// Memory.
    Memory(Span),
}

/// What an instruction does, as far as flow is concerned. An instruction may have several effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Copies a value. In the window after a section, pushes and pops that keep a register for a caller are not told.
    Move {
        /// Where it is read.
        from: Place,
        /// Where it is written.
        to: Place,
        /// The value, in as many bytes as memory has of it.
        value: u64,
    },
    /// Writes anything else: a constant, a sum, an address.
    Overwrite {
        /// Where.
        to: Place,
        /// The new value.
        value: u64,
    },
    /// Uses a value otherwise than by copying it: computes or compares with it, follows it, gives it to the system.
    Use {
        /// Where it is read.
        of: Place,
        /// The value.
        value: u64,
    },
    /// A call whose instructions are not watched has returned.
    NativeCall,
}

/// How a thread is to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Its effects are to be told.
    Watched,
    /// It runs by itself until the next section.
    Native,
}

/// As what a thread's context is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It produces: whoever consumes this goes on with the context.
    Producer,
    /// It consumes what another one produced.
    Consumer,
}

/// What an effect led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// Nothing to tell.
    None(Mode),
    /// A transaction came to this thread, which now runs natively.
    Consumed(Consumption),
}

impl Reaction {
    /// How the thread is to go on.
    pub fn mode(self) -> Mode {
        match self {
            Reaction::None(mode) => mode,
            Reaction::Consumed(_) => Mode::Native,
        }
    }
}
