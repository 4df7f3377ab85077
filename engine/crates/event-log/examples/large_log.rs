//! Writes a large event log, the same one every time: `large_log FILE EVENTS`. Eight workers call methods of forty classes
//! inside one another, wait for monitors now and then, and throw exceptions; their times overlap.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fulcrum_event_log::{Log, Moment, Options, ThreadWriter};
use fulcrum_stats::Random;
use fulcrum_wire::log::{Body, DICTIONARY, PLAIN_VERSION, PayloadBuffer, cpu_clock, kind};

const THREADS: u32 = 8;
const METHODS: u32 = 400;
const CLASSES: u32 = 40;
const DEEPEST: usize = 30;
/// Events that a thread writes before the next one does.
const TURN: u64 = 10_000;

/// A tick is a nanosecond.
static NOW: AtomicU64 = AtomicU64::new(0);

fn now() -> Moment {
    let ns = NOW.load(Ordering::Relaxed);
    Moment {
        ticks: ns,
        ns,
        cpu_ns: ns,
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let events = arguments.next().zip(arguments.next());
    let events = events.and_then(|(file, events)| Some((file, events.parse().ok()?)));
    let Some((file, events)) = events else {
        eprintln!("usage: large_log FILE EVENTS");
        std::process::exit(2);
    };
    if let Err(error) = write(file.as_ref(), events) {
        eprintln!("{file}: {error}");
        std::process::exit(1);
    }
}

fn write(file: &Path, events: u64) -> std::io::Result<()> {
    let options = Options {
        limit: 64 << 30,
        pid: 1,
        unix_ns: 1_700_000_000_000_000_000,
        cpu_clock: cpu_clock::RUNS,
        version: PLAIN_VERSION,
        now,
    };
    let log = Log::create(file, &options)?;
    define(&log);
    let mut threads: Vec<Thread> = (0..THREADS).map(|n| Thread::new(&log, n)).collect();
    let mut left = events;
    while left > 0 {
        for thread in &mut threads {
            let turn = left.min(TURN);
            for _ in 0..turn {
                thread.event();
            }
            left -= turn;
        }
    }
    drop(threads);
    log.finish();
    Ok(())
}

/// Names of methods and classes.
fn define(log: &Arc<Log>) {
    let mut stream = log.stream(DICTIONARY);
    let mut write = |kind: u8, payload: PayloadBuffer| {
        stream.write(kind, 0, None, 0, Body::Payload(payload.as_bytes()));
    };
    for class in 0..CLASSES {
        let number = PayloadBuffer::default().number(u64::from(class));
        let name = format!("shop.part{}.Class{class}", class % 7);
        write(kind::DEFINE_CLASS, number.text(&name));
    }
    for method in 0..METHODS {
        let class = method % CLASSES;
        let number = PayloadBuffer::default().number(u64::from(method));
        let number = number.text(&format!("shop.part{}.Class{class}", class % 7));
        let name = number.text(&format!("method{method}")).text("(I)V");
        write(
            kind::DEFINE_METHOD,
            name.text("Class.java").number(u64::from(method) + 1),
        );
    }
}

struct Thread {
    stream: ThreadWriter,
    /// Methods that it is in.
    inside: Vec<u32>,
    waits: bool,
    at: u64,
    random: Random,
}

impl Thread {
    fn new(log: &Arc<Log>, number: u32) -> Thread {
        let mut stream = log.stream(number + 2);
        let started = PayloadBuffer::default().number(0).number(0);
        let started = started.text(&format!("worker-{number}")).text("main");
        stream.write(
            kind::THREAD_START,
            0,
            None,
            0,
            Body::Payload(started.as_bytes()),
        );
        Thread {
            stream,
            inside: Vec::new(),
            waits: false,
            at: 0,
            random: Random::new(number.into()),
        }
    }

    fn event(&mut self) {
        let step = match self.random.below(1000) {
            0 => 50_000 + self.random.below(2_000_000),
            _ => 20 + self.random.below(400),
        };
        self.at += step;
        NOW.store(self.at, Ordering::Relaxed);
        if self.waits || self.random.below(500) == 0 {
            let kind = match self.waits {
                false => kind::CONTENDED_ENTER,
                true => kind::CONTENDED_ENTERED,
            };
            self.waits = !self.waits;
            let lock = PayloadBuffer::default().number(77).number(3);
            self.stream
                .write(kind, self.at, None, 0, Body::Payload(lock.as_bytes()));
        } else if self.inside.len() < DEEPEST && self.random.below(100) < 50
            || self.inside.is_empty()
        {
            // What is called depends on who calls, so that paths repeat.
            let caller = self.inside.last().copied().unwrap_or(0);
            let method = (caller * 7 + 1 + self.random.below(6) as u32) % METHODS;
            self.inside.push(method);
            self.stream.write_method(kind::ENTER, self.at, method);
        } else if let Some(method) = self.inside.pop() {
            let kind = match self.random.below(200) {
                0 => kind::THROWN,
                _ => kind::EXIT,
            };
            self.stream.write_method(kind, self.at, method);
        }
    }
}
