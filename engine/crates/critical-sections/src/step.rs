//! What one instruction does, as far as flow is concerned. Like [`Effect`](fulcrum_shared_memory::Effect), but with
//! registers in place of addresses and values.
//!
//! In a [plan](crate::translation::plan), a value is in a register before or after the instruction ([`Named`]). In a
//! translated unit, it is in one of the thread's slots ([`Noted`]), from which effects are derived when the unit has run.

use crate::list::List;

/// A register that an instruction reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// A general register by its number.
    General(u8),
    /// Eight bytes of a vector register: its number (to 31) and which eight (to 7).
    Chunk(u8, u8),
}

/// A register's value at some point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// Before the instruction.
    Before(Held),
    /// After it.
    After(Held),
    /// The value of the instruction's memory operand after it, up to eight bytes.
    Result,
}

/// A value that translated code recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Noted {
    /// Its slot.
    pub(crate) slot: u8,
    /// A constant to add to it.
    pub(crate) plus: i32,
}

/// An address in memory, and the number of bytes meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address<V> {
    pub(crate) base: Option<V>,
    pub(crate) index: Option<V>,
    pub(crate) scale: u8,
    pub(crate) displacement: u64,
    /// Relative to the thread pointer.
    pub(crate) of_thread: bool,
    /// 1 to 8.
    pub(crate) bytes: u8,
}

/// A location that is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spot<V> {
    Register(Held),
    Memory(Address<V>),
    /// A place below the stack, for a value on its way while registers are exchanged.
    Aside,
}

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<V> {
    Constant(u64),
    In(V),
    /// The sum of two values.
    Sum(V, V),
    /// An unknown value.
    Unknown,
}

/// A condition on a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When<V> {
    Always,
    /// If the lowest bytes of both are equal.
    Same(V, V, u8),
    /// If they differ.
    Differ(V, V, u8),
}

/// One thing that an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<V> {
    Move {
        from: Spot<V>,
        to: Spot<V>,
        value: Value<V>,
        when: When<V>,
    },
    Overwrite {
        to: Spot<V>,
        value: Value<V>,
    },
    /// Reported only in the window after a section.
    Use {
        of: Spot<V>,
        value: Value<V>,
    },
    /// A register that the instruction saves for a caller. Reported as a move, except in the window.
    Keep {
        register: Held,
        to: Address<V>,
        value: Value<V>,
    },
    /// `movs`, possibly repeated: the source, the destination, and where the destination ended.
    Copy {
        from: V,
        to: V,
        end: V,
        /// Bytes of one element.
        bytes: u8,
    },
    /// `stos`, possibly repeated.
    Fill {
        to: V,
        end: V,
        bytes: u8,
    },
}

/// The steps of one instruction.
pub(crate) type Steps = List<Step<Named>, 48>;

impl<V: Copy> Address<V> {
    /// The bytes starting at `offset`.
    pub(crate) fn part(self, offset: u64, bytes: u8) -> Self {
        Address {
            displacement: self.displacement.wrapping_add(offset),
            bytes,
            ..self
        }
    }

    /// The same address with mapped values, or `None` if a value has no counterpart.
    pub(crate) fn map<W>(self, mut value: impl FnMut(V) -> Option<(W, i64)>) -> Option<Address<W>> {
        let mut displacement = self.displacement;
        let mut named = |which: Option<V>, scale: u8| match which {
            None => Some(None),
            Some(it) => {
                let (found, plus) = value(it)?;
                displacement =
                    displacement.wrapping_add_signed(plus.wrapping_mul(i64::from(scale)));
                Some(Some(found))
            }
        };
        let base = named(self.base, 1)?;
        let index = named(self.index, self.scale)?;
        Some(Address {
            base,
            index,
            scale: self.scale,
            displacement,
            of_thread: self.of_thread,
            bytes: self.bytes,
        })
    }
}

/// Turns steps on named registers into steps on slots.
pub(crate) struct Resolve<F>(pub(crate) F);

impl<F: FnMut(Named) -> Option<Noted>> Resolve<F> {
    pub(crate) fn step(&mut self, step: Step<Named>) -> Option<Step<Noted>> {
        Some(match step {
            Step::Move {
                from,
                to,
                value,
                when,
            } => Step::Move {
                from: self.spot(from)?,
                to: self.spot(to)?,
                value: self.value(value)?,
                when: self.when(when)?,
            },
            Step::Overwrite { to, value } => Step::Overwrite {
                to: self.spot(to)?,
                value: self.value(value)?,
            },
            Step::Use { of, value } => Step::Use {
                of: self.spot(of)?,
                value: self.value(value)?,
            },
            Step::Keep {
                register,
                to,
                value,
            } => Step::Keep {
                register,
                to: self.address(to)?,
                value: self.value(value)?,
            },
            Step::Copy {
                from,
                to,
                end,
                bytes,
            } => Step::Copy {
                from: (self.0)(from)?,
                to: (self.0)(to)?,
                end: (self.0)(end)?,
                bytes,
            },
            Step::Fill { to, end, bytes } => Step::Fill {
                to: (self.0)(to)?,
                end: (self.0)(end)?,
                bytes,
            },
        })
    }

    fn address(&mut self, address: Address<Named>) -> Option<Address<Noted>> {
        address.map(|it| {
            let noted = (self.0)(it)?;
            Some((Noted { plus: 0, ..noted }, i64::from(noted.plus)))
        })
    }

    fn spot(&mut self, spot: Spot<Named>) -> Option<Spot<Noted>> {
        Some(match spot {
            Spot::Register(it) => Spot::Register(it),
            Spot::Memory(it) => Spot::Memory(self.address(it)?),
            Spot::Aside => Spot::Aside,
        })
    }

    fn value(&mut self, value: Value<Named>) -> Option<Value<Noted>> {
        Some(match value {
            Value::Constant(it) => Value::Constant(it),
            Value::In(it) => Value::In((self.0)(it)?),
            Value::Sum(a, b) => Value::Sum((self.0)(a)?, (self.0)(b)?),
            Value::Unknown => Value::Unknown,
        })
    }

    fn when(&mut self, when: When<Named>) -> Option<When<Noted>> {
        Some(match when {
            When::Always => When::Always,
            When::Same(a, b, bytes) => When::Same((self.0)(a)?, (self.0)(b)?, bytes),
            When::Differ(a, b, bytes) => When::Differ((self.0)(a)?, (self.0)(b)?, bytes),
        })
    }
}
