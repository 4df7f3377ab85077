//! The tags of a thread's registers.

use crate::Register;
use crate::words::Tag;

/// Registers that a call preserves (System V ABI): `rbx`, `rsp`, `rbp`, `r12` to `r15`.
const KEPT_BY_CALLS: u64 = 0b1111_0000_0011_1000;

/// The tag of each register. Most registers have none, and clearing all of them writes one word.
#[derive(Debug)]
pub(crate) struct Registers {
    tags: [Tag; Register::COUNT],
    /// Bit set of the tagged registers.
    tagged: u64,
}

impl Registers {
    /// No register is tagged.
    pub(crate) fn new() -> Self {
        Registers {
            tags: [Tag::None; Register::COUNT],
            tagged: 0,
        }
    }

    pub(crate) fn get(&self, register: Register) -> Tag {
        let at = register.index();
        match self.tagged >> at & 1 {
            0 => Tag::None,
            _ => self.tags[at],
        }
    }

    pub(crate) fn set(&mut self, register: Register, tag: Tag) {
        let at = register.index();
        if matches!(tag, Tag::None) {
            self.tagged &= !(1 << at);
        } else {
            self.tagged |= 1 << at;
            self.tags[at] = tag;
        }
    }

    /// Whether this register has a product.
    #[inline]
    pub(crate) fn has_product(&self, register: Register) -> bool {
        matches!(self.get(register), Tag::Produced(_))
    }

    /// Removes all tags.
    pub(crate) fn forget(&mut self) {
        self.tagged = 0;
    }

    /// Removes the tags of registers that an unwatched call may change.
    pub(crate) fn forget_those_of_calls(&mut self) {
        self.tagged &= KEPT_BY_CALLS;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_leave_the_registers_that_the_abi_says() {
        let mut registers = Registers::new();
        let all = || (0..16).filter_map(Register::general);
        for register in all() {
            registers.set(register, Tag::Invalid);
        }
        let half = Register::vector(15, 1).unwrap();
        registers.set(half, Tag::Invalid);
        registers.set(Register::general(15).unwrap(), Tag::None);
        registers.forget_those_of_calls();
        let kept: Vec<usize> = all()
            .filter(|it| registers.get(*it) == Tag::Invalid)
            .map(Register::index)
            .collect();
        assert_eq!(kept, [3, 4, 5, 12, 13, 14]);
        assert_eq!(registers.get(half), Tag::None);
        registers.forget();
        assert!(all().all(|it| registers.get(it) == Tag::None));
    }
}
