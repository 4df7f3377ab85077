//! Logs written in this process, with a clock of the tests' own.
#![allow(dead_code, reason = "every test file uses a part of it")]

pub(crate) mod shop;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fulcrum_event_log::{Log, Moment, Options, ThreadWriter};
use fulcrum_events::{Event, Trace, What};
use fulcrum_stats::Random;
use fulcrum_wire::log::{Body, DICTIONARY, PLAIN_VERSION, PayloadBuffer, cpu_clock, kind};

/// Two ticks are a nanosecond.
pub(crate) static TICKS: AtomicU64 = AtomicU64::new(1_000_000);

pub(crate) fn now() -> Moment {
    let ticks = TICKS.fetch_add(2, Ordering::Relaxed);
    Moment {
        ticks,
        ns: ticks / 2,
        cpu_ns: ticks / 2,
    }
}

pub(crate) fn create(path: &Path, limit: u64) -> Arc<Log> {
    let options = Options {
        limit,
        pid: 4711,
        unix_ns: 1_700_000_000_000_000_000,
        cpu_clock: cpu_clock::RUNS,
        version: PLAIN_VERSION,
        now,
    };
    Log::create(path, &options).unwrap()
}

pub(crate) fn open(path: &Path) -> Trace {
    Trace::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(crate) fn define(log: &Arc<Log>, methods: u32) -> ThreadWriter {
    let mut stream = log.stream(DICTIONARY);
    for id in 0..methods {
        let payload = PayloadBuffer::default()
            .number(u64::from(id))
            .text("shop.Cart");
        let payload = payload
            .text(&format!("m{id}"))
            .text("()V")
            .text("Cart.java")
            .number(u64::from(id) + 1);
        payload_event(&mut stream, kind::DEFINE_METHOD, &payload);
    }
    stream
}

pub(crate) fn payload_event(stream: &mut ThreadWriter, kind: u8, payload: &PayloadBuffer) -> bool {
    stream.write(
        kind,
        now().ticks,
        None,
        0,
        Body::Payload(payload.as_bytes()),
    )
}

pub(crate) fn start(stream: &mut ThreadWriter, name: &str) {
    let payload = PayloadBuffer::default()
        .number(0)
        .number(1)
        .text(name)
        .text("main");
    assert!(payload_event(stream, kind::THREAD_START, &payload));
}

/// Writes a random event and says what a reader has to see, but for the times.
pub(crate) fn random_event(stream: &mut ThreadWriter, random: &mut Random) -> (What, u64) {
    let object = random.bits() >> random.below(64);
    let class = random.bits() as u32 >> random.below(32);
    let method = random.below(5) as u32;
    let (one, two) = (u64::from(class), random.below(2));
    let objects = PayloadBuffer::default().number(object).number(one);
    let (kind, payload, what) = match random.below(9) {
        0..4 => {
            let (kind, what) = match two {
                0 => (kind::ENTER, What::Enter { method }),
                _ => (
                    kind::THROWN,
                    What::Exit {
                        method,
                        thrown: true,
                    },
                ),
            };
            let skipped = random.below(3);
            let cpu = (random.below(4) == 0).then(|| now().ns);
            assert!(stream.write(kind, now().ticks, cpu, skipped, Body::Method(method)));
            return (what, skipped);
        }
        4 => (
            kind::CONTENDED_ENTER,
            objects,
            What::ContendedEnter { object, class },
        ),
        5 => {
            let what = What::Waited {
                object,
                class,
                timed_out: two == 1,
            };
            (kind::WAITED, objects.number(two), what)
        }
        6 => {
            let what = What::Allocation {
                object,
                class,
                bytes: 48,
                interval: two,
            };
            (kind::ALLOCATION, objects.number(48).number(two), what)
        }
        7 => {
            let machine = "ä".repeat(random.below(100) as usize);
            (
                kind::VM_START,
                PayloadBuffer::default().text(&machine),
                What::VmStart { machine },
            )
        }
        _ => (kind::THREAD_END, PayloadBuffer::default(), What::ThreadEnd),
    };
    assert!(payload_event(stream, kind, &payload));
    (what, 0)
}

pub(crate) fn whats(events: impl Iterator<Item = Event>) -> Vec<(What, u64)> {
    events.map(|event| (event.what, event.skipped)).collect()
}
