//! Sections that do the same again and again, reported as a whole: only what matters of them is looked at, and products count as used
//! without being watched. What flows stays the same.

use std::collections::VecDeque;

use fulcrum_transactions::memory::{Effect, FlowDetector, Mode, Place, Reaction, Register, Span};
use fulcrum_transactions::{CodeAddress, LockId, Synopsis, ThreadId};

const QUEUE: u64 = 0x50_0000;
const LOCK: LockId = LockId(QUEUE);
const PUSHES: ThreadId = ThreadId(0);
const POPS: ThreadId = ThreadId(1);
const SECTIONS: u32 = 3000;

type Effects = Vec<(CodeAddress, Effect)>;

fn register(number: u8) -> Place {
    Place::Register(Register::general(number).unwrap())
}

fn memory(address: u64, bytes: u8) -> Place {
    Place::Memory(Span::new(address, bytes).unwrap())
}

fn moves(at: u64, from: Place, to: Place, value: u64) -> (CodeAddress, Effect) {
    (CodeAddress(at), Effect::Move { from, to, value })
}

fn overwrites(at: u64, to: Place, value: u64) -> (CodeAddress, Effect) {
    (CodeAddress(at), Effect::Overwrite { to, value })
}

/// A ring of 64 words with three counters, of which two are once read together (Figure 1, compiled).
struct Ring {
    detector: FlowDetector,
    put: u64,
    taken: u64,
    /// The contexts of what is in it.
    contents: VecDeque<u32>,
}

impl Ring {
    fn new() -> Ring {
        let mut detector = FlowDetector::default();
        for (thread, stack) in [(PUSHES, 0x7000_0000), (POPS, 0x7100_0000)] {
            detector.begin_thread(thread, stack..stack + 0x1_0000);
        }
        let (put, taken) = (0, 0);
        let contents = VecDeque::new();
        Ring {
            detector,
            put,
            taken,
            contents,
        }
    }

    fn slot(number: u64) -> Place {
        memory(QUEUE + 64 + 8 * (number % 64), 8)
    }

    fn push(&mut self, context: u32) {
        let count = self.contents.len() as u64;
        let item = 0x90_0000 + 64 * self.put;
        let effects = [
            moves(0x100, memory(QUEUE, 4), register(0), self.put),
            overwrites(0x104, register(2), 0),
            moves(0x108, register(2), memory(QUEUE, 4), self.put + 1),
            moves(0x10c, register(12), Ring::slot(self.put), item),
            overwrites(0x110, memory(QUEUE + 8, 4), count + 1),
            moves(0x114, memory(0x7000_8000, 8), register(12), 7),
        ];
        self.detector.enter(PUSHES, LOCK, CodeAddress(0x100));
        let context_of = |_| Synopsis::from_number(context);
        let reaction = self.detector.leave(PUSHES, LOCK, &effects, context_of);
        assert_eq!(reaction, Reaction::None(Mode::Native));
        self.put += 1;
        self.contents.push_back(context);
    }

    fn pop_effects(&self, otherwise: bool) -> Effects {
        let count = self.contents.len() as u64;
        let item = 0x90_0000 + 64 * self.taken;
        let both = self.taken | count << 32;
        let mut effects = vec![
            moves(0x200, memory(QUEUE + 8, 4), register(0), count),
            moves(0x204, memory(QUEUE + 4, 8), register(1), both),
            moves(0x208, Ring::slot(self.taken), register(12), item),
            overwrites(0x20c, memory(QUEUE + 4, 8), both),
        ];
        if otherwise {
            effects.push(overwrites(0x210, Ring::slot(self.taken), 0));
        }
        effects
    }

    /// Takes the first item, and uses it or not. Returns the context that came with it.
    fn pop(&mut self, uses: bool, otherwise: bool) -> Option<u32> {
        let effects = self.pop_effects(otherwise);
        self.taken += 1;
        self.take((POPS, 0x200), &effects, (register(12), uses))
    }

    /// A thread has a section with these effects, and uses a register afterwards, or overwrites it.
    fn take(
        &mut self,
        (thread, at): (ThreadId, u64),
        effects: &[(CodeAddress, Effect)],
        (of, uses): (Place, bool),
    ) -> Option<u32> {
        self.detector.enter(thread, LOCK, CodeAddress(at));
        let mut reaction = self
            .detector
            .leave(thread, LOCK, effects, |_| Synopsis::EMPTY);
        if reaction.mode() == Mode::Watched {
            let then = match uses {
                true => Effect::Use { of, value: 0 },
                false => Effect::Overwrite { to: of, value: 0 },
            };
            let then = [Effect::NativeCall, then].map(|it| (CodeAddress(at + 0x80), it));
            reaction = self.detector.effects(thread, &then, |_| Synopsis::EMPTY);
        }
        match reaction {
            Reaction::Consumed(it, _) => Some(it.from.number()),
            Reaction::None(_) => None,
        }
    }
}

#[test]
fn each_item_flows_with_its_own_context() {
    let mut ring = Ring::new();
    let mut next = 0;
    for turn in 0..SECTIONS {
        for _ in 0..1 + turn % 5 {
            next += 1;
            ring.push(next);
        }
        while let Some(context) = ring.contents.front().copied() {
            let otherwise = turn % 7 == 3;
            assert_eq!(ring.pop(true, otherwise), Some(context), "{turn}");
            ring.contents.pop_front();
        }
    }
    assert_eq!(ring.detector.counts().native, 0);
}

/// What counts as used without being watched is watched now and then.
#[test]
fn a_thread_that_no_longer_uses_what_it_takes_consumes_nothing() {
    let mut ring = Ring::new();
    let mut consumed = 0;
    for turn in 1..=SECTIONS {
        ring.push(turn);
        let uses = turn <= SECTIONS / 2;
        let found = ring.pop(uses, false);
        ring.contents.pop_front();
        if uses {
            assert_eq!(found, Some(turn));
        } else {
            consumed += u32::from(found.is_some());
        }
    }
    assert!(consumed < 64, "{consumed}");
}

/// A store that had nothing to do with products for long begins to copy them.
#[test]
fn what_begins_to_flow_later_is_noticed() {
    const COPY: u64 = QUEUE + 0x1000;
    const THIRD: ThreadId = ThreadId(2);
    let mut ring = Ring::new();
    let stack = 0x7200_0000..0x7201_0000;
    ring.detector.begin_thread(THIRD, stack);
    let mut found = Vec::new();
    for turn in 1..=SECTIONS {
        ring.push(turn);
        let item = 0x90_0000 + 64 * ring.taken;
        let (source, value) = if turn <= SECTIONS / 2 {
            (0, 3)
        } else {
            (12, item)
        };
        let mut effects = ring.pop_effects(false);
        effects.push(overwrites(0x20e, register(0), 3));
        effects.push(moves(0x210, register(source), memory(COPY, 8), value));
        ring.taken += 1;
        ring.contents.pop_front();
        let taken = ring.take((POPS, 0x200), &effects, (register(12), true));
        assert_eq!(taken, Some(turn));
        let load = [moves(0x300, memory(COPY, 8), register(3), value)];
        let copied = ring.take((THIRD, 0x300), &load, (register(3), true));
        found.extend(copied.map(|from| (turn, from)));
    }
    assert!(found.iter().all(|(turn, from)| turn == from), "{found:?}");
    let late = found.iter().filter(|it| it.0 > SECTIONS - 500).count();
    assert_eq!(late, 500);
}
