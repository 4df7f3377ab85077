//! What programs do in sections besides copying: system calls, exceptions, jumps, forks, signals, long loops, just-in-time
//! code. The engine must not be noticeable.

use std::cell::Cell;
use std::ffi::{CString, c_int, c_long, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fulcrum_critical_sections::{Counts, counts, end_thread, forget, locate};
use fulcrum_shared_memory::{Effect, Place};
use fulcrum_stats::Random;
use fulcrum_test_support::programs::Recipe;

use crate::execution::machine;
use crate::support::machine::{Machine, mapped};
use crate::support::observer::{
    Listener, alone, collect, engine, listen, notes, test_lock, test_unlock,
};
use crate::support::random_code::{Generator, Kind};

/// `odd.cpp`.
struct Program(*mut c_void);

impl Program {
    fn compiled() -> Program {
        engine();
        let folder = Recipe::new("critical-sections-odd")
            .file("odd.cpp", include_str!("programs/odd.cpp"))
            .command([
                "g++", "-g", "-O2", "-shared", "-fPIC", "odd.cpp", "-o", "odd.so",
            ])
            .build();
        let file = folder.join("odd.so").into_os_string();
        let name = CString::new(file.into_encoded_bytes()).unwrap();
        // SAFETY: our own library.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        assert!(!handle.is_null());
        let program = Program(handle);
        // SAFETY: these are the functions' types in the program.
        unsafe {
            let set_up: extern "C" fn(usize, usize, usize) =
                std::mem::transmute(program.symbol("set_up"));
            set_up(
                test_lock as *const () as usize,
                test_unlock as *const () as usize,
                collect as *const () as usize,
            );
        }
        program
    }

    fn symbol(&self, name: &str) -> *mut c_void {
        let c_name = CString::new(name).unwrap();
        // SAFETY: the handle is valid, and the name is a C string.
        let found = unsafe { libc::dlsym(self.0, c_name.as_ptr()) };
        assert!(!found.is_null(), "{name}");
        found
    }

    fn function(&self, name: &str) -> extern "C-unwind" fn(c_long) -> c_long {
        // SAFETY: this is the functions' type in the program.
        unsafe { std::mem::transmute(self.symbol(name)) }
    }
}

/// Calls a function natively once and out of line often, and expects equal results. Returns what was counted meanwhile.
fn alike(program: &Program, name: &str, arguments: &[c_long]) -> Counts {
    let function = program.function(name);
    listen(Listener::Nothing);
    let native: Vec<c_long> = arguments.iter().map(|it| function(*it)).collect();
    // Drops what has been learned about the site.
    end_thread();
    let before = counts().expect("it has begun");
    for _ in 0..20 {
        listen(Listener::Notes(Vec::new()));
        let watched: Vec<c_long> = arguments.iter().map(|it| function(*it)).collect();
        listen(Listener::Nothing);
        assert_eq!(watched, native, "{name}");
    }
    let after = counts().expect("it has begun");
    let sections = 20 * arguments.len() as u64;
    assert_eq!(after.watched - before.watched, sections, "{name}");
    Counts {
        watched: sections,
        stopped: after.stopped - before.stopped,
        too_long: after.too_long - before.too_long,
        abandoned: after.abandoned - before.abandoned,
        stopped_at: after.stopped_at,
    }
}

/// Expects this many sections to continue natively before their end, and none because of its length.
fn check(name: &str, arguments: &[c_long], stopped: u64) {
    let _alone = alone();
    let found = alike(&Program::compiled(), name, arguments);
    assert_eq!((found.stopped, found.too_long), (stopped, 0), "{found:x?}");
}

#[test]
fn exceptions_leave_a_section() {
    check("throws", &[4, 5], 20);
}

#[test]
fn jumps_leave_a_section() {
    check("jumps", &[4, 5], 20);
}

#[test]
fn system_calls_are_made_in_a_section() {
    check("system_calls", &[9], 0);
}

#[test]
fn a_process_forks_in_a_section() {
    check("forks", &[7], 20);
}

#[test]
fn strings_are_copied_in_both_directions() {
    check("strings", &[3, 5], 0);
}

#[test]
fn floating_point_is_what_it_is_natively() {
    check("floats", &[3, 1001], 0);
}

/// Runs hundreds of functions of the C and C++ libraries, a hundred thousand instructions.
#[test]
fn libraries_do_what_they_do_natively() {
    check("libraries", &[17, 123_456], 0);
}

#[test]
fn a_long_section_ends_natively_and_its_site_rests() {
    let _alone = alone();
    let program = Program::compiled();
    let before = counts().expect("it has begun");
    listen(Listener::Wants);
    for _ in 0..20 {
        assert_eq!(program.function("loops")(100_000), 4_999_950_000);
    }
    listen(Listener::Nothing);
    let after = counts().expect("it has begun");
    // Once, and again after one, two, four and eight sections.
    let found = (
        after.watched - before.watched,
        after.too_long - before.too_long,
    );
    assert_eq!(found, (5, 5));
}

/// String copies are reported as moves from memory to memory, with the moved values.
#[test]
fn strings_are_told_word_by_word() {
    let _alone = alone();
    let program = Program::compiled();
    listen(Listener::Notes(Vec::new()));
    program.function("strings")(3);
    let moved: Vec<(u64, u64, u8, u64)> = notes()
        .into_iter()
        .filter_map(|(_, effect)| match effect {
            Effect::Move {
                from: Place::Memory(from),
                to: Place::Memory(to),
                value,
            } => Some((from.address(), to.address(), to.bytes(), value)),
            _ => None,
        })
        .collect();
    listen(Listener::Nothing);
    // Thirty-three bytes, backwards from the fortieth.
    let sizes: Vec<u8> = moved.iter().map(|it| it.2).collect();
    assert_eq!(sizes[..5], [8, 8, 8, 8, 1]);
    let value = |start: u64| {
        let bytes = std::array::from_fn(|n| ((start + n as u64) * 3) as u8);
        u64::from_le_bytes(bytes)
    };
    assert_eq!(moved[0].3, value(8));
    assert_eq!(moved[3].3, value(32));
    assert!(
        moved[..5]
            .windows(2)
            .all(|it| it[1].0 - it[0].0 == 8 && it[1].1 - it[0].1 == 8)
    );
}

/// Unwinding from a function that the engine has called finds the program's frames.
#[test]
fn unwinding_passes_through_a_native_call() {
    let _alone = alone();
    let program = Program::compiled();
    let calls = program.function("calls");
    // SAFETY: this is the function's type in the program.
    let frame: extern "C" fn(c_long) -> *mut c_void =
        unsafe { std::mem::transmute(program.symbol("frame")) };
    let mut found = Vec::new();
    // One call site for both, whatever the optimiser does with loops, because return addresses are compared.
    let listeners = std::hint::black_box(vec![Listener::Nothing, Listener::Notes(Vec::new())]);
    for listener in listeners {
        listen(listener);
        let count = calls(0);
        listen(Listener::Nothing);
        end_thread();
        found.push(
            (0..count)
                .map(|it| frame(it).addr())
                .collect::<Vec<usize>>(),
        );
    }
    let mut watched = found.pop().expect("the second");
    let native = found.pop().expect("the first");
    assert_eq!(watched.len(), native.len() + 1);
    // Between the function and its caller is the return address into the engine.
    let own = watched.iter().zip(&native).position(|(a, b)| a != b);
    watched.remove(own.expect("there is one more"));
    assert_eq!(watched, native);
}

static SIGNALS: AtomicU64 = AtomicU64::new(0);
static LOCATED: AtomicU64 = AtomicU64::new(0);

extern "C" fn handler(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    SIGNALS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the kernel passes a valid context.
    let context = unsafe { &*context.cast::<libc::ucontext_t>() };
    let ip = context.uc_mcontext.gregs[libc::REG_RIP as usize] as u64;
    // The kernel undoes what handlers do to registers.
    let numbers = [1.5_f64; 8].map(std::hint::black_box);
    std::hint::black_box(numbers.iter().map(|it| it.sqrt()).sum::<f64>());
    if locate(ip).is_some() {
        LOCATED.fetch_add(1, Ordering::Relaxed);
        // SAFETY: hooks are functions of one argument. Locks in handlers are not reported, and end nothing.
        unsafe {
            let [lock, unlock]: [extern "C" fn(usize); 2] = std::mem::transmute([
                test_lock as *const () as usize,
                test_unlock as *const () as usize,
            ]);
            lock(0);
            unlock(0);
        }
    }
}

#[test]
fn signals_in_a_section_change_nothing() {
    let _alone = alone();
    engine();
    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = handler;
    // SAFETY: the handler only does what handlers may do.
    let this = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        assert_eq!(
            libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()),
            0
        );
        libc::pthread_self() as usize
    };
    let functions = Generator::new(5, Kind::All).functions(20);
    let start = mapped(&functions.concat());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Ends the other thread even if this one panics.
        let _ends = Ends(&done);
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let before = SIGNALS.load(Ordering::Relaxed);
                // SAFETY: the thread exists, because it waits for this one.
                unsafe { libc::pthread_kill(this as libc::pthread_t, libc::SIGUSR1) };
                // One signal after the other.
                while SIGNALS.load(Ordering::Relaxed) == before && !done.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
            }
        });
        listen(Listener::Wants);
        let mut random = Random::new(5);
        let mut rounds = 0;
        while SIGNALS.load(Ordering::Relaxed) < 300 || LOCATED.load(Ordering::Relaxed) < 20 {
            let mut code = start;
            for function in &functions {
                same_as_natively(&mut random, code);
                code += function.len();
            }
            rounds += 1;
            assert!(
                rounds < 20_000,
                "{SIGNALS:?} signals, {LOCATED:?} in translated code; {:?}",
                counts()
            );
        }
        listen(Listener::Nothing);
    });
}

