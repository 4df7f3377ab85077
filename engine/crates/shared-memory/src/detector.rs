//! The state machine of critical sections: threads enter and leave them, and instructions move values (Whodunit §3.2,
//! §7.2).

use std::ops::Range;

use crate::flows::Flow;
use crate::ids::Synopsis;
use crate::ids::{CodeAddress, ListId, LockId, ThreadId};
use crate::lists::{Consumption, ListLimits, ListSummary, Lists};
use crate::numbers::Map;
use crate::recycling::{Fate, Trial};
use crate::section::Tracker;
use crate::sites::{Learning, Sites};
use crate::thread::{Phase, Section, Thread};
use crate::words::{Birth, Words};
use crate::{Effect, Mode, Reaction, Role};

/// Limits on what is watched and kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Effects in one section. The rest of a longer section runs natively.
    pub section: u32,
    /// Effects in the window after a section: the paper's `MAX`.
    pub window: u32,
    /// Words of memory. Beyond this, the least recently touched words are forgotten.
    pub words: usize,
    /// Lists of producers and consumers. Beyond this, stores produce nothing.
    pub lists: usize,
    /// Threads remembered in each role of a list.
    pub members: usize,
    /// Pairs of contexts counted in each list.
    pub pairs: usize,
    /// Threads watched. Others run natively.
    pub threads: usize,
    /// When a lock site rests, and for how long.
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

