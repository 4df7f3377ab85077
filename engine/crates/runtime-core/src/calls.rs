//! The time that targets spend in libc functions that may wait or for which the kernel works: a table to which the handlers of
//! all threads add without a lock.

use core::sync::atomic::Ordering;

use fulcrum_wire::{CallSlot, call_key, holder_key, holder_of};

/// The slots of one map.
#[derive(Clone, Copy, Debug)]
pub struct Calls<'a> {
    slots: &'a [CallSlot],
}

/// Time in one function, in sampling periods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Samples: processor time.
    pub processor: u64,
    /// Wall time.
    pub whole: u64,
}

/// The most slots that are tried for one key.
const MOST_STEPS: usize = 32;

impl<'a> Calls<'a> {
    /// A table of these slots. Zeroed slots are empty.
    pub fn new(slots: &'a [CallSlot]) -> Calls<'a> {
        Calls { slots }
    }

    /// Adds what a target has spent in a function, an index of [`fulcrum_wire::FUNCTIONS`]. Counts nothing where the table is
    /// full around the key's place.
    pub fn add(&self, target: u32, function: u8, spent: Spent) {
        self.add_to(call_key(target, function), spent);
    }

    /// Counts that the target `holder` released a lock for which the target `waiter` had waited.
    pub fn add_holder(&self, holder: u32, waiter: u32) {
        let once = Spent {
            processor: 1,
            whole: 0,
        };
        if let Some(key) = holder_key(waiter, holder) {
            self.add_to(key, once);
        }
    }

    fn add_to(&self, key: u64, spent: Spent) {
        let start = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize;
        for step in 0..MOST_STEPS.min(self.slots.len()) {
            let slot = &self.slots[(start + step) % self.slots.len()];
            if is_taken_for(slot, key) {
                slot.processor.fetch_add(spent.processor, Ordering::Relaxed);
                slot.whole.fetch_add(spent.whole, Ordering::Relaxed);
                return;
            }
        }
    }

    /// For each pair: the target that waited for a lock, the target that released it, and how often.
    pub fn holders(&self) -> impl Iterator<Item = (u32, u32, u64)> {
        self.slots.iter().filter_map(|slot| {
            let (waiter, holder) = holder_of(slot.key.load(Ordering::Relaxed))?;
            Some((waiter, holder, slot.processor.load(Ordering::Relaxed)))
        })
    }

    /// Everything that was added: the target, the function's name, and the time.
    pub fn all(&self) -> impl Iterator<Item = (u32, &'static str, Spent)> {
        self.slots.iter().filter_map(|slot| {
            let (target, function) = fulcrum_wire::called_by(slot.key.load(Ordering::Relaxed))?;
            let spent = Spent {
                processor: slot.processor.load(Ordering::Relaxed),
                whole: slot.whole.load(Ordering::Relaxed),
            };
            Some((target, function, spent))
        })
    }
}

/// Whether a slot belongs to this key, after taking it if it was free.
fn is_taken_for(slot: &CallSlot, key: u64) -> bool {
    let seen = slot.key.load(Ordering::Relaxed);
    if seen != 0 {
        return seen == key;
    }
    let order = Ordering::Relaxed;
    match slot.key.compare_exchange(0, key, order, order) {
        Ok(_) => true,
        Err(other) => other == key,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn slots(count: usize) -> Vec<CallSlot> {
        (0..count).map(|_| CallSlot::default()).collect()
    }

    const fn spent(processor: u64, whole: u64) -> Spent {
        Spent { processor, whole }
    }

    #[test]
    fn each_target_and_function_has_a_sum_of_its_own() {
        let slots = slots(64);
        let calls = Calls::new(&slots);
        let (lock, send) = (
            fulcrum_wire::function("pthread_mutex_lock"),
            fulcrum_wire::function("sendmsg"),
        );
        for _ in 0..3 {
            calls.add(7, lock, spent(0, 5));
            calls.add(7, send, spent(2, 2));
            calls.add(8, lock, spent(1, 0));
        }
        let mut all: Vec<_> = calls.all().collect();
        all.sort_by_key(|it| (it.0, it.1));
        assert_eq!(
            all,
            [
                (7, "pthread_mutex_lock", spent(0, 15)),
                (7, "sendmsg", spent(6, 6)),
                (8, "pthread_mutex_lock", spent(3, 0)),
            ]
        );
    }

    #[test]
    fn who_holds_a_lock_is_told_by_who_waited() {
        let slots = slots(64);
        let calls = Calls::new(&slots);
        for (holder, waiter) in [(9, 3), (9, 3), (4, 3), (3, 9)] {
            calls.add_holder(holder, waiter);
        }
        calls.add_holder(1 << 28, 3);
        let mut holders: Vec<_> = calls.holders().collect();
        holders.sort_unstable();
        assert_eq!(holders, [(3, 4, 1), (3, 9, 2), (9, 3, 1)]);
        assert_eq!(calls.all().count(), 0);
    }

    #[test]
    fn a_full_table_keeps_what_it_has() {
        let slots = slots(8);
        let calls = Calls::new(&slots);
        for target in 0..100 {
            calls.add(target, fulcrum_wire::KERNEL, spent(1, 0));
        }
        assert_eq!(calls.all().count(), 8);
        let (kept, ..) = calls.all().next().expect("a slot");
        calls.add(kept, fulcrum_wire::KERNEL, spent(1, 0));
        let again = calls.all().find(|it| it.0 == kept);
        assert_eq!(again, Some((kept, "kernel", spent(2, 0))));
        Calls::new(&[]).add(1, fulcrum_wire::KERNEL, spent(1, 0));
    }

    #[test]
    fn a_damaged_table_says_nothing_that_it_cannot_mean() {
        let slots = slots(2);
        slots[0].key.store(u64::MAX, Ordering::Relaxed);
        slots[1].key.store(0xfe, Ordering::Relaxed);
        assert_eq!(Calls::new(&slots).all().count(), 0);
    }
}
