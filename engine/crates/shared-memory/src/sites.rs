//! Which critical sections are worth watching: learned by the place where a lock is taken (Whodunit §7.2).
//!
//! Watching costs. Most locks protect what one thread uses at a time, or what no transaction flows through; their
//! sections run natively, and are looked at again now and then. Once something has flowed under a lock, all its sections are
//! watched: a worker takes from a queue in one place while there is something, and in another after it has waited.
//!
//! At a place where something has flowed under one lock, others are taken too: a library may take all its locks in one
//! function. There each lock is learned about by itself.

use crate::Mode;
use crate::ids::{CodeAddress, LockId};
use crate::numbers::Map;

/// When a lock site rests, and for how long. All numbers are sections at the site; of a long one, each [`LONG`] effects count as
/// another one, since what is learned of it costs as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Learning {
    /// Rests after this many in a row that touched nothing that another thread had touched last.
    pub private: u32,
    /// Rests after this many without a flow.
    pub flowless: u32,
    /// After a rest, this many are watched before the next one.
    pub probe: u32,
    /// The first rest. Each is twice as long as the one before.
    pub first_rest: u32,
    /// The longest rest.
    pub longest_rest: u32,
    /// Where something has flowed, another lock rests after so many times as many.
    pub patience: u32,
    /// After this many without a flow, what flowed once does not count any more. Of a lock, those count in which something was
    /// produced.
    pub forgotten: u32,
    /// Sites to learn about, and locks at those where something has flowed. At other sites, every section runs natively.
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

/// Effects of a section that count as one more.
const LONG: u32 = 256;

/// What happened in a watched section.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outcome {
    /// It touched what another thread had touched last.
    pub(crate) foreign: bool,
    /// It produced something.
    pub(crate) produced: bool,
    /// How much it did.
    pub(crate) effects: u32,
}

/// What was learned of a site, or of a lock at a site.
#[derive(Clone, Copy, Debug, Default)]
struct Learned {
    /// Sections in a row without anything foreign.
    private: u32,
    /// Sections without a flow.
    flowless: u32,
    /// Sections of the present rest still to come.
    rest: u32,
    /// How long the last rest was; 0 before the first.
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

    /// A watched section is over.
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
    /// Something flowed that was produced or consumed here.
    flows: bool,
    /// Sections since then under locks under which nothing has flowed.
    since: u32,
}

/// The lock sites of a process.
#[derive(Debug)]
pub(crate) struct Sites {
    learning: Learning,
    sites: Map<CodeAddress, Site>,
    /// What was learned of locks where something has flowed under another one.
    locks: Map<(CodeAddress, LockId), Learned>,
    /// Locks under which something flowed, and in how many sections something was produced since.
    flowing: Map<LockId, u32>,
    /// How often a site came to be one where something flows.
    woken: u32,
}

impl Sites {
    pub(crate) fn new(learning: Learning) -> Self {
        Sites {
            learning,
            sites: Map::default(),
            locks: Map::default(),
            flowing: Map::default(),
            woken: 0,
        }
    }

    /// A section begins, by taking that lock.
    pub(crate) fn enter(&mut self, at: CodeAddress, lock: LockId) -> Mode {
        if self.sites.len() >= self.learning.sites && !self.sites.contains_key(&at) {
            return Mode::Native;
        }
        let site = self.sites.entry(at).or_default();
        if self.flowing.contains_key(&lock) {
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

    /// Whether what [`Self::enter`] says of a lock holds for that lock alone, and not for all at the site.
    pub(crate) fn tells_locks_apart(&self, at: CodeAddress) -> bool {
        self.sites.get(&at).is_some_and(|it| it.flows)
    }

    /// How often a site came to be one where something flows: whoever rests is to ask again.
    pub(crate) fn woken(&self) -> u32 {
        self.woken
    }

    /// A watched section is over, which began by taking that lock.
    pub(crate) fn leave(&mut self, (at, lock): (CodeAddress, LockId), outcome: Outcome) {
        if let Some(since) = self.flowing.get_mut(&lock) {
            *since += u32::from(outcome.produced);
            if *since < self.learning.forgotten {
                return;
            }
            self.flowing.remove(&lock);
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
            return;
        }
        // Locks come and go: those that stay are learned about again.
        if self.locks.len() >= self.learning.sites && !self.locks.contains_key(&(at, lock)) {
            self.locks.clear();
        }
        let learned = self.locks.entry((at, lock)).or_default();
        learned.leave(outcome, &self.learning, self.learning.patience);
    }

    /// Something flowed that was produced or consumed here, under that lock.
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

    /// Some of what flowed was no flow. What is one will flow again.
    pub(crate) fn forget_flows(&mut self) {
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

    /// How many sections in a row are watched, run natively, watched and so on.
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

    /// A library's function that takes all its locks: one of them is a queue's.
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

    /// What flowed once by accident is not watched for ever; a queue that is looked into in vain is, since nothing is produced.
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
        // A site, where each section takes a new lock.
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
