//! Measures the cost of critical sections in ticks of the time stamp counter: native, at a resting lock site, out of line
//! with an observer that does nothing, and with a `FlowDetector`. Run with `cargo bench -p fulcrum-critical-sections`. Each
//! number is shown with its difference to native. All sections but the first are measured in batches.

#[cfg(target_arch = "x86_64")]
#[path = "../tests/it/support/observer.rs"]
#[allow(dead_code, reason = "the tests need more of it")]
mod observer;

#[cfg(target_arch = "x86_64")]
mod cost {
    use std::arch::x86_64::{__rdtscp, _mm_lfence};
    use std::ffi::{CString, c_long, c_void};
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::{Arc, Mutex};

    use fulcrum_critical_sections::end_thread;
    use fulcrum_shared_memory::FlowDetector;
    use fulcrum_shared_memory::{Synopsis, ThreadId};
    use fulcrum_test_support::programs::Recipe;

    use crate::observer::{Flows, Listener, engine, listen, test_lock, test_unlock, test_wait};

    /// The number of measurements.
    const TIMES: usize = 2_000;
    /// The calls per measurement, except for the first.
    const BATCH: usize = 16;

    type OfItem = extern "C" fn(*mut [u64; 8]) -> c_long;
    type Plain = extern "C" fn() -> c_long;

    struct Program(*mut c_void);

