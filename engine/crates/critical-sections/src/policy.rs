//! Lock sites without flow: their sections begin without asking the observer (rule 7).
//!
//! The observer learns from all threads which sites rest, and for how long. Asking it takes its lock, so a thread that was
//! told no asks less and less often. The answer holds for a site, or for one lock at the site, until the observer tells all
//! threads to ask again ([`wake`]). An answer for a site does not apply to locks with flow ([`flows_under`]).
//!
//! [`lock_hook!`](crate::lock_hook) reads the same tables with its own instructions.

use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// The number of keys that a thread remembers. Two keys in one place evict each other.
const PLACES: usize = 64;
/// Sections between two questions, at first and at most. The observer says no once others have seen enough.
const REST: [u32; 2] = [8, 256];
/// The same for sections that are too long to be watched to the end: they cost most and show least.
const REST_OF_LONG: [u32; 2] = [1, 1024];

/// Marks locks with flow, by `flowing_place`. A lock without flow may share a mark.
pub static FLOWING: [AtomicU8; FLOWING_PLACES] = [const { AtomicU8::new(0) }; FLOWING_PLACES];
const FLOWING_PLACES: usize = 1 << (32 - FLOWING_SHIFT);
/// Mixes the lower half of a lock's address.
pub const FLOWING_FACTOR: u32 = 0x6c62_272d;
/// What remains of the product is the place.
pub const FLOWING_SHIFT: u32 = 22;
/// Mixes a lock's address before it is combined with a site's address.
pub const LOCK_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
/// Mixes upper bits of a key into the lower ones, which select the place.
pub const KEY_SHIFT: u32 = 7;

/// How often threads were told to ask again.
pub static GENERATION: AtomicU32 = AtomicU32::new(0);

/// Invalidates what threads remember.
pub fn wake() {
    GENERATION.fetch_add(1, Ordering::Release);
}

/// Locks under which something has flowed once.
static ONCE: [AtomicU64; 256] = [const { AtomicU64::new(0) }; 256];

/// Something flows under a lock. Only the second time counts, because some locks are created for a single use.
pub fn flows_under(lock: u64) {
    if flows(lock) {
        return;
    }
    let place = flowing_place(lock);
    if ONCE[place % ONCE.len()].swap(lock, Ordering::Relaxed) == lock {
        FLOWING[place].store(1, Ordering::Release);
    }
}

fn flows(lock: u64) -> bool {
    FLOWING[flowing_place(lock)].load(Ordering::Relaxed) != 0
}

/// Resets everything, in a forked child.
pub(crate) fn forget() {
    for mark in &FLOWING {
        mark.store(0, Ordering::Relaxed);
    }
    for lock in &ONCE {
        lock.store(0, Ordering::Relaxed);
    }
    wake();
}

fn flowing_place(lock: u64) -> usize {
    ((lock as u32).wrapping_mul(FLOWING_FACTOR) >> FLOWING_SHIFT) as usize
}

/// The key of a lock at a site.
fn key(site: u64, lock: u64) -> u64 {
    site ^ lock.wrapping_mul(LOCK_FACTOR)
}

fn place(key: u64) -> usize {
    (key ^ key >> KEY_SHIFT) as usize % PLACES
}

/// What a thread knows about one key.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Rest {
    /// A site, or the key of a lock at a site.
    pub(crate) key: u64,
    /// Sections left until the next question. None if negative.
    pub(crate) left: i32,
    /// The [`GENERATION`] in which this was learned.
    pub(crate) generation: u32,
}

/// The size of a `Rest` in bytes, as a shift.
pub const REST_SHIFT: u32 = size_of::<Rest>().trailing_zeros();
/// Selects the place from a mixed key.
pub const PLACES_MASK: u32 = PLACES as u32 - 1;

/// What a thread knows about lock sites.
pub(crate) struct Rests {
    rests: [Rest; PLACES],
    /// The length of the last rest.
    last: [u32; PLACES],
    /// Keys of locks at sites whose last section was watched to its end.
    watched: [u64; PLACES],
}

impl Rests {
    /// An empty table.
    pub(crate) fn new() -> Self {
        Rests {
            rests: [Rest::default(); PLACES],
            last: [0; PLACES],
            watched: [0; PLACES],
        }
    }

    /// The start of the table, which has one [`Rest`] per place.
    pub(crate) fn table(&self) -> *const Rest {
        self.rests.as_ptr()
    }

    /// A section begins by taking this lock at this site. Returns whether it certainly runs natively.
    #[inline]
    pub(crate) fn rests(&mut self, site: u64, lock: u64) -> bool {
        !flows(lock) && self.rests_by(site) || self.rests_by(key(site, lock))
    }

    #[inline]
    fn rests_by(&mut self, key: u64) -> bool {
        let rest = &mut self.rests[place(key)];
        let holds = rest.key == key
            && rest.left > 0
            && rest.generation == GENERATION.load(Ordering::Relaxed);
        if holds {
            rest.left -= 1;
        }
        holds
    }

    /// The observer is not interested in a lock at a site, or in all locks taken there.
    pub(crate) fn unwanted(&mut self, site: u64, lock: u64, scope: Scope) {
        self.watched[place(key(site, lock))] = 0;
        let key = match scope {
            Scope::Site if !flows(lock) => site,
            _ => key(site, lock),
        };
        self.rest(key, REST);
    }

    /// A section was too long to be watched to the end.
    pub(crate) fn too_long(&mut self, site: u64, lock: u64) {
        let key = match flows(lock) {
            true => key(site, lock),
            false => site,
        };
        self.rest(key, REST_OF_LONG);
    }

