//! Decides which values translated code records, and where: each value at most once while its register keeps it.

use super::emit::{Emitter, Gpr, RSP};
use super::plan::Plan;
use crate::list::List;
use crate::memory::tls::{self, SLOTS};
use crate::step::{Held, Named, Noted, Resolve, Step};

/// The most values recorded for one instruction.
const AT_ONCE: usize = 24;

#[derive(Clone, Copy)]
struct Known {
    slot: u8,
    plus: i64,
}

/// The values recorded so far in a unit.
pub(crate) struct Notes {
    general: [Option<Known>; 16],
    /// The first slot, and the number of chunks, starting at the lowest.
    vector: [Option<(u8, u8)>; 32],
    used: usize,
    /// Values recorded for the current instruction.
    names: List<(Named, Noted), AT_ONCE>,
}

impl Notes {
    pub(crate) fn new() -> Self {
        Notes {
            general: [None; 16],
            vector: [None; 32],
            used: 0,
            names: List::new(),
        }
    }

    /// Whether there is room for another instruction's values.
    pub(crate) fn has_room(&self) -> bool {
        self.used + AT_ONCE <= SLOTS
    }

    /// Emits stores of the values before an instruction.
    pub(crate) fn before(&mut self, plan: &Plan, emitter: &mut Emitter) {
        self.names.clear();
        // Backwards, because recording a register's last chunk records all of it.
        for step in plan.steps.as_slice().iter().rev() {
            self.each(step, |notes, name| {
                if let Named::Before(held) = name {
                    let noted = notes.note(held, emitter);
                    notes.names.push((name, noted));
                }
            });
        }
    }

    /// Emits stores of the values after an instruction.
    pub(crate) fn after(&mut self, plan: &Plan, emitter: &mut Emitter) {
        for register in 0..16 {
            if plan.written & 1 << register != 0 && register != RSP {
                self.general[usize::from(register)] = None;
            }
        }
        for register in 0..32 {
            if plan.vectors_written & 1 << register != 0 {
                self.vector[register] = None;
            }
        }
        for step in plan.steps.as_slice().iter().rev() {
            self.each(step, |notes, name| match name {
                Named::Before(_) => {}
                Named::After(held) => {
                    let noted = notes.note(held, emitter);
                    notes.names.push((name, noted));
                }
                Named::Result => {
                    if let Some(noted) = notes.result(plan, emitter) {
                        notes.names.push((name, noted));
                    }
                }
            });
        }
    }

    /// The stack pointer has moved by this much, or by an unknown amount.
    pub(crate) fn stack_moved(&mut self, by: Option<i64>) {
        let known = &mut self.general[usize::from(RSP)];
        *known = match (*known, by) {
            (Some(it), Some(by)) => Some(Known {
                plus: it.plus.wrapping_add(by),
                ..it
            }),
            _ => None,
        };
    }

    /// The step with slots in place of names.
    pub(crate) fn resolved(&self, step: &Step<Named>) -> Option<Step<Noted>> {
        let names = self.names.as_slice();
        let find = |name: Named| names.iter().find(|it| it.0 == name).map(|it| it.1);
        Resolve(find).step(*step)
    }

    /// Calls `what` for each name in a step that has not been recorded yet.
    fn each(&mut self, step: &Step<Named>, mut what: impl FnMut(&mut Self, Named)) {
        let mut find = |name: Named| {
            let names = self.names.as_slice();
            if !names.iter().any(|it| it.0 == name) {
                what(self, name);
            }
            Some(Noted { slot: 0, plus: 0 })
        };
        let _ = Resolve(&mut find).step(*step);
    }

    fn note(&mut self, held: Held, emitter: &mut Emitter) -> Noted {
        match held {
            Held::General(register) => self.general(register, emitter),
            Held::Chunk(register, which) => self.chunk(register, which, emitter),
        }
    }

    fn general(&mut self, register: Gpr, emitter: &mut Emitter) -> Noted {
        if let Some(known) = self.general[usize::from(register)]
            && let Ok(plus) = i32::try_from(known.plus)
        {
            let slot = known.slot;
            return Noted { slot, plus };
        }
        let slot = self.take(1);
        emitter.store(tls::slot(usize::from(slot)), register);
        self.general[usize::from(register)] = Some(Known { slot, plus: 0 });
        Noted { slot, plus: 0 }
    }

    fn chunk(&mut self, register: u8, which: u8, emitter: &mut Emitter) -> Noted {
        let number = usize::from(register);
        if let Some((first, chunks)) = self.vector[number]
            && which < chunks
        {
            let slot = first + which;
            return Noted { slot, plus: 0 };
        }
        let chunks = match which {
            0 | 1 => 2,
            2 | 3 => 4,
            _ => 8,
        };
        let first = self.take(chunks);
        let word = tls::slot(usize::from(first));
        match (register < 16, chunks) {
            (true, 2) => emitter.store_xmm(word, register),
            (true, 4) => emitter.store_ymm(word, register),
            _ => emitter.store_evex(word, register, chunks * 8),
        }
        self.vector[number] = Some((first, chunks));
        let slot = first + which;
        Noted { slot, plus: 0 }
    }

    /// Reads the result through a borrowed register.
    fn result(&mut self, plan: &Plan, emitter: &mut Emitter) -> Option<Noted> {
        let address = plan.result?;
        let free = |it: &Gpr| address.base != Some(*it) && address.index != Some(*it);
        let register = (0..3).find(free)?;
        let slot = self.take(1);
        emitter.store(tls::spill(0), register);
        emitter.load_memory(register, &address);
        emitter.store(tls::slot(usize::from(slot)), register);
        emitter.load(register, tls::spill(0));
        Some(Noted { slot, plus: 0 })
    }

    fn take(&mut self, count: u8) -> u8 {
        let slot = self.used;
        self.used += usize::from(count);
        slot as u8
    }
}
