//! The state machine: threads that enter and leave critical sections, and what their instructions do (Whodunit §3.2, §7.2).

use std::ops::Range;

use crate::flows::Flow;
use crate::ids::Synopsis;
use crate::ids::{CodeAddress, LockId, ThreadId};
use crate::lists::{Consumption, ListId, ListLimits, ListSummary, Lists};
use crate::numbers::Map;
use crate::section::Tracker;
use crate::sites::{Learning, Sites};
use crate::thread::{Phase, Section, Thread};
use crate::words::{Birth, Words};
use crate::{Effect, Mode, Reaction, Role};

/// How much is watched and kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Effects of one section; the rest of a longer one runs natively.
    pub section: u32,
    /// Effects in the window after a section: the paper's `MAX`.
    pub window: u32,
    /// Words of memory. Beyond, those that were touched longest ago are forgotten.
    pub words: usize,
    /// Lists of producers and consumers. Beyond, stores produce nothing.
    pub lists: usize,
    /// Threads that are remembered in each role of a list.
    pub members: usize,
    /// Pairs of contexts that are counted in a list.
    pub pairs: usize,
    /// Threads. Others run natively.
    pub threads: usize,
    /// When a lock site rests.
    pub learning: Learning,
}

impl Default for Limits {
    /// The paper's window of 128, sections of 4096 effects, 65,536 words, 1024 lists, 4096 threads.
    fn default() -> Self {
        Limits {
            section: 4096,
            window: 128,
            words: 1 << 16,
            lists: 1024,
            members: 256,
            pairs: 1024,
            threads: 4096,
            learning: Learning::default(),
        }
    }
}

/// What the detector did and what it left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sections that were watched.
    pub watched: u64,
    /// Sections that ran natively because nothing flows at their site, or because of a limit.
    pub native: u64,
    /// Sections that were too long to be watched to the end.
    pub too_long: u64,
    /// Words that were forgotten because there were too many.
    pub forgotten_words: u64,
    /// Producing stores and flows for which there was no room.
    pub left_out: u64,
    /// Unlocks of a lock that the thread was not seen to hold.
    pub stray_unlocks: u64,
}

/// Finds flow through the shared memory of one process.
#[derive(Debug)]
pub struct FlowDetector {
    limits: Limits,
    words: Words,
    lists: Lists,
    sites: Sites,
    threads: Map<ThreadId, Thread>,
    /// Sections so far; the number of the latest.
    section: u64,
    counts: Counts,
}

impl Default for FlowDetector {
    fn default() -> Self {
        FlowDetector::with_limits(Limits::default())
    }
}

impl FlowDetector {
    /// A detector that has seen nothing.
    pub fn with_limits(limits: Limits) -> Self {
        FlowDetector {
            words: Words::new(limits.words),
            lists: Lists::new(ListLimits {
                lists: limits.lists,
                members: limits.members,
                pairs: limits.pairs,
            }),
            sites: Sites::new(limits.learning),
            threads: Map::default(),
            section: 0,
            counts: Counts::default(),
            limits,
        }
    }

    /// A thread begins. `stack` are the addresses of its stack.
    pub fn begin_thread(&mut self, thread: ThreadId, stack: Range<u64>) {
        if self.threads.len() < self.limits.threads {
            self.threads.insert(thread, Thread::new(stack));
        }
    }

    /// A thread ends. What it left on its stack is forgotten: a later thread may have the same.
    pub fn end_thread(&mut self, thread: ThreadId) {
        if let Some(mut state) = self.threads.remove(&thread) {
            state.forget_own_tags(thread, &mut self.words);
        }
    }

    /// A thread has taken a lock. `site` is where in the program.
    pub fn enter(&mut self, thread: ThreadId, lock: LockId, site: CodeAddress) -> Mode {
        let Some(state) = self.threads.get_mut(&thread) else {
            self.counts.native += 1;
            return Mode::Native;
        };
        if state.holds_a_lock() {
            // §3.3.2: nested sections belong to the outermost.
            state.take(lock);
            return state.mode();
        }
        state.take(lock);
        state.forget_own_tags(thread, &mut self.words);
        if self.sites.enter(site, lock) == Mode::Native {
            self.counts.native += 1;
            state.phase = Phase::Native;
            return Mode::Native;
        }
        self.counts.watched += 1;
        self.section += 1;
        state.phase = Phase::Section(Section {
            number: self.section,
            site,
            lock,
            left: self.limits.section,
            foreign: false,
            reads_product: false,
            context: None,
        });
        Mode::Watched
    }

    /// A thread gives a lock back, also to wait for a condition.
    pub fn leave(&mut self, thread: ThreadId, lock: LockId) -> Mode {
        let Some(state) = self.threads.get_mut(&thread) else {
            return Mode::Native;
        };
        if !state.give_back(lock) {
            self.counts.stray_unlocks += 1;
            return state.mode();
        }
        if state.holds_a_lock() {
            return state.mode();
        }
        let Phase::Section(section) = state.phase else {
            state.phase = Phase::Native;
            return Mode::Native;
        };
        let outcome = section.outcome(self.limits.section);
        self.sites.leave((section.site, section.lock), outcome);
        state.phase = match section.reads_product {
            true => Phase::Window(Section {
                left: self.limits.window,
                ..section
            }),
            false => Phase::Native,
        };
        state.mode()
    }

