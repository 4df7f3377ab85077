//! Which critical sections are worth watching: learned by the place where a lock is taken (Whodunit §7.2).
//!
//! Watching costs. Most locks protect what one thread uses at a time, or what no transaction flows through; their
//! sections run natively, and are looked at again now and then. Once something has flowed under a lock, all its sections are
//! watched: a worker takes from a queue in one place while there is something, and in another after it has waited.

use crate::Mode;
use crate::ids::{CodeAddress, LockId};
use crate::numbers::{Map, Set};

/// When a lock site rests, and for how long. All numbers are sections at the site.
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
    /// Sites to learn about. At others, every section runs natively.
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
            sites: 4096,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Site {
    /// Sections in a row without anything foreign.
    private: u32,
    /// Sections without a flow.
    flowless: u32,
    /// Sections of the present rest still to come.
    rest: u32,
    /// How long the last rest was; 0 before the first.
    last_rest: u32,
    /// Something flowed that was produced or consumed here.
    flows: bool,
}

/// The lock sites of a process.
#[derive(Debug)]
pub(crate) struct Sites {
    learning: Learning,
    sites: Map<CodeAddress, Site>,
    /// Locks under which something flowed.
    flowing: Set<LockId>,
}

impl Sites {
    pub fn new(learning: Learning) -> Self {
        Sites {
            learning,
            sites: Map::default(),
            flowing: Set::default(),
        }
    }

    /// A section begins, by taking that lock.
    pub fn enter(&mut self, at: CodeAddress, lock: LockId) -> Mode {
        if self.sites.len() >= self.learning.sites && !self.sites.contains_key(&at) {
            return Mode::Native;
        }
        let site = self.sites.entry(at).or_default();
        if site.rest == 0 || site.flows || self.flowing.contains(&lock) {
            return Mode::Watched;
        }
        site.rest -= 1;
        Mode::Native
    }

    /// A watched section is over.
    pub fn leave(&mut self, at: CodeAddress, foreign: bool) {
        let Some(site) = self.sites.get_mut(&at).filter(|it| !it.flows) else {
            return;
        };
        let learning = &self.learning;
        site.private = if foreign { 0 } else { site.private + 1 };
        site.flowless += 1;
        if site.private < learning.private && site.flowless < learning.flowless {
            return;
        }
        site.last_rest = match site.last_rest {
            0 => learning.first_rest,
            last => last.saturating_mul(2).min(learning.longest_rest),
        };
        site.rest = site.last_rest;
        site.private = learning.private.saturating_sub(learning.probe);
        site.flowless = learning.flowless.saturating_sub(learning.probe);
    }

    /// Something flowed that was produced or consumed here, under that lock.
    pub fn flowed(&mut self, at: CodeAddress, lock: LockId) {
        if let Some(site) = self.sites.get_mut(&at) {
            *site = Site {
                flows: true,
                ..Site::default()
            };
        }
        if self.flowing.len() < self.learning.sites {
            self.flowing.insert(lock);
        }
    }

    /// Some of what flowed was no flow. What is one will flow again.
    pub fn forget_flows(&mut self) {
        self.flowing.clear();
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
        sites: 1,
    };

    /// How many sections in a row are watched, run natively, watched and so on.
    fn runs(sites: &mut Sites, sections: u32, foreign: bool) -> Vec<u32> {
        let mut runs = vec![0];
        let mut before = Mode::Watched;
        for _ in 0..sections {
            let mode = sites.enter(AT, LOCK);
            if mode == Mode::Watched {
                sites.leave(AT, foreign);
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
}
