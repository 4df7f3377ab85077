//! How long transactions take: the wall times of instances, by type.

use std::collections::BTreeMap;

use fulcrum_stats::{Random, Sample, quantile};

use crate::Synopsis;

/// One execution of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InstanceId(pub u64);

/// An instance that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Its number.
    pub id: InstanceId,
    /// Its last context.
    pub context: Synopsis,
    /// From its first stage to its reply, or to its last activity, in nanoseconds.
    pub wall_ns: u64,
    /// Whether a reply was sent.
    pub replied: bool,
}

/// The instances that a process is executing. An instance begins where a request enters from outside. A request that comes
/// with a context from another process belongs to an instance there. All times are nanoseconds of one clock.
#[derive(Clone, Debug)]
pub struct Instances {
    open: BTreeMap<InstanceId, Open>,
    limit: usize,
    left_out: u64,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    context: Synopsis,
    began_ns: u64,
    active_ns: u64,
}

impl Default for Instances {
    fn default() -> Self {
        Instances::with_limit(1 << 16)
    }
}

impl Instances {
    /// No instances yet, and at most this many at once.
    pub fn with_limit(open: usize) -> Self {
        Instances {
            open: BTreeMap::new(),
            limit: open,
            left_out: 0,
        }
    }

    /// A stage works on an instance in this context. The first activity begins the instance.
    pub fn is_active(&mut self, id: InstanceId, context: Synopsis, now_ns: u64) {
        if let Some(open) = self.open.get_mut(&id) {
            open.context = context;
            open.active_ns = open.active_ns.max(now_ns);
        } else if self.open.len() >= self.limit {
            self.left_out += 1;
        } else {
            let open = Open {
                context,
                began_ns: now_ns,
                active_ns: now_ns,
            };
            self.open.insert(id, open);
        }
    }

    /// The reply was sent, so the instance has ended. Returns `None` if it never began.
    pub fn replies(&mut self, id: InstanceId, now_ns: u64) -> Option<Instance> {
        let open = self.open.remove(&id)?;
        Some(Instance {
            replied: true,
            ..open.end(id, open.active_ns.max(now_ns))
        })
    }

    /// Ends all instances without a reply, at their last activity.
    pub fn finish(self) -> impl Iterator<Item = Instance> {
        let open = self.open.into_iter();
        open.map(|(id, it)| it.end(id, it.active_ns))
    }

    /// Activities of instances that never began because too many were open.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}

impl Open {
    /// The instance when it ends at this time, without a reply.
    fn end(self, id: InstanceId, at_ns: u64) -> Instance {
        Instance {
            id,
            context: self.context,
            wall_ns: at_ns - self.began_ns,
            replied: false,
        }
    }
}

/// The wall times of instances by type.
#[derive(Clone, Debug)]
pub struct Latencies<T> {
    types: BTreeMap<T, Times>,
    kept: usize,
    random: Random,
}

#[derive(Clone, Debug, Default)]
struct Times {
    /// All wall times, or a uniform random sample of the kept size (Vitter 1985, algorithm R).
    wall_ns: Vec<u64>,
    count: u64,
    unreplied: u64,
    sum_ns: u128,
}

/// How long a type takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latency {
    /// The number of instances.
    pub count: u64,
    /// How many of these got no reply, and end with their last activity.
    pub unreplied: u64,
    /// The mean wall time, in nanoseconds.
    pub mean_ns: f64,
    /// The median wall time, in nanoseconds.
    pub p50_ns: u64,
    /// The 95th percentile of the wall time, in nanoseconds.
    pub p95_ns: u64,
    /// The 99th percentile of the wall time, in nanoseconds.
    pub p99_ns: u64,
    /// The number of instances that the quantiles are based on: a random sample if there are more.
    pub drawn: u64,
    /// Their standard deviation in nanoseconds, or `None` with fewer than two.
    pub deviation_ns: Option<f64>,
}

impl<T: Ord> Default for Latencies<T> {
    fn default() -> Self {
        Latencies::with_kept(100_000)
    }
}

impl<T: Ord> Latencies<T> {
    /// No instances yet. Keeps this many wall times for each type.
    pub fn with_kept(times: usize) -> Self {
        Latencies {
            types: BTreeMap::new(),
            kept: times.max(1),
            random: Random::of(&[b"latencies"]),
        }
    }

    /// Adds an instance of a type.
    pub fn add(&mut self, of: T, instance: &Instance) {
        let times = self.types.entry(of).or_default();
        times.count += 1;
        times.unreplied += u64::from(!instance.replied);
        times.sum_ns += u128::from(instance.wall_ns);
        if times.wall_ns.len() < self.kept {
            times.wall_ns.push(instance.wall_ns);
            return;
        }
        let place = self.random.below(times.count) as usize;
        if let Some(replaced) = times.wall_ns.get_mut(place) {
            *replaced = instance.wall_ns;
        }
    }