    /// An instruction at `at` had an effect. `context` is the thread's context with the call path to here; it is asked for
    /// when something is produced, once a section, or consumed.
    pub fn effect(
        &mut self,
        thread: ThreadId,
        at: CodeAddress,
        effect: Effect,
        context: impl FnOnce(Role) -> Synopsis,
    ) -> Reaction {
        let Some(state) = self.threads.get_mut(&thread) else {
            return Reaction::None(Mode::Native);
        };
        match state.phase {
            Phase::Native => Reaction::None(Mode::Native),
            Phase::Section(mut section) if section.left > 0 => {
                section.left -= 1;
                let by = state.accessor(thread, section.number);
                Tracker {
                    by,
                    state,
                    section: &mut section,
                    words: &mut self.words,
                    lists: &mut self.lists,
                }
                .apply(at, effect, || context(Role::Producer));
                state.phase = Phase::Section(section);
                Reaction::None(Mode::Watched)
            }
            Phase::Section(section) => {
                self.counts.too_long += 1;
                let outcome = section.outcome(self.limits.section);
                self.sites.leave((section.site, section.lock), outcome);
                state.phase = Phase::Native;
                Reaction::None(Mode::Native)
            }
            Phase::Window(section) => {
                let product = state.use_after(section, effect, &self.words);
                let left = section.left.saturating_sub(1);
                state.phase = match product.is_none() && left > 0 {
                    true => Phase::Window(Section { left, ..section }),
                    false => Phase::Native,
                };
                let mode = state.mode();
                match product {
                    Some(birth) => self.consume(thread, &section, birth, context(Role::Consumer)),
                    None => Reaction::None(mode),
                }
            }
        }
    }

    /// As [`Self::effect`] for each of several effects in their order, up to the first after which the thread runs natively.
    /// In a section, they find the thread's state once.
    pub fn effects(
        &mut self,
        thread: ThreadId,
        told: &[(CodeAddress, Effect)],
        context: impl Fn(Role) -> Synopsis,
    ) -> Reaction {
        let mut told = told.iter();
        if let Some(state) = self.threads.get_mut(&thread)
            && let Phase::Section(mut section) = state.phase
        {
            let by = state.accessor(thread, section.number);
            for (at, effect) in told.by_ref().take(section.left as usize) {
                section.left -= 1;
                Tracker {
                    by,
                    state,
                    section: &mut section,
                    words: &mut self.words,
                    lists: &mut self.lists,
                }
                .apply(*at, *effect, || context(Role::Producer));
            }
            state.phase = Phase::Section(section);
        }
        for (at, effect) in told {
            let reaction = self.effect(thread, *at, *effect, &context);
            if reaction.mode() == Mode::Native {
                return reaction;
            }
        }
        Reaction::None(Mode::Watched)
    }

    fn consume(
        &mut self,
        consumer: ThreadId,
        section: &Section,
        birth: Birth,
        to: Synopsis,
    ) -> Reaction {
        let from = birth.context;
        let Some((lock, store)) = self.lists.consume(birth.list, consumer, from, to) else {
            return Reaction::None(Mode::Native);
        };
        // A section is watched or not by its outermost lock.
        for (site, outermost) in [(birth.site, birth.outermost), (section.site, section.lock)] {
            self.sites.flowed(site, lock);
            if outermost != lock {
                self.sites.flowed(site, outermost);
            }
        }
        Reaction::Consumed(Consumption {
            from,
            to,
            producer: birth.thread,
            consumer,
            lock,
            store,
            list: birth.list,
        })
    }

    /// A list by which something was consumed, and of which it has turned out since that no transaction flows by it: a thread
    /// both produces and consumes (§3.4). Each is told once.
    pub fn take_demoted(&mut self) -> Option<ListId> {
        let demoted = self.lists.take_demoted()?;
        self.sites.forget_flows();
        Some(demoted)
    }

    /// Whether a thread holds a lock of which [`Self::enter`] was told.
    pub fn holds_a_lock(&self, thread: ThreadId) -> bool {
        self.threads.get(&thread).is_some_and(Thread::holds_a_lock)
    }

    /// Whether that a section runs natively that began here says nothing of sections of other locks: something has flowed here.
    pub fn tells_locks_apart(&self, site: CodeAddress) -> bool {
        self.sites.tells_locks_apart(site)
    }

    /// How often something flowed at a site where nothing had flowed. Whoever remembers which sections run natively is to ask
    /// again when it changes.
    pub fn woken(&self) -> u32 {
        self.sites.woken()
    }

    /// How often a transaction came from one context to another, without what turned out to be no flow: producers that
    /// consume, as users of an allocator do (§3.4).
    pub fn flows(&self) -> Vec<Flow> {
        self.lists.flows()
    }

    /// What was consumed by lock and producing store.
    pub fn lists(&self) -> impl Iterator<Item = ListSummary> {
        self.lists.summaries()
    }

    /// What was done and what was left out.
    pub fn counts(&self) -> Counts {
        Counts {
            forgotten_words: self.words.forgotten(),
            left_out: self.lists.left_out(),
            ..self.counts
        }
    }

    /// Words of which something is known.
    pub fn words(&self) -> usize {
        self.words.len()
    }
}
