//! Code that runs out of line leaves exactly what it leaves natively (registers, flags, memory, the stack), and the
//! reported effects are what it did.

use std::collections::HashMap;

use fulcrum_critical_sections::{Counts, counts};
use fulcrum_shared_memory::CodeAddress;
use fulcrum_shared_memory::{Effect, Place, Register};
use fulcrum_stats::Random;

use crate::support::machine::{MEMORY, Machine, mapped};
use crate::support::observer::{Listener, alone, engine, listen, notes};
use crate::support::random_code::{Generator, Kind};

/// Enough for a path to be translated as one unit, and to run again afterwards.
const TIMES: usize = 30;
/// A machine whose pointers lead into its own memory, and whose other values are random.
pub(crate) fn machine(random: &mut Random) -> Box<Machine> {
    let mut machine = Box::new(Machine {
        general: std::array::from_fn(|_| random.bits()),
        flags: [
            random.bits() as u8 & 0xd5 | 2,
            random.index(2) as u8,
            0,
            0,
            0,
            0,
            0,
            0,
        ],
        vectors: std::array::from_fn(|_| std::array::from_fn(|_| random.bits())),
        memory: std::array::from_fn(|_| random.bits()),
    });
    let memory = machine.memory.as_ptr().addr() as u64;
    machine.general[15] = memory;
    machine.general[3] = memory + 40;
    machine.general[14] = 2;
    machine
}

/// Runs each random function natively once and out of line [`TIMES`] times. `check` gets the effects of the last time.
fn fuzz(
    kind: Kind,
    seed: u64,
    functions: usize,
    check: impl Fn(&Machine, &Machine, &[(CodeAddress, Effect)]),
) {
    engine();
    let _alone = alone();
    listen(Listener::Notes(Vec::new()));
    let mut random = Random::new(seed);
    let mut generator = Generator::new(seed, kind);
    let all = generator.functions(functions);
    let start = mapped(&all.concat());
    let starts = all.iter().scan(start, |next, bytes| {
        let this = *next;
        *next += bytes.len();
        Some(this)
    });
    for (n, (bytes, code)) in all.iter().zip(starts).enumerate() {
        println!("function {n} at {code:x}: {bytes:02x?}");
        let mut machine = machine(&mut random);
        let before = machine.clone();
        // SAFETY: generated code accesses only its memory and its stack.
        unsafe { machine.run_natively(code) };
        let native = machine.clone();
        let counted = counts().expect("it has begun");
        for time in 0..TIMES {
            machine.clone_from(&before);
            notes();
            // SAFETY: generated code accesses only its memory and its stack.
            unsafe { machine.run_watched(code) };
            assert_eq!(machine, native, "function {n} of seed {seed}, time {time}");
        }
        let reported = notes();
        assert!(!reported.is_empty());
        check(&before, &native, &reported);
        let now = counts().expect("it has begun");
        assert_eq!(now.watched - counted.watched, TIMES as u64);
        let stops = |it: Counts| (it.stopped, it.too_long, it.abandoned);
        assert_eq!(stops(now), stops(counted), "{:x?}", now.stopped_at);
    }
    listen(Listener::Nothing);
}

#[test]
fn random_functions_leave_what_they_leave_natively() {
    fuzz(Kind::All, 1, 300, |_, _, _| {});
}

/// Memory and registers, reconstructed from the reported effects.
struct Model {
    words: HashMap<u64, u64>,
    registers: HashMap<Register, u64>,
}

impl Model {
    fn get(&self, place: Place) -> Option<u64> {
        match place {
            Place::Register(it) => self.registers.get(&it).copied(),
            Place::Memory(it) => self.words.get(&it.address()).copied(),
        }
    }

    fn set(&mut self, place: Place, value: Option<u64>) {
        match (place, value) {
            (Place::Register(it), Some(value)) => {
                self.registers.insert(it, value);
            }
            (Place::Register(it), None) => {
                self.registers.remove(&it);
            }
            (Place::Memory(it), Some(value)) => {
                self.words.insert(it.address(), value);
            }
            (Place::Memory(it), None) => {
                self.words.remove(&it.address());
            }
        }
    }

    fn apply(&mut self, at: CodeAddress, effect: Effect) {
        // Flags around the function are stored as bytes.
        let is_narrow = |it: &Place| matches!(it, Place::Memory(span) if span.bytes() < 8);
        match effect {
            Effect::Move { from, to, .. } if is_narrow(&from) => self.set(to, None),
            Effect::Move { to, .. } | Effect::Overwrite { to, .. } if is_narrow(&to) => {}
            Effect::Move { from, to, value } => {
                let in_memory = [from, to].iter().any(|it| matches!(it, Place::Memory(_)));
                let known = self.get(from);
                if let (Some(known), true) = (known, in_memory) {
                    assert_eq!(value, known, "{effect:?} at {:x}", at.0);
                }
                self.set(to, if in_memory { Some(value) } else { known });
            }
            Effect::Overwrite { to, value } => {
                let known = matches!(to, Place::Memory(_)).then_some(value);
                self.set(to, known);
            }
            Effect::Use { .. } | Effect::NativeCall => {}
        }
    }
}

#[test]
fn what_is_told_of_random_functions_is_what_they_did() {
    fuzz(Kind::Words, 2, 200, |before, after, effects| {
        let memory = before.general[15];
        let mut model = Model {
            words: HashMap::new(),
            registers: HashMap::new(),
        };
        for (n, value) in before.memory.iter().enumerate() {
            model.words.insert(memory + 8 * n as u64, *value);
        }
        for (at, effect) in effects {
            model.apply(*at, *effect);
        }
        for n in 0..MEMORY {
            let word = model.words.get(&(memory + 8 * n as u64));
            assert_eq!(word, Some(&after.memory[n]), "word {n}");
        }
    });
}
