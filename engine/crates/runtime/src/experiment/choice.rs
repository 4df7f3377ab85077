//! What a sample does to the current experiment, or to the choice of the next target (COZ §3.2). Runs in signal handlers of
//! every thread.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use fulcrum_preload::sys;
use fulcrum_runtime_core::attribute::Found;
use fulcrum_runtime_core::draw::Treatment;
use fulcrum_runtime_core::spread::Speedup;
use fulcrum_wire::{CALL_SHIFT, FULL_SPEEDUP, FULL_WEIGHT, NONE, mode};

use crate::process::control::{self, Map};

/// The target under experiment, or `NONE`.
static TARGET: AtomicU32 = AtomicU32::new(NONE);
/// Samples before this time do not belong to this experiment.
static SINCE: AtomicU64 = AtomicU64::new(0);
/// The speedup, ten-thousandths.
static SPEEDUP: AtomicU32 = AtomicU32::new(0);
/// Whether the experiment is a placebo.
static PLACEBO: AtomicBool = AtomicBool::new(false);
/// How many experiments have begun or ended.
static NUMBER: AtomicU32 = AtomicU32::new(0);
/// Samples in the target during this experiment.
static HITS: AtomicU64 = AtomicU64::new(0);
/// When the target's speedup came into force.
static FORCE: AtomicU64 = AtomicU64::new(0);
/// [`REQUESTED`], or the target that a sample in scope chose.
static CHOICE: AtomicU32 = AtomicU32::new(NONE);
const REQUESTED: u32 = NONE - 1;
/// How many samples in scope are skipped before one chooses. The paper takes the first sample; after an experiment that ended
/// at a visit, that would nearly always be one of the same thread.
static SKIP: AtomicU32 = AtomicU32::new(0);
/// The bound of the random number of skipped samples: more than any program has threads that run at once, so that each of them
/// may choose.
pub(crate) const MAX_SKIPPED: u64 = 32;

/// Counts `count` samples of the targets `found`, which stand for `weight_ns` nanoseconds together. Returns the delay that they
/// earn their thread, nanoseconds.
#[inline]
pub(crate) fn on_sample(map: &Map, found: &Found, time: u64, count: u64, weight_ns: u64) -> u64 {
    if map.targets.mode == mode::BLOCKED {
        return 0;
    }
    count_sample(map, found, time, count, weight_ns)
}

/// Counts a blocked call as `count` samples. `call` is an index of [`fulcrum_wire::CALLS`]. Each call counts once, in the
/// experiment that sees its end. Returns the delay that `weight_ns` nanoseconds of it earn.
pub(crate) fn on_blocked(map: &Map, found: &Found, call: u32, count: u64, weight_ns: u64) -> u64 {
    if map.targets.mode != mode::BLOCKED {
        return 0;
    }
    if let Some(counter) = found
        .targets()
        .first()
        .and_then(|at| map.counts.get(*at as usize))
    {
        let _ = counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |value| {
            (value >> CALL_SHIFT == 0).then_some(value | u64::from(call + 1) << CALL_SHIFT)
        });
    }
    count_sample(map, found, sys::now(), count, weight_ns)
}

/// The blocked call that is sped up, and since when. `None` when there is none, or targets are not blocked calls.
pub(crate) fn blocked_target() -> Option<(u32, u64)> {
    let target = TARGET.load(Ordering::Acquire);
    if target == NONE || control::map().targets.mode != mode::BLOCKED {
        return None;
    }
    Some((target, FORCE.load(Ordering::Relaxed)))
}

/// Whether the experiment is a placebo: a thread that hits the target pauses like all others.
pub(crate) fn is_placebo() -> bool {
    PLACEBO.load(Ordering::Relaxed)
}

/// When the current speedup came into force.
pub(crate) fn in_force_since() -> u64 {
    FORCE.load(Ordering::Relaxed)
}

/// The experiment, and its speedup.
pub(crate) fn speedup() -> Speedup {
    Speedup {
        experiment: NUMBER.load(Ordering::Acquire),
        level: SPEEDUP.load(Ordering::Relaxed),
    }
}

/// Whether an experiment speeds something up.
#[inline(always)]
pub(crate) fn is_speeding_up() -> bool {
    TARGET.load(Ordering::Acquire) != NONE && SPEEDUP.load(Ordering::Relaxed) > 0
}

/// The delay that time in the target earns.
pub(crate) fn delay_for(time_ns: u64) -> u64 {
    let speedup = u64::from(SPEEDUP.load(Ordering::Relaxed));
    (u128::from(time_ns) * u128::from(speedup) / u128::from(FULL_SPEEDUP)) as u64
}

