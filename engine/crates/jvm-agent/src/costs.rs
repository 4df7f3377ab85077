//! What a pair of probes costs (JPMT §4.4), measured before the program starts: so much is subtracted from its times.
//!
//! A compiled loop calls the probes themselves, which write into a log in memory that is read for the time between them. The
//! cheapest of many rounds counts: what disturbs only adds, and subtracting too little is better than too much.

use std::sync::Arc;

use fulcrum_event_log::Log;
use fulcrum_wire::log::{PayloadBuffer, Record, kind};

use crate::clock::{ThreadClock, now, thread_cpu};
use crate::jni::{Env, Object};
use crate::thread::{self, State};

/// The method's number in rehearsals; none has it.
pub const METHOD: i32 = 0;

const ROUND: i32 = 4000;
/// Of the thread on a processor, nanoseconds: on a busy machine it takes longer and is as good.
const TIME: u64 = 12_000_000;
/// Rounds, should the thread's clock stand still.
const MOST: u32 = 1000;
const MEMORY: u64 = 64 << 20;

/// What probes cost, picoseconds; zeros when it could not be measured.
#[derive(Clone, Copy, Default)]
pub struct Costs {
    /// Of a logged call, within its own times.
    pub inside: u64,
    /// Of a logged call, beside its own times.
    pub outside: u64,
    /// Of a call whose probes fire without being logged.
    pub skipped: u64,
}

/// Rehearses in the class that probes are in.
pub fn measure(env: Env, class: Object) -> Costs {
    let begin = now();
    bind(env, class);
    let logged = rounds(env, class, u32::MAX);
    let skipped = rounds(env, class, 0);
    let end = now();
    if end.ticks <= begin.ticks {
        return Costs::default();
    }
    let tick_ps = 1000.0 * (end.ns - begin.ns) as f64 / (end.ticks - begin.ticks) as f64;
    let pair = |ticks: u64| (ticks as f64 * tick_ps / f64::from(ROUND)) as u64;
    let (all, inside) = logged.unwrap_or_default();
    Costs {
        inside: pair(inside),
        outside: pair(all.saturating_sub(inside)),
        skipped: pair(skipped.unwrap_or_default().0),
    }
}

/// The first call of a probe finds its native method: now, while nothing has probes that would be called by that.
fn bind(env: Env, class: Object) {
    if let Ok(log) = Log::in_memory(MEMORY, now) {
        thread::instead(State::rehearsal(log.stream(2), u32::MAX), || {
            for probe in [c"enter", c"exit", c"thrown"] {
                // One that cannot be called shows when it is measured.
                let _ = env.call_static_int(class, probe, METHOD);
            }
        });
    }
}

/// Ticks that the best round took, and those of them between the two probes of its pairs.
fn rounds(env: Env, class: Object, deepest: u32) -> Option<(u64, u64)> {
    let log = Log::in_memory(MEMORY, now).ok()?;
    let clock = ThreadClock::here();
    let start = thread_cpu();
    let mut best: Option<(u64, u64)> = None;
    for _ in 0..MOST {
        if thread_cpu().saturating_sub(start) >= TIME {
            break;
        }
        let (all, inside) = round(env, class, &log, &clock, deepest)?;
        if best.is_none_or(|(least, _)| all < least) {
            best = Some((all, inside));
        }
    }
    best
}

fn round(
    env: Env,
    class: Object,
    log: &Arc<Log>,
    clock: &ThreadClock,
    deepest: u32,
) -> Option<(u64, u64)> {
    let mut state = State::rehearsal(log.wide_stream(2), deepest);
    // Its chunk and its clock are ready before time counts.
    state.event(kind::NOTE, &PayloadBuffer::default());
    let (mut all, mut done) = (0, None);
    let state = thread::instead(state, || {
        let from = clock.stamp().0;
        done = env.call_static_int(class, c"calibrate", ROUND);
        all = clock.stamp().0.saturating_sub(from);
    });
    done?;
    let stream = state.into_stream();
    let mut rest = stream.written();
    let mut inside = 0;
    while let Ok((record, length)) = Record::read(rest) {
        if record.kind == kind::EXIT {
            inside += record.ticks;
        }
        rest = &rest[length..];
    }
    Some((all, inside))
}
