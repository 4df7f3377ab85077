//! The program's handlers that libraries call through our stubs, by number.

use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicUsize, Ordering};

use fulcrum_preload::quiet::Lock;

use super::kind::Kind;

/// The most handlers that are told apart. Further ones are not followed.
pub(crate) const COUNT: usize = 2048;
const PLACES: usize = 2 * COUNT;
/// How often a thread tries to take the lock, whose holder may be missing in a forked child.
const ATTEMPTS: u32 = 1000;

struct Stub {
    function: AtomicUsize,
    kind: AtomicU8,
    colour: AtomicU8,
}

static STUBS: [Stub; COUNT] = [const {
    Stub {
        function: AtomicUsize::new(0),
        kind: AtomicU8::new(0),
        colour: AtomicU8::new(0),
    }
}; COUNT];
static USED: AtomicUsize = AtomicUsize::new(0);
/// The first entry of a function, plus one.
static INDEX: [AtomicU32; PLACES] = [const { AtomicU32::new(0) }; PLACES];
static MAKING: Lock = Lock::new();
static FULL: AtomicBool = AtomicBool::new(false);

/// A stub, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StubId(pub(crate) u32);

impl StubId {
    /// The program's handler.
    pub(crate) fn function(self) -> usize {
        STUBS[self.0 as usize].function.load(Ordering::Acquire)
    }

    /// How it is known what the handler is called for.
    pub(crate) fn kind(self) -> Kind {
        Kind::of(STUBS[self.0 as usize].kind.load(Ordering::Relaxed))
    }

    fn is(self, function: usize, kind: Kind, colour: u8) -> bool {
        let stub = &STUBS[self.0 as usize];
        self.function() == function
            && self.kind() == kind
            && stub.colour.load(Ordering::Relaxed) == colour
    }
}

/// The stub for a handler. Stubs of several colours may stand for the same handler. Returns `None` if there are too many.
pub(crate) fn number(function: usize, kind: Kind, colour: u8) -> Option<StubId> {
    let first = first_place(function, kind, colour);
    let known = |&at: &usize| INDEX[(first + at) % PLACES].load(Ordering::Acquire);
    for at in 0..PLACES {
        match known(&at).checked_sub(1) {
            Some(number) if StubId(number).is(function, kind, colour) => {
                return Some(StubId(number));
            }
            Some(_) => {}
            None => break,
        }
    }
    make(first, function, kind, colour)
}

fn first_place(function: usize, kind: Kind, colour: u8) -> usize {
    let of = function as u64 ^ (kind as u64) << 56 ^ u64::from(colour) << 48;
    (of.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % PLACES
}

#[cold]
fn make(first: usize, function: usize, kind: Kind, colour: u8) -> Option<StubId> {
    if !(0..ATTEMPTS).any(|_| MAKING.try_take() || wait()) {
        return None;
    }
    let made = add(first, function, kind, colour);
    MAKING.free();
    made
}

fn wait() -> bool {
    fulcrum_preload::sys::yield_now();
    false
}

fn add(first: usize, function: usize, kind: Kind, colour: u8) -> Option<StubId> {
    for at in 0..PLACES {
        let place = &INDEX[(first + at) % PLACES];
        match place.load(Ordering::Acquire).checked_sub(1) {
            Some(number) if StubId(number).is(function, kind, colour) => {
                return Some(StubId(number));
            }
            Some(_) => continue,
            None => {}
        }
        let number = USED.load(Ordering::Relaxed);
        let Some(stub) = STUBS.get(number) else {
            FULL.store(true, Ordering::Relaxed);
            return None;
        };
        USED.store(number + 1, Ordering::Relaxed);
        stub.kind.store(kind as u8, Ordering::Relaxed);
        stub.colour.store(colour, Ordering::Relaxed);
        stub.function.store(function, Ordering::Release);
        place.store(number as u32 + 1, Ordering::Release);
        return Some(StubId(number as u32));
    }
    None
}

/// Whether there are too many. Returns `true` only once.
pub(crate) fn is_full() -> bool {
    FULL.swap(false, Ordering::Relaxed)
}

/// The note in this case.
pub(crate) const TOO_MANY: &str = "More than 2048 event handlers were registered: transactions are not followed into further ones.";
const _: () = assert!(COUNT == 2048, "the note says so");