    impl Program {
        fn compiled() -> Program {
            let folder = Recipe::new("critical-sections-cost")
                .file("flows.c", include_str!("../tests/it/programs/flows.c"))
                .command([
                    "gcc", "-O2", "-shared", "-fPIC", "flows.c", "-o", "flows.so",
                ])
                .build();
            let file = folder.join("flows.so").into_os_string();
            let name = CString::new(file.into_encoded_bytes()).expect("a path");
            // SAFETY: our own library, whose constructors are harmless.
            let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW) };
            assert!(!handle.is_null());
            Program(handle)
        }

        fn symbol(&self, name: &str) -> *mut c_void {
            let name = CString::new(name).expect("a name");
            // SAFETY: the handle is valid, and the name is a C string.
            let found = unsafe { libc::dlsym(self.0, name.as_ptr()) };
            assert!(!found.is_null(), "{name:?}");
            found
        }

        /// Sets the functions that take its locks.
        fn set_up(&self, lock: *const (), unlock: *const ()) {
            // SAFETY: this is the function's type in the program.
            let set_up: extern "C" fn(*const (), *const (), *const ()) =
                unsafe { std::mem::transmute(self.symbol("set_up")) };
            set_up(lock, unlock, test_wait as *const ());
        }

        fn of_item(&self, name: &str) -> OfItem {
            // SAFETY: this is the function's type in the program.
            unsafe { std::mem::transmute(self.symbol(name)) }
        }

        fn plain(&self, name: &str) -> Plain {
            // SAFETY: this is the function's type in the program.
            unsafe { std::mem::transmute(self.symbol(name)) }
        }
    }

    fn now() -> u64 {
        let mut processor = 0;
        // SAFETY: every x86-64 processor has both instructions.
        unsafe {
            _mm_lfence();
            let now = __rdtscp(&raw mut processor);
            _mm_lfence();
            now
        }
    }

    /// Ticks of the first call, and the mean of each batch.
    #[derive(Default)]
    struct Ticks {
        first: Option<u64>,
        batches: Vec<f64>,
    }

    impl Ticks {
        /// Measures one call the first time, and batches later.
        fn measure(&mut self, what: impl Fn() -> c_long) {
            let calls = self.calls();
            let start = now();
            for _ in 0..calls {
                std::hint::black_box(what());
            }
            let ticks = now() - start;
            match self.first {
                None => self.first = Some(ticks),
                Some(_) => self.batches.push(ticks as f64 / calls as f64),
            }
        }

        /// The number of calls in the next measurement.
        fn calls(&self) -> usize {
            if self.first.is_none() { 1 } else { BATCH }
        }

        /// The median of the second half, when everything has been learned.
        fn median(&self) -> f64 {
            let mut steady = self.batches[self.batches.len() / 2..].to_vec();
            steady.sort_unstable_by(f64::total_cmp);
            steady[steady.len() / 2]
        }

        fn show(&self, name: &str, native: &Ticks) {
            let (first, steady) = (self.first.unwrap_or(0), self.median());
            let more = steady - native.median();
            println!("{name:<36} first {first:>8}   steady {steady:>7.0} ({more:>+7.0})");
        }
    }

    /// An item with a number other than 0.
    fn item() -> *mut [u64; 8] {
        Box::leak(Box::new([7; 8]))
    }

    /// Pushes, pops and counts in one thread.
    fn in_one_thread(program: &Program) -> [Ticks; 3] {
        let (push, pop) = (program.of_item("push_array"), program.plain("pop_array"));
        let count = program.plain("count_up");
        let item = item();
        let mut ticks: [Ticks; 3] = Default::default();
        for _ in 0..TIMES {
            ticks[0].measure(|| push(item));
            ticks[1].measure(|| pop());
            ticks[2].measure(|| count());
        }
        ticks
    }

    /// One thread pushes and another one pops, in turns, each with its listener.
    fn in_two_threads(program: &Program, listener: impl Fn(u32) -> Listener + Sync) -> [Ticks; 2] {
        let (push, pop) = (program.of_item("push_array"), program.plain("pop_array"));
        let turn = AtomicU32::new(0);
        let item = item() as usize;
        let call = |which: u32| match which {
            0 => push(item as *mut [u64; 8]),
            _ => pop(),
        };
        let side = |which: u32| {
            listen(listener(which));
            let mut ticks = Ticks::default();
            for _ in 0..TIMES {
                while turn.load(Ordering::Acquire) != which {
                    std::thread::yield_now();
                }
                ticks.measure(|| call(which));
                turn.store(1 - which, Ordering::Release);
            }
            listen(Listener::Nothing);
            end_thread();
            ticks
        };
        let side = &side;
        std::thread::scope(|scope| {
            let sides = [0, 1].map(|it| scope.spawn(move || side(it)));
            sides.map(|it| it.join().expect("it does not panic"))
        })
    }

    /// A listener that finds flow, for the calling thread.
    fn flows(detector: &Arc<Mutex<FlowDetector>>, which: u32) -> Listener {
        let here = (&raw const which).addr() as u64;
        let thread = ThreadId(which);
        let stack = here - 0x1_0000..here + 0x1_0000;
        let mut state = detector.lock().expect("nobody panics");
        state.begin_thread(thread, stack);
        Listener::Flows(Flows {
            detector: Arc::clone(detector),
            thread,
            context: Synopsis::from_number(which + 1),
            consumed: Vec::new(),
            at_once: 0,
        })
    }

    pub(crate) fn run() {
        const NAMES: [&str; 3] = ["ap_queue_push", "ap_queue_pop", "counter"];
        engine();
        let program = Program::compiled();
        program.set_up(
            libc::pthread_mutex_lock as *const (),
            libc::pthread_mutex_unlock as *const (),
        );
        let native = in_one_thread(&program);
        let native_apart = in_two_threads(&program, |_| Listener::Nothing);
        let show = |what: &str, ticks: &[Ticks], native: &[Ticks]| {
            for ((name, ticks), native) in NAMES.iter().zip(ticks).zip(native) {
                ticks.show(&format!("{name}, {what}"), native);
            }
        };
        show("natively", &native, &native);
        show("natively, two threads", &native_apart, &native_apart);
        program.set_up(test_lock as *const (), test_unlock as *const ());
        listen(Listener::Wants);
        let watched = in_one_thread(&program);
        listen(Listener::Nothing);
        show("out of line", &watched, &native);
        let rests = in_one_thread(&program);
        show("site rests", &rests, &native);
        let apart = in_two_threads(&program, |_| Listener::Wants);
        show("out of line, two threads", &apart, &native_apart);
        let detector = Arc::new(Mutex::new(FlowDetector::default()));
        let detected = in_two_threads(&program, |which| flows(&detector, which));
        show("with a FlowDetector", &detected, &native_apart);
        let found = detector.lock().expect("nobody panics").flows();
        let found: u64 = found.iter().map(|it| it.count).sum();
        println!("{found} of {} pushes flowed", (TIMES - 1) * BATCH + 1);
    }
}

fn main() {
    #[cfg(target_arch = "x86_64")]
    cost::run();
}
