//! The contents of a plan, and names for what instructions read and write.

use iced_x86::Register;

use super::flow::Flow;
use crate::list::List;
use crate::step::{Address, Held, Named, Spot, Step, Steps, Value, When};
use crate::translation::emit::{Gpr, RSP};

/// What an instruction does.
pub(crate) struct Plan {
    pub(crate) flow: Flow,
    pub(crate) steps: Steps,
    /// The general registers that it writes, as a bit set.
    pub(crate) written: u16,
    /// The general registers that it reads or writes.
    pub(crate) used: u16,
    /// The vector registers that it writes.
    pub(crate) vectors_written: u32,
    /// The address that [`Named::Result`] refers to, by registers after the instruction.
    pub(crate) result: Option<Address<Gpr>>,
    /// Effects read memory when the unit has run, so the unit must end here.
    pub(crate) late: bool,
}

impl Plan {
    pub(super) fn new(flow: Flow) -> Self {
        Plan {
            flow,
            steps: List::new(),
            written: 0,
            used: 0,
            vectors_written: 0,
            result: None,
            late: false,
        }
    }

    pub(super) fn moves(&mut self, from: Spot<Named>, to: Spot<Named>, value: Value<Named>) {
        self.moves_if(When::Always, from, to, value);
    }

    pub(super) fn moves_if(
        &mut self,
        when: When<Named>,
        from: Spot<Named>,
        to: Spot<Named>,
        value: Value<Named>,
    ) {
        // The stack pointer carries no context.
        if to != general(RSP) {
            self.steps.push(Step::Move {
                from,
                to,
                value,
                when,
            });
        }
    }

    pub(super) fn overwrites(&mut self, to: Spot<Named>, value: Value<Named>) {
        if to != general(RSP) {
            self.steps.push(Step::Overwrite { to, value });
        }
    }

    pub(super) fn uses(&mut self, register: Gpr) {
        let step = Step::Use {
            of: general(register),
            value: Value::Unknown,
        };
        // `test rax, rax` reads it twice.
        if register != RSP && self.steps.as_slice().last() != Some(&step) {
            self.steps.push(step);
        }
    }

    /// Records the use of what is at an address.
    pub(super) fn reads(&mut self, address: &Address<Named>) {
        self.steps.push(Step::Use {
            of: Spot::Memory(*address),
            value: Value::Unknown,
        });
    }

    /// Records the use of an address's registers.
    pub(super) fn follows(&mut self, address: &Address<Named>) {
        for it in [address.base, address.index].into_iter().flatten() {
            if let Named::Before(Held::General(number)) = it {
                self.uses(number);
            }
        }
    }
}

pub(super) fn general(register: Gpr) -> Spot<Named> {
    Spot::Register(Held::General(register))
}

pub(super) fn chunk(register: u8, which: u8) -> Spot<Named> {
    Spot::Register(Held::Chunk(register, which))
}

pub(super) fn before(held: Held) -> Value<Named> {
    Value::In(Named::Before(held))
}

pub(super) fn after(held: Held) -> Value<Named> {
    Value::In(Named::After(held))
}

/// An address in terms of the registers' values before the instruction.
pub(super) fn named(address: &Address<Gpr>) -> Address<Named> {
    let before = |it: Gpr| Named::Before(Held::General(it));
    Address {
        base: address.base.map(before),
        index: address.index.map(before),
        scale: address.scale,
        displacement: address.displacement,
        of_thread: address.of_thread,
        bytes: address.bytes,
    }
}

/// The general register that this is, or is the low part of. `None` for `ah` to `bh`.
pub(super) fn low_part(register: Register) -> Option<Gpr> {
    let high = matches!(
        register,
        Register::AH | Register::BH | Register::CH | Register::DH
    );
    (register.is_gpr() && !high).then(|| register.full_register().number() as Gpr)
}
