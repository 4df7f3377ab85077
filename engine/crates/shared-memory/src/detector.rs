//! The state machine of critical sections: threads enter and leave them, and instructions move values (Whodunit §3.2,
//! §7.2).

use std::ops::Range;

use crate::flows::Flow;
use crate::habits::Habits;
use crate::ids::Synopsis;
use crate::ids::{CodeAddress, ListId, LockId, ThreadId};
use crate::lists::{Consumption, ListLimits, ListSummary, Lists, Place};
use crate::recycling::{Fate, Trial};
use crate::routines::Routines;
use crate::section::Tracker;
use crate::sites::{Learning, Sites};
use crate::thread::{Phase, Section, Thread, Threads};
use crate::words::{Birth, Words};
use crate::{Context, Effect, Mode, Reaction, Role};

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
    habits: Habits,
    routines: Routines,
    threads: Threads,
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
            habits: Habits::new(),
            routines: Routines::new(),
            threads: Threads::default(),
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
        if let Some(mut state) = self.threads.remove(thread) {
            state.forget_own_tags(thread, &mut self.words);
        }
    }

    /// Nothing was watched for a while, so nothing is known of what is in memory now. Lists and what was learned stay.
    pub fn forget_memory(&mut self) {
        self.words.forget_all();
        self.threads.forget_memory();
    }

    /// A thread has taken a lock at `site` in the program.
    pub fn enter(&mut self, thread: ThreadId, lock: LockId, site: CodeAddress) -> Mode {
        let Some(state) = self.threads.get_mut(thread) else {
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
        if let Phase::Window = state.phase {
            self.habits.learn(state.section.way, None);
        }
        if self.sites.enter(site, lock) == Mode::Native {
            self.counts.native += 1;
            state.phase = Phase::Native;
            state.trial = None;
            return Mode::Native;
        }
        self.counts.watched += 1;
        self.section += 1;
        state.products.clear();
        if let Some(trial) = &mut state.trial {
            trial.goes_on_in(self.section);
        }
        state.phase = Phase::Section;
        state.section = Section::new(self.section, site, lock, self.limits.section);
        Mode::Watched
    }

    /// A thread was unwatched since its last effect, although it should have been watched.
    pub fn missed(&mut self, thread: ThreadId) {
        if let Some(state) = self.threads.get_mut(thread) {
            state.trial = None;
        }
    }

    /// A thread releases a lock, possibly to wait for a condition, after these effects ([`Self::effects`]). Whoever reports all
    /// effects of a section here, and none before, saves time. It may now be certain enough that the thread will use what it has
    /// taken.
    pub fn leave(
        &mut self,
        thread: ThreadId,
        lock: LockId,
        effects: &[(CodeAddress, Effect)],
        context: impl Fn(Role) -> Synopsis,
    ) -> Reaction {
        self.leave_by(thread, lock, effects, &context)
    }

    fn leave_by(
        &mut self,
        thread: ThreadId,
        lock: LockId,
        effects: &[(CodeAddress, Effect)],
        context: Context,
    ) -> Reaction {
        let Some(state) = self.threads.get_mut(thread) else {
            return Reaction::None(Mode::Native);
        };
        if !effects.is_empty() {
            let is_all = state.holds_only(lock) && state.section.can_have(effects.len());
            let _ = match is_all {
                true => self.whole_section(thread, effects, context),
                false => self.effects_by(thread, effects, context),
            };
        }
        let Some(state) = self.threads.get_mut(thread) else {
            return Reaction::None(Mode::Native);
        };
        if !state.give_back(lock) {
            self.counts.stray_unlocks += 1;
            return Reaction::None(state.mode());
        }
        if state.holds_a_lock() {
            return Reaction::None(state.mode());
        }
        let Phase::Section = state.phase else {
            state.phase = Phase::Native;
            return Reaction::None(Mode::Native);
        };
        let section = &mut state.section;
        let outcome = section.outcome(self.limits.section);
        self.sites.leave((section.site, section.lock), outcome);
        state.phase = Phase::Native;
        if state.products.is_empty() {
            return Reaction::None(Mode::Native);
        }
        let expected = self.habits.expect(section.way);
        let product = expected.and_then(|it| state.products.get(it));
        if let Some(birth) = product
            && !self.lists.is_undecided(birth.list)
        {
            return self.consume(thread, birth, context(Role::Consumer));
        }
        section.left = self.limits.window;
        state.phase = Phase::Window;
        Reaction::None(Mode::Watched)
    }

    /// The instruction at `at` had an effect. `context` returns the thread's context with the current call path. It is
    /// called when the thread consumes something, and at the first store in a section that produces something.
    pub fn effect(
        &mut self,
        thread: ThreadId,
        at: CodeAddress,
        effect: Effect,
        context: impl Fn(Role) -> Synopsis,
    ) -> Reaction {
        self.effect_by(thread, at, effect, &context)
    }

    fn effect_by(
        &mut self,
        thread: ThreadId,
        at: CodeAddress,
        effect: Effect,
        context: Context,
    ) -> Reaction {
        let Some(state) = self.threads.get_mut(thread) else {
            return Reaction::None(Mode::Native);
        };
        match state.phase {
            Phase::Native => Reaction::None(Mode::Native),
            Phase::Section if state.section.left > 0 => {
                self.in_section(thread, &[(at, effect)], context);
                Reaction::None(Mode::Watched)
            }
            Phase::Section => {
                self.counts.too_long += 1;
                let section = &state.section;
                let outcome = section.outcome(self.limits.section);
                self.sites.leave((section.site, section.lock), outcome);
                state.phase = Phase::Native;
                Reaction::None(Mode::Native)
            }
            Phase::Window => self.in_window(thread, effect, context),
            Phase::Trial(left) => Reaction::None(self.follow(thread, effect, left)),
        }
    }

    /// Looks for the use of a product after a section.
    fn in_window(&mut self, thread: ThreadId, effect: Effect, context: Context) -> Reaction {
        let Some(state) = self.threads.get_mut(thread) else {
            return Reaction::None(Mode::Native);
        };
        let product = state.use_after(effect, &self.words);
        let section = &mut state.section;
        section.left = section.left.saturating_sub(1);
        let Some(birth) = product else {
            if section.left == 0 {
                state.phase = Phase::Native;
                self.habits.learn(section.way, None);
            }
            return Reaction::None(state.mode());
        };
        state.phase = Phase::Native;
        let which = state.products.which(birth);
        self.habits.learn(section.way, which);
        self.consume(thread, birth, context(Role::Consumer))
    }

    /// Follows the object that a thread has taken (rule 10).
    fn follow(&mut self, thread: ThreadId, effect: Effect, left: u32) -> Mode {
        let Some(state) = self.threads.get_mut(thread) else {
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
        self.effects_by(thread, effects, &context)
    }

    fn effects_by(
        &mut self,
        thread: ThreadId,
        effects: &[(CodeAddress, Effect)],
        context: Context,
    ) -> Reaction {
        let seen = self.in_section(thread, effects, context);
        let effects = &effects[seen..];
        let mut consumed = None;
        for (at, effect) in effects {
            let reaction = self.effect_by(thread, *at, *effect, context);
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

    /// Applies effects while the thread is in a section. Returns how many of them.
    fn in_section(
        &mut self,
        thread: ThreadId,
        effects: &[(CodeAddress, Effect)],
        context: Context,
    ) -> usize {
        let Some(mut tracker) = self.tracker(thread) else {
            return 0;
        };
        let section = &mut tracker.state.section;
        let effects = &effects[..effects.len().min(section.left as usize)];
        section.left -= effects.len() as u32;
        section.way.add(effects);
        section.is_told = true;
        tracker.whole(effects, context);
        effects.len()
    }

    /// Applies the effects of a whole section.
    fn whole_section(
        &mut self,
        thread: ThreadId,
        effects: &[(CodeAddress, Effect)],
        context: Context,
    ) -> Reaction {
        let Some(mut tracker) = self.tracker(thread) else {
            return Reaction::None(Mode::Native);
        };
        let section = &mut tracker.state.section;
        section.left -= effects.len() as u32;
        section.way.add(effects);
        let way = section.way;
        match tracker.routines.expect(way) {
            Some(routine) => tracker.routine(effects, &routine, context),
            None => {
                let seen = tracker.whole(effects, context);
                tracker.routines.learn(way, seen);
            }
        }
        Reaction::None(Mode::Watched)
    }

    /// What applies effects if the thread is in a section.
    #[inline]
    fn tracker(&mut self, thread: ThreadId) -> Option<Tracker<'_>> {
        let state = self.threads.get_mut(thread)?;
        let Phase::Section = state.phase else {
            return None;
        };
        Some(Tracker {
            by: state.accessor(thread, &mut self.words),
            state,
            words: &mut self.words,
            lists: &mut self.lists,
            routines: &mut self.routines,
        })
    }

    fn consume(&mut self, consumer: ThreadId, birth: Birth, to: Synopsis) -> Reaction {
        let from = birth.context;
        let Some(state) = self.threads.get_mut(consumer) else {
            return Reaction::None(Mode::Native);
        };
        state.taken.add(birth.value, birth.list);
        let to_place = state.section.place();
        let Some((lock, store)) = self.lists.consume(birth.list, consumer, from, to) else {
            return Reaction::None(Mode::Native);
        };
        self.tell_sites(birth.list, lock, to_place);
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
            true => self.begin_trial(consumer, birth),
            false => Mode::Native,
        };
        Reaction::Consumed(consumption, mode)
    }

    /// Something produced at one place and consumed at another flowed. The outermost lock of a section decides whether it is
    /// watched.
    fn tell_sites(&mut self, list: ListId, lock: LockId, to: Place) {
        let Some(from) = self.lists.place_to_tell(list, to, self.sites.forgotten()) else {
            return;
        };
        for (site, outermost) in [from, to] {
            self.sites.flowed(site, lock);
            if outermost != lock {
                self.sites.flowed(site, outermost);
            }
        }
    }

    /// The thread's object is followed from now on (rule 10).
    fn begin_trial(&mut self, thread: ThreadId, birth: Birth) -> Mode {
        let Some(state) = self.threads.get_mut(thread) else {
            return Mode::Native;
        };
        state.trial = Some(Trial::new(birth.value, birth.list));
        state.phase = Phase::Trial(state.section.left);
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
        self.threads.get(thread).is_some_and(Thread::holds_a_lock)
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
