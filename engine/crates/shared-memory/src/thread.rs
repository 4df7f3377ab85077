//! The state of a thread: the locks it holds, its registers, and whether it is watched.

use std::ops::Range;

use crate::ids::Synopsis;
use crate::ids::{CodeAddress, LockId, ThreadId};
use crate::lists::Place as Origin;
use crate::numbers::Map;
use crate::recycling::{Taken, Trial};
use crate::registers::Registers;
use crate::routines::{self, Way};
use crate::sites::Outcome;
use crate::words::{Accessor, Birth, Tag, Words};
use crate::{Effect, Mode, Place};

/// The threads of a process.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    places: Map<ThreadId, usize>,
    threads: Vec<Option<Thread>>,
    free: Vec<usize>,
    /// The thread that was looked up last, and its place.
    last: Option<(ThreadId, usize)>,
}

impl Threads {
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn insert(&mut self, id: ThreadId, thread: Thread) {
        self.remove(id);
        let place = self.free.pop().unwrap_or(self.threads.len());
        self.places.insert(id, place);
        match self.threads.get_mut(place) {
            Some(slot) => *slot = Some(thread),
            None => self.threads.push(Some(thread)),
        }
    }

    pub(crate) fn remove(&mut self, id: ThreadId) -> Option<Thread> {
        let place = self.places.remove(&id)?;
        self.last = None;
        self.free.push(place);
        self.threads[place].take()
    }

    /// No thread knows anything of memory, or is in a section.
    pub(crate) fn forget_memory(&mut self) {
        for thread in self.threads.iter_mut().flatten() {
            *thread = Thread::new(thread.stack.clone());
        }
    }

    pub(crate) fn get(&self, id: ThreadId) -> Option<&Thread> {
        self.threads[*self.places.get(&id)?].as_ref()
    }

    /// Usually, one thread is looked up several times in a row.
    #[inline]
    pub(crate) fn get_mut(&mut self, id: ThreadId) -> Option<&mut Thread> {
        let place = match self.last {
            Some((last, place)) if last == id => place,
            _ => {
                let place = *self.places.get(&id)?;
                self.last = Some((id, place));
                place
            }
        };
        self.threads.get_mut(place)?.as_mut()
    }
}

#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) stack: Range<u64>,
    /// Held locks in the order in which they were first taken, with their recursion counts.
    pub(crate) held: Vec<(LockId, u32)>,
    pub(crate) phase: Phase,
    /// The section, also in the window after it.
    pub(crate) section: Section,
    pub(crate) registers: Registers,
    /// Tagged words on the thread's own stack.
    pub(crate) own_tags: Vec<u64>,
    /// What the section has read that earlier sections produced.
    pub(crate) products: Products,
    /// The objects that it took last (rule 10).
    pub(crate) taken: Taken,
    /// The object that it has just taken, while it is followed.
    pub(crate) trial: Option<Trial>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Phase {
    Native,
    Section,
    Window,
    /// After the first use: what happens to the object is followed (rule 10). Holds the effects left.
    Trial(u32),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    pub(crate) number: u64,
    pub(crate) site: CodeAddress,
    /// The outermost lock.
    pub(crate) lock: LockId,
    /// Effects left until the section runs natively.
    pub(crate) left: u32,
    /// It touched something last touched by another thread.
    pub(crate) foreign: bool,
    /// The instructions of its effects.
    pub(crate) way: Way,
    /// Some of its effects were reported before its end.
    pub(crate) is_told: bool,
    /// The thread's context at the first store that produced.
    pub(crate) context: Option<Synopsis>,
}

/// The first of the products that a section has read.
#[derive(Debug, Default)]
pub(crate) struct Products {
    first: [Option<Birth>; 4],
    count: usize,
}

impl Products {
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    pub(crate) fn add(&mut self, birth: Birth) {
        if let Some(slot) = self.first.get_mut(self.count) {
            *slot = Some(birth);
        }
        self.count += 1;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn all(&self) -> &[Option<Birth>] {
        &self.first[..self.count.min(self.first.len())]
    }

    pub(crate) fn get(&self, which: u8) -> Option<Birth> {
        *self.all().get(usize::from(which))?
    }

    /// Which of them this is.
    pub(crate) fn which(&self, birth: Birth) -> Option<u8> {
        let at = self.all().iter().position(|it| *it == Some(birth))?;
        Some(at as u8)
    }
}

impl Section {
    /// A section that begins, of at most so many effects.
    pub(crate) fn new(number: u64, site: CodeAddress, lock: LockId, left: u32) -> Self {
        Section {
            number,
            site,
            lock,
            left,
            foreign: false,
            way: Way::new(site, lock),
            is_told: false,
            context: None,
        }
    }

