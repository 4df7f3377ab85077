//! Response times by type, as recorded and as predicted, with bootstrap intervals over transactions.

use std::collections::BTreeMap;

use fulcrum_stats::{Interval, Random, bootstrap, quantile};

use super::replay::Replay;
use super::{Repair, Timeline, Waits};
use crate::context::types::TypeId;

/// The most replays with other transactions that do without their work.
const REPLAYS: usize = 20;
/// The most bootstrap replicates.
const REPLICATES: usize = 1000;
/// The fewest replicates that an interval leaves some of out.
const FEWEST: usize = 40;
/// The most wall times that replays, or the replicates of a type, look at.
const EFFORT: usize = 20_000_000;

/// What a repair brings.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The types, those that save the most time in total first.
    pub types: Vec<TypePrediction>,
    /// The waits that vanish.
    pub waits: Vanished,
}

/// Waits that vanish.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vanished {
    /// Their number.
    pub count: u64,
    /// Their total, in nanoseconds.
    pub wait_ns: u64,
}

/// The response times of a type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TypePrediction {
    /// The type.
    pub of: TypeId,
    /// The number of its transactions.
    pub count: u64,
    /// As recorded.
    pub now: Times,
    /// As predicted.
    pub predicted: Times,
    /// By how much less time they take on average: 0.1 is a tenth less.
    pub gain: Estimate,
    /// How much time all of them save together, in nanoseconds.
    pub saved_ns: f64,
}

/// Response times, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// The mean.
    pub mean: Estimate,
    /// The median.
    pub p50: Estimate,
    /// The 95th percentile.
    pub p95: Estimate,
    /// The 99th percentile.
    pub p99: Estimate,
}

/// A number with its 95 % interval, which a single transaction does not have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// The interval.
    pub interval: Option<Interval>,
}

/// Replays a timeline without what vanishes. If only a share of transactions does without its work, several replays choose
/// them at random.
pub fn predict(timeline: &Timeline, repair: &Repair) -> Prediction {
    let replay = Replay::new(timeline, repair);
    let count = timeline.transactions.len();
    let is_random = repair
        .work
        .iter()
        .any(|it| 0.0 < it.share && it.share < 1.0);
    let replays = match is_random {
        true => (EFFORT / count.max(1)).clamp(4, REPLAYS),
        false => 1,
    };
    let replayed: Vec<Vec<u64>> = (0..replays)
        .map(|number| replay.walls(&drawn(timeline, repair, number)))
        .collect();
    let mut vanished = Vanished::default();
    for it in replay.vanished() {
        vanished.count += 1;
        vanished.wait_ns += it.to_ns - it.from_ns;
    }
    let mut types: Vec<TypePrediction> = rows_by_type(timeline)
        .into_iter()
        .map(|(of, rows)| of_type(of, &rows, timeline, &replayed))
        .collect();
    types.sort_by(|a, b| b.saved_ns.total_cmp(&a.saved_ns));
    Prediction {
        types,
        waits: vanished,
    }
}

/// By how much less time a type would take on average without these waits of it. `None` if it has no transactions.
pub fn gain_without(timeline: &Timeline, of: TypeId, waits: Waits) -> Option<Estimate> {
    let repair = Repair {
        waits: Some(waits),
        work: Vec::new(),
    };
    let all = vec![false; timeline.transactions.len()];
    let walls = Replay::new(timeline, &repair).walls(&all);
    let pairs = timeline.transactions.iter().zip(walls);
    let (now, then): (Vec<u64>, Vec<u64>) = pairs
        .filter(|(it, _)| it.of == of)
        .map(|(it, then)| (it.ended_ns.saturating_sub(it.began_ns), then))
        .unzip();
    if now.is_empty() {
        return None;
    }
    let (now, then) = (Walls::of(now), Walls::of(then));
    let known = gain(&now.plain(), &then.plain());
    let replicates = Replicates::of(&now, &[then], EFFORT / 20);
    Some(replicates.estimate(known, |it| gain(&it.now, &it.predicted)))
}

/// Which transactions do without what they may do without, in one of the replays.
fn drawn(timeline: &Timeline, repair: &Repair, replay: usize) -> Vec<bool> {
    let mut random = Random::of(&[b"what if", &replay.to_le_bytes()]);
    let mut share: BTreeMap<TypeId, f64> = BTreeMap::new();
    share.extend(repair.work.iter().map(|it| (it.of, it.share)));
    let transactions = timeline.transactions.iter();
    transactions
        .map(|it| {
            let unit = random.unit();
            share.get(&it.of).is_some_and(|&share| unit < share)
        })
        .collect()
}

