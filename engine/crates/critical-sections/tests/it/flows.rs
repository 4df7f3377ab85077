//! Real threads under the engine with a `FlowDetector`: every push flows to the thread that pops it, and nothing else flows
//! (Whodunit §3).

use std::ffi::{CStr, c_long, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};

use fulcrum_critical_sections::counts;
use fulcrum_shared_memory::{FlowDetector, Learning, Limits};
use fulcrum_shared_memory::{Synopsis, ThreadId};
use fulcrum_test_support::programs::Recipe;

use crate::support::observer::{
    Flows, Listener, alone, engine, listen, test_lock, test_unlock, test_wait, waits, with_flows,
};

/// The number of items that each producer pushes.
const ITEMS: u32 = 300;
const THREADS: u32 = 2;

/// The shared structures, compiled in one way.
pub(crate) struct Structures(*mut c_void);

// SAFETY: a handle of the loader; the code behind it takes locks.
unsafe impl Sync for Structures {}

impl Structures {
    pub(crate) fn compiled(optimised: &str) -> Structures {
        engine();
        let folder = Recipe::new(&format!("critical-sections{optimised}"))
            .file("flows.c", include_str!("programs/flows.c"))
            .command([
                "gcc",
                "-g",
                "-shared",
                "-fPIC",
                "-Wl,-z,lazy",
                optimised,
                "flows.c",
                "-o",
                "flows.so",
            ])
            .build();
        let file = folder.join("flows.so");
        let name = std::ffi::CString::new(file.into_os_string().into_encoded_bytes()).unwrap();
        // SAFETY: our own library, without a constructor. It is bound lazily, so that functions are resolved at their first
        // call, within sections.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL) };
        assert!(!handle.is_null(), "{name:?}");
        let structures = Structures(handle);
        // SAFETY: `set_up` takes these functions.
        unsafe {
            let set_up = structures.function(c"set_up");
            let set_up: extern "C" fn(usize, usize, usize) = std::mem::transmute(set_up);
            set_up(
                test_lock as *const () as usize,
                test_unlock as *const () as usize,
                test_wait as *const () as usize,
            );
        }
        structures
    }

    pub(crate) fn function(&self, name: &CStr) -> *mut c_void {
        // SAFETY: the handle is valid, and the name is a C string.
        let found = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        assert!(!found.is_null(), "{name:?}");
        found
    }

    /// A function without arguments.
    pub(crate) fn plain(&self, name: &str) -> extern "C" fn() -> c_long {
        let name = std::ffi::CString::new(name).unwrap();
        // SAFETY: this is the function's type in the program.
        unsafe { std::mem::transmute(self.function(&name)) }
    }

    /// A function with an item as its argument.
    pub(crate) fn of_item(&self, name: &str) -> extern "C" fn(*mut Item) -> c_long {
        let name = std::ffi::CString::new(name).unwrap();
        // SAFETY: this is the function's type in the program.
        unsafe { std::mem::transmute(self.function(&name)) }
    }
}

/// `struct item`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Item {
    id: c_long,
    links: [usize; 4],
}

/// The calling thread's stack.
fn stack() -> std::ops::Range<u64> {
    // SAFETY: reads the calling thread's own attributes, and frees them afterwards.
    unsafe {
        let mut attributes = std::mem::zeroed();
        assert_eq!(
            libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes),
            0
        );
        let (mut start, mut size) = (std::ptr::null_mut(), 0);
        libc::pthread_attr_getstack(&raw const attributes, &raw mut start, &raw mut size);
        libc::pthread_attr_destroy(&raw mut attributes);
        let start = start.addr() as u64;
        start..start + size as u64
    }
}

/// A detector that watches every section. What it misses while sites rest, it would attribute to another thread.
fn detector() -> Arc<Mutex<FlowDetector>> {
    let limits = Limits {
        learning: Learning {
            private: u32::MAX,
            flowless: u32::MAX,
            ..Learning::default()
        },
        ..Limits::default()
    };
    Arc::new(Mutex::new(FlowDetector::with_limits(limits)))
}

/// Runs `work` in a thread whose flow is detected, and then drops the engine's state of the thread.
fn in_thread<T>(detector: &Arc<Mutex<FlowDetector>>, number: u32, work: impl FnOnce() -> T) -> T {
    let thread = ThreadId(number);
    detector.lock().unwrap().begin_thread(thread, stack());
    listen(Listener::Flows(Flows {
        detector: Arc::clone(detector),
        thread,
        context: Synopsis::from_number(1_000_000 + number),
        consumed: Vec::new(),
        at_once: 0,
    }));
    let result = work();
    listen(Listener::Nothing);
    fulcrum_critical_sections::end_thread();
    result
}