fn count_sample(map: &Map, found: &Found, time: u64, count: u64, weight_ns: u64) -> u64 {
    let targets = found.targets();
    if targets.is_empty() {
        return 0;
    }
    control::process()
        .in_scope
        .fetch_add(count, Ordering::Relaxed);
    for target in targets {
        if let Some(counter) = map.counts.get(*target as usize) {
            counter.fetch_add(count, Ordering::Relaxed);
        }
    }
    if count > 0 && CHOICE.load(Ordering::Acquire) == REQUESTED {
        choose(map, targets, time, count);
    }
    let target = TARGET.load(Ordering::Acquire);
    if target == NONE || time < SINCE.load(Ordering::Relaxed) || !targets.contains(&target) {
        return 0;
    }
    HITS.fetch_add(count, Ordering::Relaxed);
    delay_for(weight_ns)
}

fn choose(map: &Map, targets: &[u32], time: u64, count: u64) {
    let take = |target| {
        let _ = CHOICE.compare_exchange(REQUESTED, target, Ordering::AcqRel, Ordering::Relaxed);
    };
    if map.fixed != NONE {
        if targets.contains(&map.fixed) {
            take(map.fixed);
        }
        return;
    }
    let skip = SKIP.load(Ordering::Relaxed);
    if u64::from(skip) >= count {
        let left = skip - count as u32;
        let _ = SKIP.compare_exchange(skip, left, Ordering::Relaxed, Ordering::Relaxed);
        return;
    }
    // The clock's low digits are random enough here, and need no state that threads share.
    let random = fulcrum_stats::Random::new(time).bits();
    let target = targets[(random >> 32) as usize % targets.len()];
    let weight = weight(map, target);
    if (random & 0xffff) < u64::from(weight) {
        take(target);
    }
}

/// How likely a sample of this target is accepted, of [`FULL_WEIGHT`].
pub(crate) fn weight(map: &Map, target: u32) -> u32 {
    let steering = map.steering.get(target as usize);
    steering.map_or(FULL_WEIGHT, |it| {
        it.weight.load(Ordering::Relaxed).clamp(1, FULL_WEIGHT)
    })
}

/// How long an experiment on this target warms up, nanoseconds.
pub(crate) fn warmup_ns(map: &Map, target: u32) -> u64 {
    let steering = map.steering.get(target as usize);
    let ms = steering.map_or(0, |it| it.warmup_ms.load(Ordering::Relaxed));
    (u64::from(ms) * 1_000_000).max(control::session().warmup_ns)
}

/// The levels from which an experiment on this target draws, as [`fulcrum_wire::Steering::levels`].
pub(crate) fn levels(map: &Map, target: u32) -> u32 {
    let steering = map.steering.get(target as usize);
    steering.map_or(0, |it| it.levels.load(Ordering::Relaxed))
}

/// Lets a later sample choose the target: the one after `skip` others.
pub(crate) fn request(skip: u32) {
    SKIP.store(skip, Ordering::Relaxed);
    CHOICE.store(REQUESTED, Ordering::Release);
}

/// The chosen target, once there is one.
pub(crate) fn chosen() -> Option<u32> {
    let choice = CHOICE.load(Ordering::Acquire);
    (choice != REQUESTED && choice != NONE).then_some(choice)
}

/// Withdraws the request for a choice.
pub(crate) fn withdraw() {
    CHOICE.store(NONE, Ordering::Release);
}

/// Starts an experiment: samples of `target` earn delay from now on.
pub(crate) fn begin(target: u32, treatment: Treatment, now: u64) {
    let (speedup, placebo) = treatment.speedup();
    FORCE.store(now, Ordering::Relaxed);
    HITS.store(0, Ordering::Relaxed);
    SPEEDUP.store(speedup, Ordering::Relaxed);
    PLACEBO.store(placebo, Ordering::Relaxed);
    SINCE.store(now, Ordering::Relaxed);
    NUMBER.fetch_add(1, Ordering::Release);
    TARGET.store(target, Ordering::Release);
    control::process().selected.store(target, Ordering::Relaxed);
}

/// Ends the warm-up: samples count from `now` on.
pub(crate) fn measure(now: u64) {
    HITS.store(0, Ordering::Relaxed);
    SINCE.store(now, Ordering::Relaxed);
}

/// Ends the experiment. Returns how many samples fell in the target.
pub(crate) fn end() -> u64 {
    TARGET.store(NONE, Ordering::Release);
    NUMBER.fetch_add(1, Ordering::Release);
    control::process().selected.store(NONE, Ordering::Relaxed);
    HITS.load(Ordering::Relaxed)
}