fn rows_by_type(timeline: &Timeline) -> BTreeMap<TypeId, Vec<usize>> {
    let mut rows: BTreeMap<TypeId, Vec<usize>> = BTreeMap::new();
    for (row, it) in timeline.transactions.iter().enumerate() {
        rows.entry(it.of).or_default().push(row);
    }
    rows
}

fn of_type(
    of: TypeId,
    rows: &[usize],
    timeline: &Timeline,
    replayed: &[Vec<u64>],
) -> TypePrediction {
    let wall = |&row: &usize| {
        let it = &timeline.transactions[row];
        it.ended_ns.saturating_sub(it.began_ns)
    };
    let now = Walls::of(rows.iter().map(wall).collect());
    let then = replayed
        .iter()
        .map(|walls| rows.iter().map(|&row| walls[row]).collect());
    let then: Vec<Walls> = then.map(Walls::of).collect();
    let all = Walls::of(then.iter().flat_map(|it| it.ns.iter().copied()).collect());
    let (known, predicted) = (now.plain(), all.plain());
    let replicates = Replicates::of(&now, &then, EFFORT);
    TypePrediction {
        of,
        count: rows.len() as u64,
        now: replicates.times(known, |it| it.now),
        predicted: replicates.times(predicted, |it| it.predicted),
        gain: replicates.estimate(gain(&known, &predicted), |it| gain(&it.now, &it.predicted)),
        saved_ns: (known[0] - predicted[0]) * rows.len() as f64,
    }
}

/// The mean, the median, and the 95th and 99th percentiles.
type Four = [f64; 4];

fn gain(now: &Four, predicted: &Four) -> f64 {
    match now[0] > 0.0 {
        true => 1.0 - predicted[0] / now[0],
        false => 0.0,
    }
}

/// Wall times, and their order.
struct Walls {
    ns: Vec<u64>,
    /// Indices, ascending by wall time.
    order: Vec<u32>,
}

impl Walls {
    fn of(ns: Vec<u64>) -> Self {
        let mut order: Vec<u32> = (0..).take(ns.len()).collect();
        order.sort_by_key(|&it| ns[it as usize]);
        Walls { ns, order }
    }

    fn plain(&self) -> Four {
        self.weighted(&vec![1; self.ns.len()])
    }

    /// As if each were there so many times.
    fn weighted(&self, times: &[u32]) -> Four {
        let total: u64 = times.iter().map(|&it| u64::from(it)).sum();
        let ranks = [0.5, 0.95, 0.99].map(|p| quantile::rank(total, p));
        let mut found = [0.0; 4];
        let (mut sum, mut before, mut next) = (0.0, 0, 0);
        for &row in &self.order {
            let (ns, times) = (self.ns[row as usize] as f64, times[row as usize]);
            sum += ns * f64::from(times);
            before += u64::from(times);
            while next < ranks.len() && times > 0 && before >= ranks[next] {
                found[next + 1] = ns;
                next += 1;
            }
        }
        found[0] = sum / total.max(1) as f64;
        found
    }
}

/// The bootstrap's replicates.
struct Replicates(Vec<Replicate>);

struct Replicate {
    now: Four,
    predicted: Four,
}

impl Replicates {
    /// Each draws as many transactions as there are, with replacement, and takes their times before and after from one of the
    /// replays. None of a single transaction.
    fn of(now: &Walls, then: &[Walls], effort: usize) -> Self {
        let count = now.ns.len();
        let most = (effort / count.max(1)).clamp(FEWEST, REPLICATES);
        let wanted = if count < 2 { 0 } else { most };
        let mut random = Random::of(&[b"replicates"]);
        let replicates = then.iter().cycle().take(wanted).map(|then| {
            let mut times = vec![0; count];
            for _ in 0..count {
                times[random.index(count)] += 1;
            }
            Replicate {
                now: now.weighted(&times),
                predicted: then.weighted(&times),
            }
        });
        Replicates(replicates.collect())
    }

    fn estimate(&self, value: f64, of: impl Fn(&Replicate) -> f64) -> Estimate {
        let mut values: Vec<f64> = self.0.iter().map(of).collect();
        Estimate {
            value,
            interval: (!values.is_empty()).then(|| bootstrap::interval(&mut values)),
        }
    }

    fn times(&self, values: Four, of: impl Fn(&Replicate) -> Four) -> Times {
        let estimate = |at: usize| self.estimate(values[at], |it| of(it)[at]);
        Times {
            mean: estimate(0),
            p50: estimate(1),
            p95: estimate(2),
            p99: estimate(3),
        }
    }
}
