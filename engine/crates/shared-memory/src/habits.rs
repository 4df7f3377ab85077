//! What threads do with products after sections, so that not every window must be watched.
//!
//! After the same instructions in a section, a thread uses what it took, or does not. If it has used the same product after very many
//! sections in a row, the next ones count as used when they end. Some are still watched, and the first difference ends the habit.

use crate::routines::Way;

/// A habit is known after this many sections in a row.
const ENOUGH: u32 = 64;
/// One of so many sections is watched then.
const CHECKED: u32 = 64;
/// The number of habits that are remembered, a power of two. Two in one place evict each other.
const PLACES: usize = 256;

#[derive(Clone, Copy, Debug)]
struct Habit {
    way: Way,
    /// Which of the products that the section read is used.
    which: u8,
    /// Sections in a row after which it was used, or was said to be.
    times: u32,
}

/// All habits.
#[derive(Debug)]
pub(crate) struct Habits(Vec<Option<Habit>>);

impl Habits {
    pub(crate) fn new() -> Self {
        Habits(vec![None; PLACES])
    }

    /// Which product is used after a section, if that is certain enough.
    #[inline]
    pub(crate) fn expect(&mut self, way: Way) -> Option<u8> {
        let habit = self.0[way.place(PLACES)]
            .as_mut()
            .filter(|it| it.way == way)?;
        if habit.times < ENOUGH || habit.times.is_multiple_of(CHECKED) {
            return None;
        }
        habit.times = habit.times.wrapping_add(1).max(ENOUGH);
        Some(habit.which)
    }

    /// What was used after a section, as the window after it has shown.
    pub(crate) fn learn(&mut self, way: Way, used: Option<u8>) {
        let slot = &mut self.0[way.place(PLACES)];
        let known = slot.filter(|it| it.way == way && Some(it.which) == used);
        *slot = match (known, used) {
            (Some(habit), _) => Some(Habit {
                times: habit.times.wrapping_add(1).max(habit.times.min(ENOUGH)),
                ..habit
            }),
            (None, Some(which)) => Some(Habit {
                way,
                which,
                times: 1,
            }),
            (None, None) => slot.filter(|it| it.way != way),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{CodeAddress, LockId};

    const WAY: Way = Way::new(CodeAddress(7), LockId(8));

    /// Of so many sections, those that were watched.
    fn watched(habits: &mut Habits, sections: u32, used: impl Fn(u32) -> Option<u8>) -> Vec<u32> {
        let watch = |number: &u32| {
            let expected = habits.expect(WAY);
            if expected.is_none() {
                habits.learn(WAY, used(*number));
            }
            expected.is_none()
        };
        (0..sections).filter(watch).collect()
    }

    #[test]
    fn a_habit_is_checked_now_and_then() {
        let mut habits = Habits::new();
        let found = watched(&mut habits, 300, |_| Some(1));
        let expect: Vec<u32> = (0..=64).chain([128, 192, 256]).collect();
        assert_eq!(found, expect);
        assert_eq!(habits.expect(WAY), Some(1));
        assert_eq!(habits.expect(Way::new(CodeAddress(8), LockId(8))), None);
    }

    #[test]
    fn the_first_difference_ends_it() {
        for other in [None, Some(2)] {
            let mut habits = Habits::new();
            let found = watched(
                &mut habits,
                300,
                |it| if it == 128 { other } else { Some(1) },
            );
            let again = found.iter().filter(|it| **it > 128).take(64);
            assert!(again.copied().eq(129..193), "{found:?}");
        }
        let mut habits = Habits::new();
        let mixed = watched(&mut habits, 300, |it| (it % 2 == 0).then_some(1));
        assert_eq!(mixed.len(), 300);
    }
}
