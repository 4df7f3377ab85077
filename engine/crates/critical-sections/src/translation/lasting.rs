//! Finds the steps of a unit that matter in a section. A register's value that is overwritten before it is used need not be
//! reported.

use super::translate::MOST_STEPS;
use super::unit::{Placed, To};
use crate::list::List;
use crate::step::{Held, Noted, Spot, Step, When};

/// Finds these steps. It is large, so it is created once.
pub(crate) struct Lasting {
    /// From the last step to the first.
    kept: List<Placed, MOST_STEPS>,
    /// From the first step to the last.
    steps: List<Placed, MOST_STEPS>,
}

/// Registers whose values may still be needed.
struct Wanted {
    general: u16,
    vector: [u8; 32],
}

/// The registers that native calls preserve: `rbx`, `rbp`, `r12` to `r15`.
const KEPT: u16 = 0b1111_0000_0010_1000;

impl Lasting {
    pub(crate) fn new() -> Self {
        Lasting {
            kept: List::new(),
            steps: List::new(),
        }
    }

    /// Finds the steps that matter on the way to an exit.
    pub(crate) fn find(&mut self, steps: &[Placed], to: To) {
        self.kept.clear();
        self.steps.clear();
        let mut wanted = match to {
            To::Call(_) => Wanted {
                general: KEPT,
                vector: [0; 32],
            },
            _ => Wanted {
                general: u16::MAX,
                vector: [u8::MAX; 32],
            },
        };
        for placed in steps.iter().rev() {
            if wanted.by(&placed.step) {
                self.kept.push(*placed);
            }
        }
        for placed in self.kept.as_slice().iter().rev() {
            self.steps.push(*placed);
        }
    }

    /// The steps found, in execution order.
    pub(crate) fn steps(&self) -> &[Placed] {
        self.steps.as_slice()
    }
}

impl Wanted {
    /// Whether later steps need this one. If so, it becomes one of them. Reads of memory are always needed, because they
    /// show who else uses the memory.
    fn by(&mut self, step: &Step<Noted>) -> bool {
        match step {
            Step::Use { .. } => false,
            Step::Overwrite {
                to: Spot::Register(to),
                ..
            } => self.replaced(*to),
            Step::Move { from, to, when, .. } => {
                let is_wanted = match (from, to) {
                    (Spot::Register(_), Spot::Register(to)) => self.has(*to),
                    _ => true,
                };
                if let (Spot::Register(to), When::Always) = (to, when) {
                    self.replaced(*to);
                }
                if let (Spot::Register(from), true) = (from, is_wanted) {
                    self.wants(*from);
                }
                is_wanted
            }
            Step::Keep { register, .. } => {
                self.wants(*register);
                true
            }
            Step::Overwrite { .. } | Step::Copy { .. } | Step::Fill { .. } => true,
        }
    }

    fn has(&self, held: Held) -> bool {
        match held {
            Held::General(it) => self.general & 1 << it != 0,
            Held::Chunk(register, which) => {
                self.vector[usize::from(register % 32)] & 1 << which != 0
            }
        }
    }

    fn wants(&mut self, held: Held) {
        match held {
            Held::General(it) => self.general |= 1 << it,
            Held::Chunk(register, which) => {
                self.vector[usize::from(register % 32)] |= 1 << which;
            }
        }
    }

    /// The old value is not needed. Returns whether the new one is.
    fn replaced(&mut self, held: Held) -> bool {
        let wanted = self.has(held);
        match held {
            Held::General(it) => self.general &= !(1 << it),
            Held::Chunk(register, which) => {
                self.vector[usize::from(register % 32)] &= !(1 << which);
            }
        }
        wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::{Address, Value};

    const A: Spot<Noted> = Spot::Register(Held::General(0));
    const B: Spot<Noted> = Spot::Register(Held::General(3));

    fn moves(from: Spot<Noted>, to: Spot<Noted>) -> Step<Noted> {
        Step::Move {
            from,
            to,
            value: Value::Unknown,
            when: When::Always,
        }
    }

    fn memory() -> Spot<Noted> {
        Spot::Memory(Address {
            base: None,
            index: None,
            scale: 1,
            displacement: 64,
            of_thread: false,
            bytes: 8,
        })
    }

    /// Expects these steps to remain, by their numbers.
    fn check(steps: &[Step<Noted>], to: To, expect: &[u64]) {
        let placed: Vec<Placed> = (0..)
            .zip(steps)
            .map(|(at, step)| Placed { at, step: *step })
            .collect();
        let mut lasting = Box::new(Lasting::new());
        lasting.find(&placed, to);
        let left: Vec<u64> = lasting.steps().iter().map(|it| it.at).collect();
        assert_eq!(left, expect, "{steps:?}");
    }

    #[test]
    fn what_is_replaced_before_it_is_copied_is_left_out() {
        let overwrite = |to| Step::Overwrite {
            to,
            value: Value::Unknown,
        };
        let steps = [
            overwrite(A),
            moves(A, B),
            overwrite(A),
            moves(memory(), A),
            moves(A, memory()),
        ];
        check(&steps, To::Next(0), &[0, 1, 3, 4]);
        check(&[moves(A, B), overwrite(B)], To::Next(0), &[1]);
        check(&[overwrite(A), overwrite(memory())], To::Next(0), &[0, 1]);
        check(&[overwrite(A), overwrite(B)], To::Call(0), &[1]);
        // Reading memory shows who else uses it.
        check(&[moves(memory(), A), overwrite(A)], To::Call(0), &[0]);
    }

    #[test]
    fn what_may_not_happen_replaces_nothing() {
        let noted = Noted { slot: 0, plus: 0 };
        let maybe = Step::Move {
            from: B,
            to: A,
            value: Value::Unknown,
            when: When::Same(noted, noted, 8),
        };
        check(
            &[moves(B, A), maybe, moves(A, memory())],
            To::Call(0),
            &[0, 1, 2],
        );
    }
}
