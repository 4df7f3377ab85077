//! What a pair of probes costs (JPMT §4.4), measured before the program starts. The cost is subtracted from the program's times.
//!
//! A compiled loop calls the probes, which write into a log in memory; the time between a pair is read from there. The
//! cheapest of many rounds counts: disturbances only add, and subtracting too little is better than too much.

use std::sync::Arc;

use fulcrum_event_log::{Log, ThreadWriter};
use fulcrum_wire::log::{PayloadBuffer, Record, kind};

use crate::Writer;
use crate::clock::{ThreadClock, now, thread_cpu};
pub use crate::probe_costs::Costs;

/// The method's number in rehearsals, which no real method has.
pub const METHOD: u32 = 0;
/// Pairs of probes in a round.
pub const ROUND: u32 = 4000;

/// CPU time that the rounds take, nanoseconds. On a busy machine, they take longer and are as good.
const TIME: u64 = 12_000_000;
/// The most rounds, in case the thread's clock stands still.
const MOST: u32 = 1000;
const MEMORY: u64 = 64 << 20;

/// Lets the probes write through the writer, fires [`ROUND`] pairs of probes of [`METHOD`], and returns the writer. `None`
/// when they cannot be fired.
pub type Round<'a> = &'a mut dyn FnMut(Writer) -> Option<Writer>;

/// A log to rehearse in.
pub fn rehearsal() -> Option<Arc<Log>> {
    Log::in_memory(MEMORY, now).ok()
}

/// Measures the costs, and a tick's length in nanoseconds, which is 0 when it is not known.
pub fn measure(round: Round<'_>) -> (Costs, f64) {
    let begin = now();
    let logged = rounds(round, u32::MAX);
    let skipped = rounds(round, 0);
    let end = now();
    if end.ticks <= begin.ticks {
        return (Costs::default(), 0.0);
    }
    let tick = (end.ns - begin.ns) as f64 / (end.ticks - begin.ticks) as f64;
    let pair = |ticks: u64| (1000.0 * ticks as f64 * tick / f64::from(ROUND)) as u64;
    let (all, inside) = logged.unwrap_or_default();
    let costs = Costs {
        inside: pair(inside),
        outside: pair(all.saturating_sub(inside)),
        skipped: pair(skipped.unwrap_or_default().0),
    };
    (costs, tick)
}

/// The ticks of the best round, and how many of them were between the two probes of its pairs.
fn rounds(round: Round<'_>, deepest: u32) -> Option<(u64, u64)> {
    let log = rehearsal()?;
    let clock = ThreadClock::here();
    let start = thread_cpu();
    let mut best: Option<(u64, u64)> = None;
    for _ in 0..MOST {
        if thread_cpu().saturating_sub(start) >= TIME {
            break;
        }
        let (all, inside) = one(round, &log, &clock, deepest)?;
        if best.is_none_or(|(least, _)| all < least) {
            best = Some((all, inside));
        }
    }
    best
}

fn one(round: Round<'_>, log: &Arc<Log>, clock: &ThreadClock, deepest: u32) -> Option<(u64, u64)> {
    let mut writer = Writer::new(log.wide_stream(2), deepest);
    // Prepares its chunk and its clock before time counts.
    writer.event(kind::NOTE, &PayloadBuffer::default());
    let from = clock.stamp().0;
    let writer = round(writer)?;
    let all = clock.stamp().0.saturating_sub(from);
    Some((all, within(&writer.into_stream())))
}

/// Ticks between the two events of each call.
fn within(stream: &ThreadWriter) -> u64 {
    let mut rest = stream.written();
    let mut inside = 0;
    while let Ok((record, length)) = Record::read(rest) {
        if record.kind == kind::EXIT {
            inside += record.ticks;
        }
        rest = &rest[length..];
    }
    inside
}