    /// How long a type takes, or `None` if it has no instances.
    pub fn of(&self, of: &T) -> Option<Latency> {
        let times = self.types.get(of)?;
        let mut sorted = times.wall_ns.clone();
        sorted.sort_unstable();
        Some(Latency {
            count: times.count,
            unreplied: times.unreplied,
            mean_ns: times.sum_ns as f64 / times.count as f64,
            p50_ns: quantile::of_sorted(&sorted, 0.5)?,
            p95_ns: quantile::of_sorted(&sorted, 0.95)?,
            p99_ns: quantile::of_sorted(&sorted, 0.99)?,
            drawn: sorted.len() as u64,
            deviation_ns: deviation(&sorted),
        })
    }
}

fn deviation(wall_ns: &[u64]) -> Option<f64> {
    let values: Vec<f64> = wall_ns.iter().map(|&it| it as f64).collect();
    Sample::of(&values).map(|it| it.deviation)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(number: u32) -> Synopsis {
        Synopsis::from_number(number)
    }

    #[test]
    fn an_instance_lasts_from_its_first_stage_to_its_reply_or_last_activity() {
        let mut instances = Instances::default();
        let (a, b, c) = (InstanceId(1), InstanceId(2), InstanceId(3));
        instances.is_active(a, context(1), 100);
        instances.is_active(b, context(1), 150);
        instances.is_active(a, context(2), 300);
        // Threads that report late.
        instances.is_active(a, context(3), 250);
        let reply = Instance {
            id: a,
            context: context(3),
            wall_ns: 400,
            replied: true,
        };
        assert_eq!(instances.replies(a, 500), Some(reply));
        assert_eq!(
            (instances.replies(a, 600), instances.replies(c, 600)),
            (None, None)
        );
        instances.is_active(b, context(4), 170);
        let rest: Vec<_> = instances.finish().collect();
        let unreplied = Instance {
            id: b,
            context: context(4),
            wall_ns: 20,
            replied: false,
        };
        assert_eq!(rest, [unreplied]);
    }

    #[test]
    fn instances_beyond_the_limit_are_counted() {
        let mut instances = Instances::with_limit(1);
        for id in [1, 2, 1] {
            instances.is_active(InstanceId(id), context(1), 0);
        }
        assert_eq!(instances.left_out(), 1);
        assert_eq!(instances.finish().count(), 1);
    }

    fn instance(wall_ns: u64) -> Instance {
        Instance {
            id: InstanceId(wall_ns),
            context: Synopsis::EMPTY,
            wall_ns,
            replied: !wall_ns.is_multiple_of(10),
        }
    }

    /// Computed by hand: for 1 to 1000, the nearest ranks are the values themselves, and the variance is 1000 · 1001 / 12.
    #[test]
    fn a_type_has_the_quantiles_of_its_instances() {
        let mut latencies = Latencies::default();
        for n in (1..=1000).rev() {
            latencies.add("buy", &instance(n));
        }
        latencies.add("home", &instance(7));
        let expect = Latency {
            count: 1000,
            unreplied: 100,
            mean_ns: 500.5,
            p50_ns: 500,
            p95_ns: 950,
            p99_ns: 990,
            drawn: 1000,
            deviation_ns: None,
        };
        let found = latencies.of(&"buy").unwrap();
        let deviation_ns = found.deviation_ns.unwrap();
        assert!((deviation_ns - (1_001_000.0_f64 / 12.0).sqrt()).abs() < 1e-9);
        let rest = Latency {
            deviation_ns: None,
            ..found
        };
        assert_eq!(rest, expect);
        let home = latencies.of(&"home").unwrap();
        assert_eq!((home.p99_ns, home.deviation_ns), (7, None));
        assert_eq!(latencies.of(&"cart"), None);
    }

    /// For 2,000 of 100,000, the median's standard deviation is 1.1 % of the range.
    #[test]
    fn of_very_many_instances_some_are_drawn_without_preference() {
        let mut latencies = Latencies::with_kept(2000);
        for n in 1..=100_000 {
            latencies.add((), &instance(n));
        }
        let found = latencies.of(&()).unwrap();
        assert_eq!(
            (found.count, found.drawn, found.mean_ns),
            (100_000, 2000, 50_000.5)
        );
        assert!((46_000..54_000).contains(&found.p50_ns), "{found:?}");
        assert!((93_000..97_000).contains(&found.p95_ns), "{found:?}");
    }
}
