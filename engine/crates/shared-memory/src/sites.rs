//! Learns which critical sections are worth watching, by the place where the lock is taken (Whodunit §7.2).
//!
//! Watching is expensive. Most locks protect data that one thread uses at a time, or that no transaction flows through.
//! Their sections run natively and are probed now and then. Once something has flowed under a lock, all its sections are
//! watched: a worker takes from a queue in one place while the queue has elements, and in another after waiting.
//!
//! A library may take all its locks in one function. Where something has flowed under one lock, each other lock at that
//! site is therefore learned about separately.

use crate::Mode;
use crate::ids::{CodeAddress, LockId};
use crate::numbers::Map;

/// When a lock site rests, and for how long. All numbers count sections at the site. A long section counts once more for
/// each `LONG` effects, since learning from it costs as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Learning {
    /// Rests after this many sections in a row that touched nothing last touched by another thread.
    pub private: u32,
    /// Rests after this many sections without a flow.
    pub flowless: u32,
    /// After a rest, watches this many sections before the next one.
    pub probe: u32,
    /// The length of the first rest. Each rest is twice as long as the one before.
    pub first_rest: u32,
    /// The length of the longest rest.
    pub longest_rest: u32,
    /// Where something has flowed, the thresholds for another lock are multiplied by this.
    pub patience: u32,
    /// After this many sections without a flow, an earlier flow no longer counts. For a lock, only sections that produced
    /// something count.
    pub forgotten: u32,
    /// Sites to learn about, and locks at sites with flow. At all other sites, every section runs natively.
    pub sites: usize,
}

impl Default for Learning {
    fn default() -> Self {
        Learning {
            private: 256,
            flowless: 512,
            probe: 16,
            first_rest: 256,
            longest_rest: 1 << 20,
            patience: 4,
            forgotten: 1 << 14,
            sites: 4096,
        }
    }
}

/// The number of effects after which a section counts once more.
const LONG: u32 = 256;

/// What happened in a watched section.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outcome {
    /// The section touched something last touched by another thread.
    pub(crate) foreign: bool,
    /// The section produced something.
    pub(crate) produced: bool,
    /// The number of effects.
    pub(crate) effects: u32,
}

/// What was learned about a site, or about a lock at a site.
#[derive(Clone, Copy, Debug, Default)]
struct Learned {
    /// Consecutive sections that touched nothing foreign.
    private: u32,
    /// Sections without a flow.
    flowless: u32,
    /// Sections left in the current rest.
    rest: u32,
    /// The length of the last rest, 0 before the first.
    last_rest: u32,
}

impl Learned {
    /// A section begins.
    fn enter(&mut self) -> Mode {
        if self.rest == 0 {
            return Mode::Watched;
        }
        self.rest -= 1;
        Mode::Native
    }

