//! Spreads the delay of a sample over the stretches of work for which it stands.
//!
//! A sample in the selected line stands for a whole sampling period, and so its delay is as long as the line would have become
//! shorter in a period. COZ gives it to the other threads at once (§3.4). Where threads meet more often than once in a few
//! periods, that is wrong: the line has become shorter in each stretch between two meetings, by a little. A thread that has to
//! wait anyway can bear a little without being late. It cannot bear the delay of many stretches in one.
//!
//! A *stretch* is the work of a thread between two calls that may block it or wake another. The delay that samples earn is held
//! back, and given out as time passes in stretches that began at the same place in the program: as much as the speedup saves
//! there, if the line has the same share of their time as of their samples. What was earned while a lock was held is given out
//! while it is held, and not after it was released. A thread that makes no calls gives all of it at once, as COZ does.

use core::cell::Cell;

/// What counts as a stretch, nanoseconds. Of calls that follow one another more closely, one counts.
const SHORTEST_NS: u64 = 20_000;
/// The least delay that is given out, nanoseconds, while more is held back.
pub const LEAST_NS: u64 = 20_000;
/// The clock is read at this many calls after a sample, and then at one of many.
const CLOCKED: u32 = 32;
const THEN_ONE_OF: u32 = 512;
/// The places where stretches begin that are told apart in an experiment; the last one stands for all others.
const PLACES: usize = 16;
/// Shares and factors are fractions of this.
const ONE: u64 = 1 << 10;
/// The least share that is assumed of a line that has been seen, so that its delay is given out within an experiment.
const LEAST_SHARE: u64 = ONE / 16;
/// A share is the mean of this many samples, the older ones fading.
const REMEMBERED: u32 = 16;

/// The experiment in which time passes.
#[derive(Clone, Copy, Debug)]
pub struct Speedup {
    /// Number of the experiment.
    pub experiment: u32,
    /// What it saves of the selected line, ten-thousandths.
    pub level: u32,
}

impl Speedup {
    fn of(self, ns: u64) -> u64 {
        (u128::from(ns) * u128::from(self.level) / u128::from(fulcrum_wire::FULL_SPEEDUP)) as u64
    }
}

/// Samples that a thread has taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// The processor time for which they stand, nanoseconds.
    pub time_ns: u64,
    /// The delay that those in the selected line have earned, nanoseconds.
    pub earned_ns: u64,
}

/// Delay that is given out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// All of it, nanoseconds.
    pub delay: u64,
    /// How much of it the speedup can have saved in the time since the last was given out. The rest stands for other times.
    pub saved_now: u64,
}

/// The stretches that begin at one place.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// The number that stands for the place. 0 for none: before the first call, and for places that are not told apart.
    number: usize,
    /// Delay that is held back, nanoseconds; below 0, what was given out before it was earned.
    held: i64,
    /// Delay that is due and too short to be given out alone, nanoseconds.
    due: u64,
    /// The line's share of the samples, and of how many.
    share: u64,
    samples: u32,
}

impl Place {
    fn learn(&mut self, share: u64) {
        self.samples = (self.samples + 1).min(REMEMBERED);
        let n = u64::from(self.samples);
        self.share = (self.share * (n - 1) + share) / n;
    }

    /// Gives out what is due after the thread ran for `ran` nanoseconds with the line at `share` of them. `lump` is the delay
    /// of one sample. So much may be given out before it is earned: which of two stretches of a kind gets the sample is chance.
    fn give(&mut self, ran: u64, share: u64, lump: u64, speedup: Speedup) -> Given {
        let least = if self.held > 0 { LEAST_SHARE } else { 0 };
        let saved = speedup.of(ran);
        self.due += saved * share.max(least) / ONE * self.factor(lump) / ONE;
        if self.due < LEAST_NS {
            return Given::default();
        }
        let most = self.held.saturating_add_unsigned(lump).max(0) as u64;
        let delay = core::mem::take(&mut self.due).min(most);
        self.held = self.held.saturating_sub_unsigned(delay);
        Given {
            delay,
            saved_now: delay.min(saved),
        }
    }

