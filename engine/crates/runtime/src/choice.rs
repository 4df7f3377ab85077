//! What a sample does to the experiment that is going on, or to the choice of the next (COZ §3.2). Runs in signal
//! handlers of every thread.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use fulcrum_preload::sys;
use fulcrum_runtime_core::attribute::Found;
use fulcrum_runtime_core::draw::Treatment;
use fulcrum_wire::{CALL_SHIFT, FULL_SPEEDUP, FULL_WEIGHT, NONE, mode};

use crate::control::{self, Map};

/// The target under experiment, or `NONE`.
static TARGET: AtomicU32 = AtomicU32::new(NONE);
/// Samples before this time are not of this experiment.
static SINCE: AtomicU64 = AtomicU64::new(0);
/// Ten-thousandths.
static SPEEDUP: AtomicU32 = AtomicU32::new(0);
/// Whether the experiment is a placebo.
static PLACEBO: AtomicBool = AtomicBool::new(false);
/// Samples in the target during this experiment.
static HITS: AtomicU64 = AtomicU64::new(0);
/// Since when the target's speedup is in force.
static FORCE: AtomicU64 = AtomicU64::new(0);
/// [`WANTED`], or the target that a sample in scope chose.
static CHOICE: AtomicU32 = AtomicU32::new(NONE);
const WANTED: u32 = NONE - 1;
/// Samples in scope that pass before one chooses. The paper takes the first; after an experiment that ended at a visit
/// that would nearly always be the same thread's.
static PASS: AtomicU32 = AtomicU32::new(0);
/// More than any program has threads that run at once, so that every one of them may be the chooser.
pub const MOST_PASSED: u64 = 32;

/// Samples of the targets `found`: `count` of them, `weight_ns` nanoseconds together. Returns the delay that they earn
/// their thread, nanoseconds.
#[inline]
pub fn on_sample(map: &Map, found: &Found, time: u64, count: u64, weight_ns: u64) -> u64 {
    if map.targets.mode == mode::BLOCKED {
        return 0;
    }
    seen(map, found, time, count, weight_ns)
}

/// A thread has been blocked in `call` (an index of [`fulcrum_wire::CALLS`]), which makes `count` samples: each call counts
/// once, in the experiment that sees its end. Returns the delay that `weight_ns` nanoseconds of it earn.
pub fn on_blocked(map: &Map, found: &Found, call: u32, count: u64, weight_ns: u64) -> u64 {
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
    seen(map, found, sys::now(), count, weight_ns)
}

/// The target whose waiting passes faster, and since when it does; `None` when there is none, or targets do not wait.
pub fn blocked_target() -> Option<(u32, u64)> {
    let target = TARGET.load(Ordering::Acquire);
    if target == NONE || control::map().targets.mode != mode::BLOCKED {
        return None;
    }
    Some((target, FORCE.load(Ordering::Relaxed)))
}

/// Whether a thread that hits the target has to pause as all others do.
pub fn is_placebo() -> bool {
    PLACEBO.load(Ordering::Relaxed)
}

/// Since when the present speedup is in force.
pub fn in_force_since() -> u64 {
    FORCE.load(Ordering::Relaxed)
}

/// What so much time in the target earns.
pub fn delay_for(time_ns: u64) -> u64 {
    let speedup = u64::from(SPEEDUP.load(Ordering::Relaxed));
    (u128::from(time_ns) * u128::from(speedup) / u128::from(FULL_SPEEDUP)) as u64
}

fn seen(map: &Map, found: &Found, time: u64, count: u64, weight_ns: u64) -> u64 {
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
    if count > 0 && CHOICE.load(Ordering::Acquire) == WANTED {
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
        let _ = CHOICE.compare_exchange(WANTED, target, Ordering::AcqRel, Ordering::Relaxed);
    };
    if map.fixed != NONE {
        if targets.contains(&map.fixed) {
            take(map.fixed);
        }
        return;
    }
    let pass = PASS.load(Ordering::Relaxed);
    if u64::from(pass) >= count {
        let left = pass - count as u32;
        let _ = PASS.compare_exchange(pass, left, Ordering::Relaxed, Ordering::Relaxed);
        return;
    }
    // The clock's low digits are as good as random here, and need no state shared between threads.
    let random = fulcrum_stats::Random::new(time).bits();
    let target = targets[(random >> 32) as usize % targets.len()];
    let weight = weight(map, target);
    if (random & 0xffff) < u64::from(weight) {
        take(target);
    }
}

/// How likely a sample of this target is accepted, of [`FULL_WEIGHT`].
pub fn weight(map: &Map, target: u32) -> u32 {
    let steering = map.steering.get(target as usize);
    steering.map_or(FULL_WEIGHT, |it| {
        it.weight.load(Ordering::Relaxed).clamp(1, FULL_WEIGHT)
    })
}

/// How long an experiment on this target warms up, nanoseconds.
pub fn warmup_ns(map: &Map, target: u32) -> u64 {
    let steering = map.steering.get(target as usize);
    let ms = steering.map_or(0, |it| it.warmup_ms.load(Ordering::Relaxed));
    (u64::from(ms) * 1_000_000).max(control::session().warmup_ns)
}

/// Of which levels an experiment on this target draws, as [`fulcrum_wire::Steering::levels`].
pub fn levels(map: &Map, target: u32) -> u32 {
    let steering = map.steering.get(target as usize);
    steering.map_or(0, |it| it.levels.load(Ordering::Relaxed))
}

/// Has a later sample choose: the one after `pass` others.
pub fn want(pass: u32) {
    PASS.store(pass, Ordering::Relaxed);
    CHOICE.store(WANTED, Ordering::Release);
}

/// The choice, once there is one.
pub fn made() -> Option<u32> {
    let choice = CHOICE.load(Ordering::Acquire);
    (choice != WANTED && choice != NONE).then_some(choice)
}

/// No choice is wanted any more.
pub fn unwant() {
    CHOICE.store(NONE, Ordering::Release);
}

/// From now on samples of `target` earn delay.
pub fn begin(target: u32, treatment: Treatment, now: u64) {
    let (speedup, placebo) = treatment.speedup();
    FORCE.store(now, Ordering::Relaxed);
    HITS.store(0, Ordering::Relaxed);
    SPEEDUP.store(speedup, Ordering::Relaxed);
    PLACEBO.store(placebo, Ordering::Relaxed);
    SINCE.store(now, Ordering::Relaxed);
    TARGET.store(target, Ordering::Release);
    control::process().selected.store(target, Ordering::Relaxed);
}

/// The warm-up is over: samples count from `now` on.
pub fn measure(now: u64) {
    HITS.store(0, Ordering::Relaxed);
    SINCE.store(now, Ordering::Relaxed);
}

/// No sample earns delay any more; returns how many fell in the target.
pub fn end() -> u64 {
    TARGET.store(NONE, Ordering::Release);
    control::process().selected.store(NONE, Ordering::Relaxed);
    HITS.load(Ordering::Relaxed)
}