/// Sets a flag when it is dropped.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn same_as_natively(random: &mut Random, code: usize) {
    let mut machine = machine(random);
    let before = machine.clone();
    // SAFETY: generated code accesses only its memory and its stack.
    unsafe { machine.run_natively(code) };
    let native = machine.clone();
    machine.clone_from(&before);
    // SAFETY: generated code accesses only its memory and its stack.
    unsafe { machine.run_watched(code) };
    assert_eq!(machine, native);
}

/// `mov eax, number; ret`
fn answer(number: u8) -> [u8; 6] {
    [0xb8, number, 0, 0, 0, 0xc3]
}

fn answered(code: usize) -> u64 {
    let mut machine: Box<Machine> = machine(&mut Random::new(1));
    // SAFETY: the code only changes `rax`.
    unsafe { machine.run_watched(code) };
    machine.general[0]
}

#[test]
fn code_that_is_made_at_run_time_runs_natively() {
    let _alone = alone();
    engine();
    // SAFETY: a fresh mapping, filled before it is run.
    let code = unsafe {
        let code = libc::mmap(
            std::ptr::null_mut(),
            4096,
            libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        code.cast::<[u8; 6]>().write(answer(1));
        code
    };
    listen(Listener::Wants);
    let before = counts().expect("it has begun").stopped;
    assert_eq!(answered(code.addr()), 1);
    // SAFETY: no thread is running the code.
    unsafe { code.cast::<[u8; 6]>().write(answer(2)) };
    assert_eq!(answered(code.addr()), 2);
    listen(Listener::Nothing);
    assert_eq!(counts().expect("it has begun").stopped - before, 2);
}

#[test]
fn a_library_in_the_place_of_another_one_is_translated_anew() {
    let _alone = alone();
    engine();
    listen(Listener::Wants);
    let (one, other) = (mapped(&answer(1)), mapped(&answer(2)));
    assert_eq!((answered(one), answered(other)), (1, 2));
    // SAFETY: no thread is running either code.
    let moved = unsafe {
        libc::mremap(
            other as *mut c_void,
            4096,
            4096,
            libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED,
            one as *mut c_void,
        )
    };
    assert_eq!(moved.addr(), one);
    for gone in [one as u64, other as u64] {
        forget(gone, gone + 4096);
    }
    assert_eq!(answered(one), 2);
    listen(Listener::Nothing);
}

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Counts the allocations of each thread.
struct Counting;

// SAFETY: forwards everything to the system's allocator.
unsafe impl std::alloc::GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: std::alloc::Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { std::alloc::System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: std::alloc::Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { std::alloc::System.dealloc(at, layout) };
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn nothing_is_allocated_also_when_code_is_new() {
    let _alone = alone();
    engine();
    let functions = Generator::new(6, Kind::All).functions(40);
    let start = mapped(&functions.concat());
    let mut machine = machine(&mut Random::new(6));
    listen(Listener::Wants);
    let before = (ALLOCATIONS.get(), counts().expect("it has begun").watched);
    let mut code = start;
    for function in &functions {
        for _ in 0..20 {
            // SAFETY: generated code accesses only its memory and its stack.
            unsafe { machine.run_watched(code) };
            let memory = machine.memory.as_ptr().addr() as u64;
            machine.general[15] = memory;
        }
        code += function.len();
    }
    let after = (ALLOCATIONS.get(), counts().expect("it has begun").watched);
    listen(Listener::Nothing);
    assert_eq!(after, (before.0, before.1 + 800));
}