    /// How fast delay is given out: as fast as it is saved, and faster the more is held back, so that it does not pile up.
    fn factor(&self, lump: u64) -> u64 {
        let lump = lump.max(1).cast_signed();
        let filled = self.held.saturating_mul(ONE.cast_signed()) / lump;
        let factor = ONE.cast_signed() + filled / 4;
        factor.clamp(0, 3 * ONE.cast_signed()) as u64
    }
}

/// What one thread holds back, and the stretch that it is in.
///
/// `now` is the thread's processor time, nanoseconds: while it waits for a processor, a speedup saves nothing.
#[derive(Debug, Default)]
pub struct Spread {
    places: [Cell<Place>; PLACES],
    /// Where the stretch began, as an index of `places`.
    place: Cell<usize>,
    /// Where the next one will begin if it begins now: the place's number.
    next: Cell<usize>,
    /// When the stretch began, nanoseconds.
    begin: Cell<u64>,
    /// Up to when delay was given out, nanoseconds.
    since: Cell<u64>,
    /// Calls since the last sample.
    calls: Cell<u32>,
    /// The delay of the last sample, nanoseconds.
    lump: Cell<u64>,
    /// The experiment that the delay belongs to.
    experiment: Cell<u32>,
}

impl Spread {
    /// Counts a call that may block the thread or wake another. Returns whether [`Spread::end_stretch`] is to be called: not at
    /// each of many calls in quick succession.
    #[inline(always)]
    pub fn count_call(&self) -> bool {
        let calls = self.calls.get().wrapping_add(1);
        self.calls.set(calls);
        calls <= CLOCKED || calls.is_multiple_of(THEN_ONE_OF)
    }

    /// Whether [`Spread::resume`] is to be called after a call that blocked the thread.
    #[inline(always)]
    pub fn is_watched(&self) -> bool {
        self.calls.get() <= CLOCKED
    }

    /// The thread is about to make a call from a place in the program, for which a number stands. Returns what is to be given out
    /// before.
    pub fn end_stretch(&self, now: u64, place: usize, speedup: Speedup) -> Given {
        self.next.set(place);
        if now.saturating_sub(self.begin.get()) < SHORTEST_NS {
            return Given::default();
        }
        self.adopt(speedup.experiment, now);
        let mut here = self.places[self.place.get()].get();
        let ran = now.saturating_sub(self.since.get());
        let given = here.give(ran, here.share, self.lump.get(), speedup);
        self.places[self.place.get()].set(here);
        self.resume(now);
        given
    }

    /// Samples were taken in the stretch. Returns what is to be given out now.
    pub fn sampled(&self, taken: Taken, now: u64, speedup: Speedup) -> Given {
        self.adopt(speedup.experiment, now);
        self.calls.set(0);
        let most = speedup.of(taken.time_ns);
        if most == 0 {
            return Given::default();
        }
        let mut here = self.places[self.place.get()].get();
        let ran = now.saturating_sub(self.since.replace(now));
        let share = taken.earned_ns.min(most) * ONE / most;
        here.learn(share);
        here.held = here.held.saturating_add_unsigned(taken.earned_ns);
        if taken.earned_ns > 0 {
            self.lump.set(taken.earned_ns);
        }
        let given = if here.number == 0 {
            // It has made no calls: nobody waits for it in the meantime.
            here.due = 0;
            Given {
                delay: core::mem::take(&mut here.held).max(0) as u64,
                saved_now: 0,
            }
        } else {
            // The more of a period the thread has run since the last sample, the more says this one of that time.
            let seen = (ran * ONE / taken.time_ns).min(ONE) * share / ONE;
            here.give(ran, here.share.max(seen), self.lump.get(), speedup)
        };
        self.places[self.place.get()].set(here);
        given
    }