/// What the detector did, and what it left out.
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
    /// Producing stores and flows left out because of a limit.
    pub left_out: u64,
    /// Unlocks by threads that were not known to hold the lock.
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
    /// The number of sections so far, which is also the latest section's number.
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

    /// A thread starts. `stack` is the address range of its stack.
    pub fn begin_thread(&mut self, thread: ThreadId, stack: Range<u64>) {
        if self.threads.len() < self.limits.threads {
            self.threads.insert(thread, Thread::new(stack));
        }
    }

    /// A thread ends. Its stack's tags are forgotten, because a later thread may reuse the stack.
    pub fn end_thread(&mut self, thread: ThreadId) {
        if let Some(mut state) = self.threads.remove(&thread) {
            state.forget_own_tags(thread, &mut self.words);
        }
    }

    /// A thread has taken a lock at `site` in the program.
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
        if !matches!(state.phase, Phase::Trial(_)) {
            state.trial = None;
        }
        if self.sites.enter(site, lock) == Mode::Native {
            self.counts.native += 1;
            state.phase = Phase::Native;
            state.trial = None;
            return Mode::Native;
        }
        self.counts.watched += 1;
        self.section += 1;
        if let Some(trial) = &mut state.trial {
            trial.goes_on_in(self.section);
        }
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

    /// A thread was unwatched since its last effect, although it should have been watched.
    pub fn missed(&mut self, thread: ThreadId) {
        if let Some(state) = self.threads.get_mut(&thread) {
            state.trial = None;
        }
    }

    /// A thread releases a lock, possibly to wait for a condition.
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

    /// The instruction at `at` had an effect. `context` returns the thread's context with the current call path. It is
    /// called when the thread consumes something, and at the first store in a section that produces something.
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
            Phase::Trial(left) => Reaction::None(self.follow(thread, effect, left)),
        }
    }

    /// Follows the object that a thread has taken (rule 10).
    fn follow(&mut self, thread: ThreadId, effect: Effect, left: u32) -> Mode {
        let Some(state) = self.threads.get_mut(&thread) else {
            return Mode::Native;
        };
        let is_over = match &mut state.trial {
            Some(trial) if left > 0 && effect != Effect::NativeCall => {
                let is_read = trial.reads(effect);
                if is_read {
                    self.lists.tried(trial.list(), Fate::Read);
                }
                is_read
            }
            _ => true,
        };
        if is_over {
            state.trial = None;
            state.phase = Phase::Native;
        } else {
            state.phase = Phase::Trial(left - 1);
        }
        state.mode()
    }

    /// Applies effects in order, like [`Self::effect`], until the thread runs natively. Within a section, looks up the
    /// thread's state only once.
    pub fn effects(
        &mut self,
        thread: ThreadId,
        effects: &[(CodeAddress, Effect)],
        context: impl Fn(Role) -> Synopsis,
    ) -> Reaction {
        let mut effects = effects.iter();
        if let Some(state) = self.threads.get_mut(&thread)
            && let Phase::Section(mut section) = state.phase
        {
            let by = state.accessor(thread, section.number);
            for (at, effect) in effects.by_ref().take(section.left as usize) {
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
        let mut consumed = None;
        for (at, effect) in effects {
            let reaction = self.effect(thread, *at, *effect, &context);
            if let Reaction::Consumed(it, _) = reaction {
                consumed = Some(it);
            }
            if reaction.mode() == Mode::Native {
                return consumed.map_or(reaction, |it| Reaction::Consumed(it, Mode::Native));
            }
        }
        match consumed {
            Some(it) => Reaction::Consumed(it, Mode::Watched),
            None => Reaction::None(Mode::Watched),
        }
    }

    fn consume(
        &mut self,
        consumer: ThreadId,
        section: &Section,
        birth: Birth,
        to: Synopsis,
    ) -> Reaction {
        let from = birth.context;
        if let Some(state) = self.threads.get_mut(&consumer) {
            state.taken.add(birth.value, birth.list);
        }
        let Some((lock, store)) = self.lists.consume(birth.list, consumer, from, to) else {
            return Reaction::None(Mode::Native);
        };
        // The outermost lock decides whether a section is watched.
        for (site, outermost) in [(birth.site, birth.outermost), (section.site, section.lock)] {
            self.sites.flowed(site, lock);
            if outermost != lock {
                self.sites.flowed(site, outermost);
            }
        }
        let consumption = Consumption {
            from,
            to,
            producer: birth.thread,
            consumer,
            lock,
            store,
            list: birth.list,
        };
        let mode = match self.lists.tries(birth.list) {
            true => self.begin_trial(consumer, section, birth),
            false => Mode::Native,
        };
        Reaction::Consumed(consumption, mode)
    }

    /// The thread's object is followed from now on (rule 10).
    fn begin_trial(&mut self, thread: ThreadId, section: &Section, birth: Birth) -> Mode {
        let Some(state) = self.threads.get_mut(&thread) else {
            return Mode::Native;
        };
        state.trial = Some(Trial::new(birth.value, birth.list));
        state.phase = Phase::Trial(section.left);
        state.mode()
    }

    /// Returns a list from which something was consumed before one thread turned out to both produce and consume (§3.4), or
    /// before it turned out to be one of free objects, so that no transaction flows through it. Returns each such list once.
    pub fn take_demoted(&mut self) -> Option<ListId> {
        let demoted = self.lists.take_demoted()?;
        if let Some((head, lock)) = self.lists.free_head(demoted) {
            self.words.add_head(head, lock);
        }
        self.sites.forget_flows();
        Some(demoted)
    }

    /// Whether a thread holds a lock that was passed to [`Self::enter`].
    pub fn holds_a_lock(&self, thread: ThreadId) -> bool {
        self.threads.get(&thread).is_some_and(Thread::holds_a_lock)
    }

    /// Whether a native section at this site says nothing about other locks there, because something has flowed at the
    /// site.
    pub fn tells_locks_apart(&self, site: CodeAddress) -> bool {
        self.sites.tells_locks_apart(site)
    }

    /// Counts how often something flowed at a site where nothing had flowed before. A caller that caches which sections run
    /// natively must ask again when this changes.
    pub fn woken(&self) -> u32 {
        self.sites.woken()
    }

    /// How often a transaction passed from one context to another. Excludes lists with threads in both roles, such as users
    /// of an allocator (§3.4).
    pub fn flows(&self) -> Vec<Flow> {
        self.lists.flows()
    }

    /// What was consumed, by lock and producing store.
    pub fn lists(&self) -> impl Iterator<Item = ListSummary> {
        self.lists.summaries()
    }

    /// What was watched, and what was left out.
    pub fn counts(&self) -> Counts {
        Counts {
            forgotten_words: self.words.forgotten(),
            left_out: self.lists.left_out(),
            ..self.counts
        }
    }

    /// The number of words with known state.
    pub fn words(&self) -> usize {
        self.words.len()
    }
}