    /// A section was watched to the end.
    pub(crate) fn watched(&mut self, site: u64, lock: u64) {
        let of_lock = key(site, lock);
        self.watched[place(of_lock)] = of_lock;
        for key in [site, of_lock] {
            let place = place(key);
            if self.rests[place].key == key {
                self.rests[place].left = 0;
                self.last[place] = 0;
            }
        }
    }

    /// Whether the last section that began by taking this lock at this site was watched to its end.
    #[inline]
    pub(crate) fn was_watched(&self, site: u64, lock: u64) -> bool {
        let key = key(site, lock);
        self.watched[place(key)] == key
    }

    /// Rests twice as long as last time.
    fn rest(&mut self, key: u64, [first, longest]: [u32; 2]) {
        let place = place(key);
        let last = match self.rests[place].key == key {
            true => self.last[place].saturating_mul(2).clamp(first, longest),
            false => first,
        };
        self.last[place] = last;
        self.rests[place] = Rest {
            key,
            left: last as i32,
            generation: GENERATION.load(Ordering::Relaxed),
        };
    }
}

/// What the observer's no applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All sections that begin at the site.
    Site,
    /// Sections that begin at the site by taking this lock.
    Lock,
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, MutexGuard};

    use super::*;

    const SITE: u64 = 0x1234;
    const LOCK: u64 = 0x7000;

    /// Runs one test at a time, because the marks are shared.
    fn alone() -> MutexGuard<'static, ()> {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(|broken| broken.into_inner());
        forget();
        alone
    }

    /// How many times in a row a lock rests at the site.
    fn run(rests: &mut Rests, lock: u64, most: usize) -> usize {
        (0..most).take_while(|_| rests.rests(SITE, lock)).count()
    }

    /// The section counts after which the observer is asked, if it always says no.
    #[test]
    fn questions_become_rarer_and_a_yes_ends_the_rest() {
        let _alone = alone();
        let mut rests = Rests::new();
        let mut between = Vec::new();
        for _ in 0..8 {
            rests.unwanted(SITE, LOCK, Scope::Site);
            between.push(run(&mut rests, LOCK, 1000));
        }
        assert_eq!(between, [8, 16, 32, 64, 128, 256, 256, 256]);
        assert!(!rests.rests(0x4321, LOCK));
        rests.watched(SITE, LOCK);
        assert!(!rests.rests(SITE, LOCK));
    }

    #[test]
    fn long_sections_rest_longer_until_one_is_watched_to_its_end() {
        let _alone = alone();
        let mut rests = Rests::new();
        let mut between = Vec::new();
        for _ in 0..12 {
            rests.too_long(SITE, LOCK);
            between.push(run(&mut rests, LOCK, 5000));
        }
        assert_eq!(between[4..], [16, 32, 64, 128, 256, 512, 1024, 1024]);
        rests.watched(SITE, LOCK);
        rests.too_long(SITE, LOCK);
        assert_eq!(run(&mut rests, LOCK, 9), 1);
    }

    #[test]
    fn sites_in_one_place_forget_each_other() {
        let _alone = alone();
        let mut rests = Rests::new();
        let other = (1..).find(|it| place(*it) == place(SITE)).unwrap();
        rests.unwanted(SITE, LOCK, Scope::Site);
        rests.unwanted(other, LOCK, Scope::Site);
        assert!(!rests.rests(SITE, LOCK));
        assert!(rests.rests(other, LOCK));
    }

    /// A library takes all its locks in one function: an answer about one lock there does not apply to others.
    #[test]
    fn a_lock_rests_alone_where_something_flows() {
        let _alone = alone();
        let mut rests = Rests::new();
        rests.unwanted(SITE, LOCK, Scope::Lock);
        assert!(!rests.rests(SITE, LOCK + 64));
        assert!(rests.rests(SITE, LOCK));
    }

    #[test]
    fn under_a_lock_that_flows_no_site_rests_but_what_is_said_of_the_lock_holds() {
        let _alone = alone();
        let mut rests = Rests::new();
        let other = (1..)
            .map(|n| LOCK + 8 * n)
            .find(|it| flowing_place(*it) != flowing_place(LOCK))
            .unwrap();
        rests.unwanted(SITE, other, Scope::Site);
        flows_under(LOCK);
        assert!(rests.rests(SITE, LOCK));
        flows_under(LOCK);
        rests.unwanted(SITE, other, Scope::Site);
        assert!(!rests.rests(SITE, LOCK));
        assert!(rests.rests(SITE, other));
        rests.unwanted(SITE, LOCK, Scope::Site);
        assert!(rests.rests(SITE, LOCK));
    }

    #[test]
    fn what_was_watched_is_known_until_nobody_wants_it() {
        let _alone = alone();
        let mut rests = Rests::new();
        assert!(!rests.was_watched(SITE, LOCK));
        rests.watched(SITE, LOCK);
        assert!(rests.was_watched(SITE, LOCK));
        assert!(!rests.was_watched(SITE, LOCK + 64));
        rests.unwanted(SITE, LOCK, Scope::Site);
        assert!(!rests.was_watched(SITE, LOCK));
    }

    #[test]
    fn whoever_is_called_asks_again() {
        let _alone = alone();
        let mut rests = Rests::new();
        for scope in [Scope::Site, Scope::Lock] {
            rests.unwanted(SITE, LOCK, scope);
            wake();
            assert!(!rests.rests(SITE, LOCK), "{scope:?}");
        }
    }
}