    /// The thread runs again, after a call that blocked it, or has ended a stretch: a new one begins.
    pub fn resume(&self, now: u64) {
        self.place.set(self.index(self.next.get()));
        self.begin.set(now);
        self.since.set(now);
    }

    /// The thread runs again, after it paused within a stretch.
    pub fn resume_stretch(&self, now: u64) {
        self.since.set(now);
    }

    /// The thread ends. Returns what is to be given out before: all that it still holds back, less what it gave out before it was
    /// earned.
    pub fn end(&self, speedup: Speedup) -> Given {
        if self.experiment.get() != speedup.experiment {
            return Given::default();
        }
        let held: i64 = self.places.iter().map(|it| it.get().held).sum();
        self.forget();
        Given {
            delay: held.max(0).unsigned_abs(),
            saved_now: 0,
        }
    }

    /// Forgets all, as in a thread that has just begun.
    pub fn clear(&self) {
        self.forget();
        self.places[0].set(Place::default());
        self.next.set(0);
        self.begin.set(0);
        self.since.set(0);
        self.calls.set(0);
        self.experiment.set(0);
    }

    /// What was held back for another experiment is dropped, and its time is over.
    fn adopt(&self, experiment: u32, now: u64) {
        if self.experiment.replace(experiment) != experiment {
            self.forget();
            self.since.set(now);
        }
    }

    /// Where the place is in `places`.
    fn index(&self, number: usize) -> usize {
        let last = PLACES - 1;
        for (at, place) in self.places[..last].iter().enumerate() {
            let found = place.get().number;
            if found == number {
                return at;
            }
            if found == 0 {
                place.set(Place {
                    number,
                    ..Place::default()
                });
                return at;
            }
        }
        last
    }

