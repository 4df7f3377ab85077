//! What libraries call in the place of handlers: a function for each handler of the program, made when it is first registered.
//! It tells who is called ([`dispatch`](super::dispatch)), and calls the handler with the registers that it was called with.
//!
//! They are there from the beginning, so no memory has to be writable and executable.

use core::arch::naked_asm;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicUsize, Ordering};

use fulcrum_preload::quiet::Lock;

use super::dispatch::{begin, end};

/// Handlers that are told apart; what libraries call beyond is not followed.
const COUNT: usize = 2048;
const SIZE: usize = 16;
const PLACES: usize = 2 * COUNT;
/// How often a thread asks for the lock. Whoever has it may be gone, in a forked child.
const ATTEMPTS: u32 = 1000;

/// How it is known for what a handler is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// It goes on with what the thread does: the library calls it within a handler of its own.
    #[default]
    Onward,
    /// The first argument is what was registered.
    First,
    /// The second one is.
    Second,
    /// One of libevent's: the arguments together are.
    Event,
    /// GLib says what is.
    Source,
    /// Likewise, and it is called once: what it returns says so.
    SourceOnce,
    /// The first argument is, and what the library reads next is for the handler of that.
    Allocates,
    /// The first argument is. What is for it has been read, after [`Kind::Allocates`].
    Reads,
    /// The first argument is. Work that a thread of the library does, before another handler is called for the same.
    Work,
    /// Within a handler of libevent's it goes on with that. Otherwise, the first argument is what it goes on with.
    Buffered,
}

impl Kind {
    fn of(number: u8) -> Kind {
        const ALL: [Kind; 10] = [
            Kind::Onward,
            Kind::First,
            Kind::Second,
            Kind::Event,
            Kind::Source,
            Kind::SourceOnce,
            Kind::Allocates,
            Kind::Reads,
            Kind::Work,
            Kind::Buffered,
        ];
        ALL.get(usize::from(number)).copied().unwrap_or_default()
    }
}

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
/// Where a function's are, plus one.
static INDEX: [AtomicU32; PLACES] = [const { AtomicU32::new(0) }; PLACES];
static MAKING: Lock = Lock::new();
static FULL: AtomicBool = AtomicBool::new(false);

/// One of them, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StubId(pub u32);

impl StubId {
    /// What the library is given.
    pub fn address(self) -> usize {
        first() + self.0 as usize * SIZE
    }

    /// The program's handler.
    pub fn function(self) -> usize {
        STUBS[self.0 as usize].function.load(Ordering::Acquire)
    }

    /// How it is known for what it is called.
    pub fn kind(self) -> Kind {
        Kind::of(STUBS[self.0 as usize].kind.load(Ordering::Relaxed))
    }

    /// Which one it is that has this address.
    pub fn at(address: usize) -> Option<StubId> {
        let offset = address.checked_sub(first())?;
        let is_one = offset < COUNT * SIZE && offset.is_multiple_of(SIZE);
        is_one.then(|| StubId((offset / SIZE) as u32))
    }

    fn is(self, function: usize, kind: Kind, colour: u8) -> bool {
        let stub = &STUBS[self.0 as usize];
        self.function() == function
            && self.kind() == kind
            && stub.colour.load(Ordering::Relaxed) == colour
    }
}

/// The function that the program means by an address.
pub fn original(address: usize) -> usize {
    StubId::at(address).map_or(address, StubId::function)
}

/// What stands for a function; those of several colours stand for the same. `None`: there are too many.
pub fn stub(function: usize, kind: Kind, colour: u8) -> Option<StubId> {
    let function = original(function);
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

/// Whether there are too many; said once.
pub fn is_full() -> bool {
    FULL.swap(false, Ordering::Relaxed)
}

/// What is said then.
pub const TOO_MANY: &str = "More than 2048 handlers of events were registered: transactions are not followed into those beyond.";
const _: () = assert!(COUNT == 2048, "the note says so");

/// Where the first one is.
fn first() -> usize {
    (table as *const () as usize).next_multiple_of(SIZE)
}

/// All of them, one behind another, from the first multiple of their size on.
#[unsafe(naked)]
unsafe extern "C-unwind" fn table() {
    naked_asm!(
        ".cfi_startproc",
        ".balign {size}, 0xcc",
        ".rept {count}",
        "lea rax, [rip]",
        "jmp {called}",
        ".balign {size}, 0xcc",
        ".endr",
        ".cfi_endproc",
        count = const COUNT,
        size = const SIZE,
        called = sym called,
    )
}

/// The library calls the one in which the address in `rax` is. The handler may be any function of up to six integer arguments and eight
/// others, which is what libraries call.
#[unsafe(naked)]
unsafe extern "C-unwind" fn called() {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_rel_offset rbp, 0",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "sub rsp, 192",
        "mov [rsp], rdi",
        "mov [rsp + 8], rsi",
        "mov [rsp + 16], rdx",
        "mov [rsp + 24], rcx",
        "mov [rsp + 32], r8",
        "mov [rsp + 40], r9",
        "movaps [rsp + 64], xmm0",
        "movaps [rsp + 80], xmm1",
        "movaps [rsp + 96], xmm2",
        "movaps [rsp + 112], xmm3",
        "movaps [rsp + 128], xmm4",
        "movaps [rsp + 144], xmm5",
        "movaps [rsp + 160], xmm6",
        "movaps [rsp + 176], xmm7",
        "lea rdi, [rip + {table} + {size} - 1]",
        "and rdi, -{size}",
        "sub rax, rdi",
        "mov edi, eax",
        "shr edi, {shift}",
        "mov rsi, rsp",
        "call {begin}",
        "mov [rsp + 48], rdx",
        "mov r11, rax",
        "mov rdi, [rsp]",
        "mov rsi, [rsp + 8]",
        "mov rdx, [rsp + 16]",
        "mov rcx, [rsp + 24]",
        "mov r8, [rsp + 32]",
        "mov r9, [rsp + 40]",
        "movaps xmm0, [rsp + 64]",
        "movaps xmm1, [rsp + 80]",
        "movaps xmm2, [rsp + 96]",
        "movaps xmm3, [rsp + 112]",
        "movaps xmm4, [rsp + 128]",
        "movaps xmm5, [rsp + 144]",
        "movaps xmm6, [rsp + 160]",
        "movaps xmm7, [rsp + 176]",
        "call r11",
        "cmp qword ptr [rsp + 48], 0",
        "je 2f",
        "mov [rsp], rdx",
        "movaps [rsp + 64], xmm0",
        "movaps [rsp + 80], xmm1",
        "mov rdi, [rsp + 48]",
        "mov rsi, rax",
        "call {end}",
        "mov rdx, [rsp]",
        "movaps xmm0, [rsp + 64]",
        "movaps xmm1, [rsp + 80]",
        "2:",
        "leave",
        ".cfi_def_cfa rsp, 8",
        ".cfi_restore rbp",
        "ret",
        ".cfi_endproc",
        table = sym table,
        size = const SIZE,
        shift = const SIZE.ilog2(),
        begin = sym begin,
        end = sym end,
    )
}