/// Producers push items in contexts with the items' numbers. Consumers pop them, and each pop must be reported as a flow
/// from the context of the popped item.
fn every_push_flows(structures: &Structures, name: &str) {
    let (push, pop) = (
        structures.of_item(&format!("push_{name}")),
        structures.plain(&format!("pop_{name}")),
    );
    let detector = detector();
    // No more items are popped than were pushed, and no more are pushed than there is room for.
    let (pushed, available) = sync_channel(30);
    let available = Mutex::new(available);
    let missed = Mutex::new(Vec::new());
    let popped = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for number in 0..THREADS {
            let (detector, pushed) = (&detector, pushed.clone());
            scope.spawn(move || {
                in_thread(detector, number, || {
                    for n in 0..ITEMS {
                        let id = 1 + number * ITEMS + n;
                        with_flows(|it| it.context = Synopsis::from_number(id));
                        assert_eq!(push(new_item(id)), 1);
                        assert_eq!(with_flows(|it| it.consumed.len()), 0);
                        pushed.send(()).expect("consumers stay");
                    }
                });
            });
        }
        drop(pushed);
        for number in THREADS..2 * THREADS {
            let (detector, available, missed, popped) = (&detector, &available, &missed, &popped);
            scope.spawn(move || {
                in_thread(detector, number, || {
                    loop {
                        let next = available.lock().unwrap().recv();
                        if next.is_err() {
                            return;
                        }
                        let id = pop();
                        let from = consumed();
                        popped.fetch_add(1, Ordering::Relaxed);
                        if from != [id as u32] {
                            missed.lock().unwrap().push((id, from));
                        }
                    }
                });
            });
        }
    });
    assert_eq!(popped.into_inner(), (THREADS * ITEMS) as usize, "{name}");
    let missed = missed.into_inner().unwrap();
    assert_eq!(
        missed,
        [],
        "{name}: popped items, and whose context was taken over"
    );
    // Nothing flows from an empty structure.
    in_thread(&detector, 2 * THREADS, || {
        for _ in 0..40 {
            assert_eq!(pop(), 0);
        }
        assert_eq!(with_flows(|it| it.consumed.len()), 0, "{name}");
    });
}

/// Runs threads that all do the same.
fn nothing_flows(structures: &Structures, name: &str) {
    let work = structures.plain(name);
    let detector = detector();
    std::thread::scope(|scope| {
        for number in 0..2 * THREADS {
            let detector = &detector;
            scope.spawn(move || {
                in_thread(detector, number, || {
                    for _ in 0..ITEMS {
                        work();
                    }
                });
            });
        }
    });
    let flows = detector.lock().unwrap().flows();
    assert_eq!(flows, [], "{name}");
}

const FLOWING: [&str; 10] = [
    "array", "stailq", "tailq", "slist", "words", "wide", "nested", "heap", "number", "node",
];

/// Each thread handles items until both sides are done. They wait for each other in the program.
fn every_push_flows_to_who_waited(structures: &Structures) {
    let (push, pop) = (
        structures.of_item("push_bounded"),
        structures.plain("pop_bounded"),
    );
    let detector = detector();
    std::thread::scope(|scope| {
        for number in 0..THREADS {
            let detector = &detector;
            scope.spawn(move || {
                in_thread(detector, number, || {
                    for n in 0..ITEMS {
                        let id = 1 + number * ITEMS + n;
                        with_flows(|it| it.context = Synopsis::from_number(id));
                        push(new_item(id));
                    }
                    assert_eq!(with_flows(|it| it.consumed.len()), 0);
                });
            });
        }
        for number in THREADS..2 * THREADS {
            let detector = &detector;
            scope.spawn(move || {
                in_thread(detector, number, || {
                    for _ in 0..ITEMS {
                        let id = pop();
                        assert_eq!(consumed(), [id as u32]);
                    }
                });
            });
        }
    });
}

/// One thread waits for each item, which another one pushes only then. Returns of how many sections the first reported the beginning at
/// once.
fn every_item_is_waited_for(structures: &Structures) -> u32 {
    let (push, pop) = (
        structures.of_item("push_bounded"),
        structures.plain("pop_bounded"),
    );
    let (detector, waits_before) = (detector(), waits());
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            in_thread(&detector, 1, || {
                for _ in 0..ITEMS {
                    let id = pop();
                    assert_eq!(consumed(), [id as u32]);
                }
                with_flows(|it| it.at_once)
            })
        });
        in_thread(&detector, 2, || {
            for n in 0..ITEMS {
                while waits().wrapping_sub(waits_before) <= n {
                    std::thread::yield_now();
                }
                let id = 1 + n;
                with_flows(|it| it.context = Synopsis::from_number(id));
                push(new_item(id));
            }
        });
        waiter.join().expect("all items are popped")
    })
}

fn new_item(id: u32) -> *mut Item {
    Box::leak(Box::new(Item {
        id: id.into(),
        links: [0; 4],
    }))
}

/// The contexts that the calling thread has taken over since the last call.
fn consumed() -> Vec<u32> {
    with_flows(|it| {
        let consumed = it.consumed.drain(..);
        consumed.map(|it| it.from.number()).collect()
    })
}

fn check(optimised: &str) {
    let _alone = alone();
    let structures = Structures::compiled(optimised);
    let before = counts().expect("it has begun");
    for name in FLOWING {
        every_push_flows(&structures, name);
    }
    every_push_flows_to_who_waited(&structures);
    for name in ["count_up", "allocate_and_free"] {
        nothing_flows(&structures, name);
    }
    let after = counts().expect("it has begun");
    assert_eq!(after.abandoned, before.abandoned);
}

/// A section that waits for a condition is reported as a whole, like any other one, where its thread was watched before. Of 64 runs, about
/// one keeps two sections in one place of a table, where they evict each other.
#[test]
fn sections_that_wait_are_reported_as_a_whole() {
    let _alone = alone();
    let at_once = ["-O0", "-O1", "-O2"]
        .map(|optimised| every_item_is_waited_for(&Structures::compiled(optimised)));
    assert!(at_once.iter().any(|it| *it <= 4), "{at_once:?}");
}

#[test]
fn structures_compiled_without_optimisation() {
    check("-O0");
}

#[test]
fn structures_compiled_with_little_optimisation() {
    check("-O1");
}

#[test]
fn structures_compiled_with_optimisation() {
    check("-O2");
}

#[test]
fn structures_compiled_with_most_optimisation() {
    check("-O3");
}
