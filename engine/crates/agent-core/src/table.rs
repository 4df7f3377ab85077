//! Functions by their addresses, which a probe looks up first. Reading takes no lock.
//!
//! By hand: to read the concurrent maps of libraries (`dashmap`, `papaya`), a thread takes a lock or registers itself, and a
//! probe may do neither.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// What is known of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// It is not observed.
    None,
    /// It is observed under this number.
    Open(u32),
    /// It is known not to be a hotspot: its calls are counted and not measured.
    Shut(u32),
}

impl Gate {
    const OPEN: u64 = 1;
    const SHUT: u64 = 2;

    fn to_word(self) -> u64 {
        match self {
            Gate::None => 0,
            Gate::Open(method) => u64::from(method) << 2 | Gate::OPEN,
            Gate::Shut(method) => u64::from(method) << 2 | Gate::SHUT,
        }
    }

    #[inline(always)]
    fn of_word(word: u64) -> Gate {
        match word & 3 {
            0 => Gate::None,
            Gate::OPEN => Gate::Open((word >> 2) as u32),
            _ => Gate::Shut((word >> 2) as u32),
        }
    }
}

#[derive(Default)]
struct Slot {
    /// The function's address; 0 when the slot is free, 1 when it was.
    function: AtomicU64,
    gate: AtomicU64,
}

const REMOVED: u64 = 1;

/// Slots by multiplicative hashing; at most half of them are in use.
struct Slots {
    /// 64 less the logarithm of their number.
    shift: u32,
    used: usize,
    slots: Box<[Slot]>,
}

impl Slots {
    fn new(bits: u32) -> Slots {
        Slots {
            shift: 64 - bits,
            used: 0,
            slots: (0..1_usize << bits).map(|_| Slot::default()).collect(),
        }
    }

    #[inline(always)]
    fn place(&self, function: u64) -> usize {
        (function.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    /// The slot that has the function, else the free one that ends the search.
    #[inline(always)]
    fn find(&self, function: u64) -> (&Slot, bool) {
        let mut at = self.place(function);
        loop {
            let slot = &self.slots[at & (self.slots.len() - 1)];
            match slot.function.load(Ordering::Acquire) {
                found if found == function => return (slot, true),
                0 => return (slot, false),
                _ => at += 1,
            }
        }
    }

    fn set(&mut self, function: u64, gate: Gate) {
        let (slot, known) = self.find(function);
        // Before the address: whoever finds that finds the gate.
        slot.gate.store(gate.to_word(), Ordering::Release);
        slot.function.store(function, Ordering::Release);
        self.used += usize::from(!known);
    }
}

/// The functions of a process. Any thread may read; callers ensure that one thread at a time changes it.
pub struct Table {
    slots: AtomicPtr<Slots>,
}

impl Default for Table {
    fn default() -> Self {
        Table {
            slots: AtomicPtr::new(Box::into_raw(Box::new(Slots::new(10)))),
        }
    }
}

impl Table {
    fn slots(&self) -> &Slots {
        // SAFETY: a box that is never freed.
        unsafe { &*self.slots.load(Ordering::Acquire) }
    }

    /// What is known of a function. `None` for one that was never set.
    #[inline(always)]
    pub fn get(&self, function: usize) -> Option<Gate> {
        let (slot, known) = self.slots().find(function as u64);
        known.then(|| Gate::of_word(slot.gate.load(Ordering::Relaxed)))
    }

    /// Sets what is known of a function.
    ///
    /// # Safety
    /// No other thread changes the table meanwhile.
    pub unsafe fn set(&self, function: usize, gate: Gate) {
        let function = function as u64;
        if function <= REMOVED {
            return;
        }
        let slots = self.slots();
        if !slots.find(function).1 && slots.used * 2 >= slots.slots.len() {
            // Whoever still reads the old slots does not find new functions, and looks them up again.
            let all = slots.slots.iter();
            let live = all.filter(|slot| slot.function.load(Ordering::Relaxed) > REMOVED);
            let grows = u32::from(live.count() * 4 >= slots.slots.len());
            let mut next = Slots::new(64 - slots.shift + grows);
            for slot in &slots.slots {
                let function = slot.function.load(Ordering::Relaxed);
                if function > REMOVED {
                    let gate = Gate::of_word(slot.gate.load(Ordering::Relaxed));
                    next.set(function, gate);
                }
            }
            self.slots
                .store(Box::into_raw(Box::new(next)), Ordering::Release);
        }
        // SAFETY: as in `slots`; that nobody else changes it is the caller's promise, and readers see atomic fields alone.
        let slots = unsafe { &mut *self.slots.load(Ordering::Acquire) };
        slots.set(function, gate);
    }

    /// Forgets functions, whose addresses may become those of others. No other thread may change the table meanwhile.
    pub fn forget(&self, gone: impl Fn(usize) -> bool) {
        for slot in &self.slots().slots {
            let function = slot.function.load(Ordering::Relaxed);
            if function > REMOVED && gone(function as usize) {
                slot.function.store(REMOVED, Ordering::Release);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(table: &Table, function: usize, gate: Gate) {
        // SAFETY: a test has one thread.
        unsafe { table.set(function, gate) };
    }

    #[test]
    fn functions_are_found_however_many_there_are() {
        let table = Table::default();
        let functions = || (0..5000_usize).map(|at| 0x5555_0000_1000 + at * 24);
        for (number, function) in functions().enumerate() {
            assert_eq!(table.get(function), None);
            let gate = match number % 3 {
                0 => Gate::None,
                1 => Gate::Open(number as u32),
                _ => Gate::Shut(u32::MAX - number as u32),
            };
            set(&table, function, gate);
            assert_eq!(table.get(function), Some(gate));
        }
        assert_eq!(table.get(0x5555_0000_1000 + 24 * 4), Some(Gate::Open(4)));
        set(&table, 0x5555_0000_1000 + 24 * 4, Gate::Shut(4));
        assert_eq!(table.get(0x5555_0000_1000 + 24 * 4), Some(Gate::Shut(4)));
        assert_eq!(table.get(0x5555_0000_1001), None);
        table.forget(|function| function < 0x5555_0000_1000 + 24 * 1000);
        let known = functions().filter(|it| table.get(*it).is_some());
        assert_eq!(known.count(), 4000);
        set(&table, 0x5555_0000_1000, Gate::Open(7));
        assert_eq!(table.get(0x5555_0000_1000), Some(Gate::Open(7)));
    }

    #[test]
    fn what_was_forgotten_again_and_again_leaves_room() {
        let table = Table::default();
        for round in 0..10_000_usize {
            set(&table, 0x1000 + round * 16, Gate::Open(1));
            table.forget(|_| true);
        }
        assert_eq!(table.get(0x1000), None);
        assert!(
            table.slots().slots.len() <= 4096,
            "{}",
            table.slots().slots.len()
        );
    }
}