    /// Forgets every place but that of the stretch, of which it only keeps the number.
    fn forget(&self) {
        let number = self.places[self.place.get()].get().number;
        for place in &self.places {
            place.set(Place::default());
        }
        self.places[0].set(Place {
            number,
            ..Place::default()
        });
        self.place.set(0);
        self.lump.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: u64 = 1_500_000;
    const HALF: Speedup = Speedup {
        experiment: 1,
        level: 5_000,
    };
    const SAMPLE: u64 = PERIOD / 2;
    const HIT: Taken = Taken {
        time_ns: PERIOD,
        earned_ns: SAMPLE,
    };
    const MISS: Taken = Taken {
        time_ns: PERIOD,
        earned_ns: 0,
    };

    /// What a thread gave out in a stretch, and what it would have if the line's share of it were known exactly.
    #[derive(Clone, Copy, Debug)]
    struct Stretch {
        place: usize,
        given: u64,
        saved: u64,
    }

    /// A thread that runs stretches of these lengths in turn, each from a place of its own, without ever waiting. Of each, the
    /// line takes this share, at the end. All that is earned is given out but for what may be held back at each place.
    fn run(kinds: &[(u64, f64)], stretches: usize) -> std::vec::Vec<Stretch> {
        let spread = Spread::default();
        let (mut now, mut next) = (1_000_000, 1_700_000);
        spread.count_call();
        spread.end_stretch(now, 1, HALF);
        let mut earned = 0;
        let all: std::vec::Vec<_> = (0..stretches)
            .map(|n| {
                let place = n % kinds.len();
                let (length, share) = kinds[place];
                let end = now + length;
                let line = end - (length as f64 * share) as u64;
                let mut given = 0;
                while next <= end {
                    let taken = if next > line { HIT } else { MISS };
                    given += spread.sampled(taken, next, HALF).delay;
                    earned += taken.earned_ns;
                    // Not in step with the stretches.
                    next += PERIOD - 100_000 + (n as u64 * 7_919) % 200_001;
                }
                now = end;
                spread.count_call();
                given += spread
                    .end_stretch(now, 1 + (place + 1) % kinds.len(), HALF)
                    .delay;
                Stretch {
                    place,
                    given,
                    saved: (length as f64 * share) as u64 / 2,
                }
            })
            .collect();
        let given: u64 = all.iter().map(|it| it.given).sum();
        let places = (kinds.len() as u64).min(PLACES as u64);
        assert!(given <= earned + places * SAMPLE, "{given} of {earned}");
        assert!(
            earned.saturating_sub(given) <= 4 * places * SAMPLE,
            "{given} of {earned}"
        );
        all
    }

    #[test]
    fn a_thread_that_makes_no_calls_gives_all_at_once() {
        let spread = Spread::default();
        for n in 1..10 {
            let given = spread.sampled(HIT, n * PERIOD, HALF);
            assert_eq!(given.delay, SAMPLE);
            assert_eq!(given.saved_now, 0, "it stands for the period before");
        }
    }

    #[test]
    fn short_stretches_give_what_the_speedup_saves_in_each() {
        let stretches = run(&[(250_000, 1.0)], 2_000);
        // After the beginning, nearly every one gives about what it saves, and none a whole sample's delay.
        let settled = &stretches[100..];
        assert!(settled.iter().all(|it| it.given <= 3 * it.saved));
        let even = settled
            .iter()
            .filter(|it| it.given.abs_diff(it.saved) <= it.saved / 3)
            .count();
        assert!(
            even * 10 >= settled.len() * 9,
            "{even} of {}",
            settled.len()
        );
    }

    /// A call that waits now and then begins stretches of two kinds, and a sample falls into one of them.
    #[test]
    fn each_kind_gives_its_part_before_the_sample_that_earns_it() {
        let stretches = run(&[(200_000, 1.0), (220_000, 1.0), (190_000, 1.0)], 3_000);
        let settled = &stretches[300..];
        let even = settled
            .iter()
            .filter(|it| it.given.abs_diff(it.saved) <= it.saved / 3)
            .count();
        assert!(
            even * 10 >= settled.len() * 8,
            "{even} of {}",
            settled.len()
        );
    }

    #[test]
    fn a_line_with_a_part_of_each_stretch_gives_its_part() {
        let stretches = run(&[(300_000, 0.4)], 4_000);
        let most = stretches[200..].iter().map(|it| it.given).max().unwrap();
        assert!(most <= 200_000, "far more than the speedup saves: {most}");
    }

    #[test]
    fn delay_is_given_out_in_stretches_of_the_kind_that_has_earned_it() {
        // Under a lock, the line; then other work.
        let stretches = run(&[(900_000, 0.8), (700_000, 0.0)], 2_000);
        let elsewhere: u64 = stretches
            .iter()
            .filter(|it| it.place == 1)
            .map(|it| it.given)
            .sum();
        assert_eq!(elsewhere, 0);
    }

    #[test]
    fn stretches_longer_than_a_period_are_kept_apart_too() {
        let stretches = run(&[(4_000_000, 0.5), (3_000_000, 0.0)], 500);
        let sum = |place| {
            let of = stretches.iter().filter(|it| it.place == place);
            of.map(|it| it.given).sum::<u64>()
        };
        assert_eq!(sum(1), 0);
        assert!(sum(0) > 0);
    }

    #[test]
    fn a_rare_line_is_given_out_too() {
        run(&[(200_000, 0.01)], 40_000);
    }

    #[test]
    fn what_is_too_short_is_given_out_together_with_more() {
        let stretches = run(&[(25_000, 1.0)], 4_000);
        assert!(
            stretches
                .iter()
                .all(|it| it.given == 0 || it.given >= LEAST_NS)
        );
    }

    #[test]
    fn time_in_which_the_thread_was_blocked_or_paused_gives_out_nothing() {
        let spread = Spread::default();
        spread.count_call();
        spread.end_stretch(1_000_000, 7, HALF);
        spread.sampled(HIT, 1_000_000, HALF);
        spread.resume(9_000_000);
        spread.resume_stretch(9_500_000);
        let given = spread.end_stretch(9_600_000, 7, HALF);
        assert_eq!(given.saved_now, 50_000);
        // A sample's delay is held back, so a little more is given out.
        assert_eq!(given.delay, 62_500);
    }

    #[test]
    fn what_an_experiment_has_held_back_is_not_the_next_one_s() {
        let spread = Spread::default();
        spread.count_call();
        spread.end_stretch(1_000_000, 7, HALF);
        spread.sampled(HIT, 1_000_000, HALF);
        let next = Speedup {
            experiment: 2,
            ..HALF
        };
        assert_eq!(spread.end_stretch(2_000_000, 7, next), Given::default());
    }

    #[test]
    fn a_thread_that_ends_gives_out_the_rest() {
        let spread = Spread::default();
        spread.count_call();
        spread.end_stretch(1_000_000, 7, HALF);
        let at_sample = spread.sampled(HIT, 1_200_000, HALF).delay;
        let at_call = spread.end_stretch(1_300_000, 8, HALF).delay;
        let rest = spread.end(HALF);
        assert!(rest.delay > 0);
        assert_eq!(at_sample + at_call + rest.delay, SAMPLE);
        assert_eq!(rest.saved_now, 0, "part of it stands for time before");
        assert_eq!(spread.end(HALF), Given::default());
    }

    #[test]
    fn delay_does_not_pile_up() {
        let spread = Spread::default();
        // Ten samples at once, as when a call hid the others: given out faster than the line could save it.
        let ten = Taken {
            time_ns: 10 * PERIOD,
            earned_ns: 10 * SAMPLE,
        };
        spread.count_call();
        spread.end_stretch(1_000_000, 7, HALF);
        let mut given = spread.sampled(ten, 1_000_000, HALF).delay;
        for sample in 1..=20 {
            spread.count_call();
            let now = 1_000_000 + sample * PERIOD;
            let part = spread.end_stretch(now, 7, HALF);
            assert!(part.saved_now <= SAMPLE);
            given += part.delay + spread.sampled(HIT, now, HALF).delay;
        }
        assert!(given >= 27 * SAMPLE, "{} samples", given / SAMPLE);
    }

    #[test]
    fn no_two_places_are_taken_for_one() {
        // Places whose numbers differ in any bits.
        for other in (0..64).map(|bit| 0x7FFF_1234_5678_usize ^ (1 << bit)) {
            let spread = Spread::default();
            spread.count_call();
            spread.end_stretch(1_000_000, 0x7FFF_1234_5678, HALF);
            spread.sampled(HIT, 1_000_000, HALF);
            let held = spread.end_stretch(1_100_000, other, HALF).delay;
            assert!(held > 0);
            let elsewhere = spread.end_stretch(3_000_000, 0x7FFF_1234_5678, HALF);
            assert_eq!(elsewhere.delay, 0, "{other:x}");
            assert!(spread.end_stretch(4_000_000, other, HALF).delay > 0);
        }
    }

    #[test]
    fn more_places_than_are_told_apart_lose_nothing() {
        let kinds = [(150_000, 1.0); 40];
        run(&kinds, 8_000);
    }

    #[test]
    fn calls_in_quick_succession_end_one_stretch() {
        let spread = Spread::default();
        spread.count_call();
        spread.end_stretch(1_000_000, 1, HALF);
        spread.sampled(HIT, 1_000_000, HALF);
        assert_eq!(spread.end_stretch(1_005_000, 2, HALF), Given::default());
        assert_eq!(spread.end_stretch(1_010_000, 3, HALF), Given::default());
        // Still in the stretch from place 1, to which the delay belongs.
        assert!(spread.end_stretch(1_200_000, 2, HALF).delay > 0);
    }

    #[test]
    fn the_clock_is_read_rarely_where_calls_are_many() {
        let spread = Spread::default();
        let clocked = (0..100_000).filter(|_| spread.count_call()).count();
        assert!(clocked < 100_000 / 400, "{clocked}");
        spread.sampled(MISS, PERIOD, HALF);
        assert!(spread.count_call(), "after each sample it is read again");
    }
}