    /// A watched section ends.
    fn leave(&mut self, outcome: Outcome, learning: &Learning, patience: u32) {
        let sections = 1 + outcome.effects / LONG;
        self.private = match outcome.foreign {
            true => 0,
            false => self.private + sections,
        };
        self.flowless += sections;
        let private = learning.private.saturating_mul(patience);
        let flowless = learning.flowless.saturating_mul(patience);
        if self.private < private && self.flowless < flowless {
            return;
        }
        self.last_rest = match self.last_rest {
            0 => learning.first_rest,
            last => last.saturating_mul(2).min(learning.longest_rest),
        };
        self.rest = self.last_rest;
        self.private = private.saturating_sub(learning.probe);
        self.flowless = flowless.saturating_sub(learning.probe);
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Site {
    learned: Learned,
    /// Something was produced or consumed here and flowed.
    flows: bool,
    /// Sections since then under locks without flow.
    since: u32,
}

/// The lock sites of a process.
#[derive(Debug)]
pub(crate) struct Sites {
    learning: Learning,
    sites: Map<CodeAddress, Site>,
    /// What was learned about other locks at sites with flow.
    locks: Map<(CodeAddress, LockId), Learned>,
    /// Locks with flow, and the number of sections since then that produced something.
    flowing: Map<LockId, u32>,
    /// Counts how often a site became one with flow.
    woken: u32,
    /// Counts how often flows were forgotten.
    forgotten: u32,
    /// Known sites under locks with flow, as of the given count of forgotten flows.
    recent: [Option<(CodeAddress, LockId, u32)>; RECENT],
}

/// The number of sites that are found without a search.
const RECENT: usize = 64;

impl Sites {
    pub(crate) fn new(learning: Learning) -> Self {
        Sites {
            learning,
            sites: Map::default(),
            locks: Map::default(),
            flowing: Map::default(),
            woken: 0,
            forgotten: 0,
            recent: [None; RECENT],
        }
    }

    /// A section begins by taking this lock.
    pub(crate) fn enter(&mut self, at: CodeAddress, lock: LockId) -> Mode {
        let recent = self.recent[at.0 as usize % RECENT];
        if recent == Some((at, lock, self.forgotten)) {
            return Mode::Watched;
        }
        if self.sites.len() >= self.learning.sites && !self.sites.contains_key(&at) {
            return Mode::Native;
        }
        let site = self.sites.entry(at).or_default();
        if self.flowing.contains_key(&lock) {
            self.recent[at.0 as usize % RECENT] = Some((at, lock, self.forgotten));
            return Mode::Watched;
        }
        match site.flows {
            false => site.learned.enter(),
            true => {
                let learned = self.locks.get_mut(&(at, lock));
                learned.map_or(Mode::Watched, Learned::enter)
            }
        }
    }

    /// Whether the answer of [`Self::enter`] holds for one lock only, and not for all locks at the site.
    pub(crate) fn tells_locks_apart(&self, at: CodeAddress) -> bool {
        self.sites.get(&at).is_some_and(|it| it.flows)
    }

    /// Counts how often a site became one with flow. A resting caller must ask again when this changes.
    pub(crate) fn woken(&self) -> u32 {
        self.woken
    }

    /// Counts how often flows were forgotten. Flows must then be told again.
    pub(crate) fn forgotten(&self) -> u32 {
        self.forgotten
    }

    /// A watched section that began by taking this lock ends.
    pub(crate) fn leave(&mut self, (at, lock): (CodeAddress, LockId), outcome: Outcome) {
        if let Some(since) = self.flowing.get_mut(&lock) {
            *since += u32::from(outcome.produced);
            if *since < self.learning.forgotten {
                return;
            }
            self.flowing.remove(&lock);
            self.forgotten = self.forgotten.wrapping_add(1);
        }
        let Some(site) = self.sites.get_mut(&at) else {
            return;
        };
        if !site.flows {
            site.learned.leave(outcome, &self.learning, 1);
            return;
        }
        site.since += 1;
        if site.since >= self.learning.forgotten {
            site.flows = false;
            site.since = 0;
            self.forgotten = self.forgotten.wrapping_add(1);
            return;
        }
        // Locks come and go. Those that stay are learned about again.
        if self.locks.len() >= self.learning.sites && !self.locks.contains_key(&(at, lock)) {
            self.locks.clear();
        }
        let learned = self.locks.entry((at, lock)).or_default();
        learned.leave(outcome, &self.learning, self.learning.patience);
    }

    /// Something produced or consumed here under this lock flowed.
    pub(crate) fn flowed(&mut self, at: CodeAddress, lock: LockId) {
        if let Some(site) = self.sites.get_mut(&at) {
            if !site.flows {
                self.woken = self.woken.wrapping_add(1);
            }
            *site = Site {
                flows: true,
                ..Site::default()
            };
        }
        if let Some(since) = self.flowing.get_mut(&lock) {
            *since = 0;
        } else if self.flowing.len() < self.learning.sites {
            self.flowing.insert(lock, 0);
            self.locks.remove(&(at, lock));
        }
    }

    /// Some of the flow was none. Real flow will show again.
    pub(crate) fn forget_flows(&mut self) {
        self.forgotten = self.forgotten.wrapping_add(1);
        self.flowing.clear();
        self.locks.clear();
        for site in self.sites.values_mut() {
            site.flows = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: CodeAddress = CodeAddress(1);
    const LOCK: LockId = LockId(9);
    const LEARNING: Learning = Learning {
        private: 4,
        flowless: 8,
        probe: 2,
        first_rest: 10,
        longest_rest: 30,
        patience: 2,
        forgotten: 1000,
        sites: 1,
    };

    fn outcome(foreign: bool, produced: bool) -> Outcome {
        Outcome {
            foreign,
            produced,
            effects: 10,
        }
    }

    /// The lengths of the alternating runs of watched and native sections.
    fn runs(sites: &mut Sites, sections: u32, foreign: bool) -> Vec<u32> {
        let mut runs = vec![0];
        let mut before = Mode::Watched;
        for _ in 0..sections {
            let mode = sites.enter(AT, LOCK);
            if mode == Mode::Watched {
                sites.leave((AT, LOCK), outcome(foreign, false));
            }
            if mode != before {
                runs.push(0);
            }
            *runs.last_mut().unwrap() += 1;
            before = mode;
        }
        runs
    }

    #[test]
    fn what_no_other_thread_touches_soon_rests_and_longer_each_time() {
        let found = runs(
            &mut Sites::new(LEARNING),
            4 + 10 + 2 + 20 + 2 + 30 + 2 + 30,
            false,
        );
        assert_eq!(found, [4, 10, 2, 20, 2, 30, 2, 30]);
    }

    #[test]
    fn what_others_touch_rests_later_and_a_flow_wakes_the_site() {
        let mut sites = Sites::new(LEARNING);
        assert_eq!(runs(&mut sites, 8 + 5, true), [8, 5]);
        sites.flowed(AT, LOCK);
        assert_eq!(runs(&mut sites, 100, true), [100]);
        sites.forget_flows();
        assert_eq!(runs(&mut sites, 8 + 10 + 2 + 1, true), [8, 10, 2, 1]);
    }

    #[test]
    fn a_lock_with_flow_wakes_all_its_sites() {
        let mut sites = Sites::new(Learning {
            sites: 2,
            ..LEARNING
        });
        assert_eq!(runs(&mut sites, 8 + 5, true), [8, 5]);
        sites.flowed(CodeAddress(7), LockId(8));
        assert_eq!(sites.enter(AT, LOCK), Mode::Native);
        sites.flowed(CodeAddress(7), LOCK);
        assert_eq!(sites.enter(AT, LOCK), Mode::Watched);
    }

    #[test]
    fn sites_beyond_the_limit_are_not_watched() {
        let mut sites = Sites::new(LEARNING);
        assert_eq!(sites.enter(AT, LOCK), Mode::Watched);
        assert_eq!(sites.enter(CodeAddress(2), LOCK), Mode::Native);
        assert_eq!(sites.enter(AT, LOCK), Mode::Watched);
    }

    /// A library function takes all locks, one of which protects a queue.
    #[test]
    fn where_something_flows_other_locks_rest_by_themselves() {
        let other = LockId(10);
        let mut sites = Sites::new(Learning {
            sites: 4,
            ..LEARNING
        });
        sites.enter(AT, LOCK);
        assert!(!sites.tells_locks_apart(AT));
        sites.flowed(AT, LOCK);
        assert!(sites.tells_locks_apart(AT));
        assert_eq!(sites.woken(), 1);
        let mut modes = Vec::new();
        for _ in 0..2 * 4 + 10 {
            let mode = sites.enter(AT, other);
            if mode == Mode::Watched {
                sites.leave((AT, other), outcome(false, false));
            }
            modes.push(mode);
            assert_eq!(sites.enter(AT, LOCK), Mode::Watched);
            sites.leave((AT, LOCK), outcome(true, true));
        }
        assert!(modes[..8].iter().all(|it| *it == Mode::Watched));
        assert!(modes[8..].iter().all(|it| *it == Mode::Native));
        sites.flowed(AT, other);
        assert_eq!(sites.enter(AT, other), Mode::Watched);
        assert_eq!(sites.woken(), 1);
    }

    /// An accidental flow is not watched for ever. A queue that is polled in vain is, since nothing is produced.
    #[test]
    fn a_flow_that_does_not_come_again_is_forgotten() {
        let learning = Learning {
            forgotten: 20,
            ..LEARNING
        };
        for produces in [true, false] {
            let mut sites = Sites::new(learning);
            sites.enter(AT, LOCK);
            sites.flowed(AT, LOCK);
            let mut native = 0;
            for _ in 0..100 {
                match sites.enter(AT, LOCK) {
                    Mode::Native => native += 1,
                    Mode::Watched => sites.leave((AT, LOCK), outcome(true, produces)),
                }
            }
            assert_eq!(native > 0, produces, "{native}");
        }
        // One site, with a new lock in each section.
        let mut sites = Sites::new(learning);
        sites.enter(AT, LOCK);
        sites.flowed(AT, LOCK);
        let runs_before_a_rest = (100..)
            .map(LockId)
            .take_while(|it| {
                let mode = sites.enter(AT, *it);
                sites.leave((AT, *it), outcome(true, true));
                mode == Mode::Watched
            })
            .count();
        assert_eq!(runs_before_a_rest, 20 + 8);
    }

    #[test]
    fn long_sections_are_learned_about_by_fewer() {
        let mut sites = Sites::new(Learning {
            private: 1000,
            flowless: 1000,
            ..LEARNING
        });
        let long = Outcome {
            effects: 9 * LONG,
            ..Outcome::default()
        };
        let watched = (0..1000).take_while(|_| {
            let mode = sites.enter(AT, LOCK);
            sites.leave((AT, LOCK), long);
            mode == Mode::Watched
        });
        assert_eq!(watched.count(), 100);
    }
}