    /// Whether so many effects can be all of it, and few enough to be a routine's.
    pub(crate) fn can_have(&self, effects: usize) -> bool {
        !self.is_told && effects <= routines::LONGEST.min(self.left as usize)
    }

    /// Where it began.
    #[inline]
    pub(crate) fn place(&self) -> Origin {
        (self.site, self.lock)
    }

    /// The section's outcome, given its limit on effects.
    pub(crate) fn outcome(&self, most: u32) -> Outcome {
        Outcome {
            foreign: self.foreign,
            produced: self.context.is_some(),
            effects: most.saturating_sub(self.left),
        }
    }
}

impl Thread {
    pub(crate) fn new(stack: Range<u64>) -> Self {
        Thread {
            stack,
            held: Vec::new(),
            phase: Phase::Native,
            section: Section::new(0, CodeAddress(0), LockId(0), 0),
            registers: Registers::new(),
            own_tags: Vec::new(),
            products: Products::default(),
            taken: Taken::new(),
            trial: None,
        }
    }

    pub(crate) fn holds_a_lock(&self) -> bool {
        !self.held.is_empty()
    }

    /// Whether it holds this lock, once, and no other.
    pub(crate) fn holds_only(&self, lock: LockId) -> bool {
        self.held.as_slice() == [(lock, 1)]
    }

    pub(crate) fn mode(&self) -> Mode {
        match self.phase {
            Phase::Native => Mode::Native,
            Phase::Section | Phase::Window | Phase::Trial(_) => Mode::Watched,
        }
    }

    pub(crate) fn take(&mut self, lock: LockId) {
        match self.held.iter_mut().find(|(it, _)| *it == lock) {
            Some((_, times)) => *times += 1,
            None => self.held.push((lock, 1)),
        }
    }

    pub(crate) fn give_back(&mut self, lock: LockId) -> bool {
        let Some(at) = self.held.iter().position(|(it, _)| *it == lock) else {
            return false;
        };
        self.held[at].1 -= 1;
        if self.held[at].1 == 0 {
            self.held.remove(at);
        }
        true
    }

    #[inline]
    pub(crate) fn accessor(&self, thread: ThreadId, words: &mut Words) -> Accessor {
        Accessor {
            thread,
            section: self.section.number,
            locks: words.locks(&self.held),
        }
    }

    /// Rule 2, at the start of a section. Tags set by other threads on this stack stay, because they may mark products.
    pub(crate) fn forget_own_tags(&mut self, thread: ThreadId, words: &mut Words) {
        self.registers.forget();
        for address in self.own_tags.drain(..) {
            words.forget_own(address, thread);
        }
    }

    /// Rule 4: after a section, tags move through registers only and no memory is tagged. Returns the product that this
    /// effect uses.
    pub(crate) fn use_after(&mut self, effect: Effect, words: &Words) -> Option<Birth> {
        let number = self.section.number;
        let (used, to_register) = match effect {
            Effect::Move {
                from,
                to: Place::Register(to),
                value,
            } => (Some((from, value)), Some(to)),
            Effect::Move { from, value, .. } | Effect::Use { of: from, value } => {
                (Some((from, value)), None)
            }
            Effect::Overwrite {
                to: Place::Register(to),
                ..
            } => (None, Some(to)),
            Effect::Overwrite { .. } => (None, None),
            Effect::NativeCall => {
                self.registers.forget_those_of_calls();
                (None, None)
            }
        };
        let tag = used.map_or(Tag::None, |(place, value)| match place {
            Place::Register(register) => self.registers.get(register),
            Place::Memory(span) => words.left_by(span, value, number),
        });
        if let Some(register) = to_register {
            self.registers.set(register, tag);
            return None;
        }
        match tag {
            Tag::Produced(birth) if birth.section < number => Some(birth),
            _ => None,
        }
    }
}
