//! What a pair of probes costs (JPMT §4.4), measured before the program starts: so much is subtracted from its times.
//!
//! A compiled loop calls probes that do what others do, into a log of their own that is never written. The cheapest
//! of many rounds counts: what disturbs only adds, and subtracting too little is better than too much.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use fulcrum_wire::log::{Body, Record, kind};

use crate::clock::{ThreadClock, now};
use crate::jni::{Env, Object};

/// The method's number that means: do as if.
pub const METHOD: i32 = 0;

const ROUND: i32 = 500;
const TIME: Duration = Duration::from_millis(12);

struct Rehearsal {
    clock: ThreadClock,
    entered: u64,
    inside: u64,
    record: [u8; 64],
}

thread_local! {
    static REHEARSAL: RefCell<Option<Rehearsal>> = const { RefCell::new(None) };
}

/// What a probe of the calibration does.
pub fn probe(kind: u8) {
    REHEARSAL.with_borrow_mut(|rehearsal| {
        let Some(it) = rehearsal else { return };
        let (ticks, cpu_ns) = it.clock.stamp();
        let record = Record {
            kind,
            ticks: ticks - it.entered.min(ticks),
            cpu_ns,
            skipped: 0,
            body: Body::Method(1000),
        };
        std::hint::black_box(record.write(&mut it.record));
        if kind == kind::ENTER {
            it.entered = ticks;
        } else {
            it.inside += ticks.saturating_sub(it.entered);
        }
    });
}

/// Picoseconds that a pair of probes takes: within its own call, and beside it. Zeros when it could not be measured.
pub fn measure(env: Env, class: Object) -> (u64, u64) {
    let (start, begin) = (Instant::now(), now());
    let clock = ThreadClock::here();
    let mut best: Option<(u64, u64)> = None;
    while start.elapsed() < TIME {
        let rehearsal = Rehearsal {
            clock: ThreadClock::here(),
            entered: 0,
            inside: 0,
            record: [0; 64],
        };
        REHEARSAL.set(Some(rehearsal));
        let from = clock.stamp().0;
        if env.call_static_int(class, c"calibrate", ROUND).is_none() {
            break;
        }
        let all = clock.stamp().0.saturating_sub(from);
        let inside = REHEARSAL.take().map_or(0, |it| it.inside);
        if best.is_none_or(|(least, _)| all < least) {
            best = Some((all, inside.min(all)));
        }
    }
    // These stamps are in nobody's stream.
    clock.reset();
    let end = now();
    let (Some((all, inside)), true) = (best, end.ticks > begin.ticks) else {
        return (0, 0);
    };
    let tick_ps = 1000.0 * (end.ns - begin.ns) as f64 / (end.ticks - begin.ticks) as f64;
    let pair = |ticks: u64| (ticks as f64 * tick_ps / f64::from(ROUND)) as u64;
    (pair(inside), pair(all - inside))
}
