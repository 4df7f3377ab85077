//! Waits by ordered pair of transactions (Whodunit §6).

use std::collections::BTreeMap;

use super::{Holder, LockKind};

/// A transaction waited. `T` identifies transactions, `L` locks, and `P` call paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait<T, L, P> {
    /// The transaction that waited.
    pub waiter: T,
    /// What it waited for.
    pub holder: Holder<T>,
    /// The lock.
    pub lock: L,
    /// The kind of lock.
    pub kind: LockKind,
    /// The wait, in nanoseconds.
    pub wait_ns: u64,
    /// Where both were.
    pub paths: Paths<P>,
}

/// Where in the program a waiter and a holder were.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Paths<P> {
    /// The call path at which the waiter waited.
    pub waiter: P,
    /// The call path at which the holder took the lock, or signalled, if known.
    pub holder: Option<P>,
}

/// All waits of one transaction for another at one lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair<T, L, P> {
    /// The transaction that waited.
    pub waiter: T,
    /// What it waited for.
    pub holder: Holder<T>,
    /// The lock.
    pub lock: L,
    /// The kind of lock.
    pub kind: LockKind,
    /// The number of waits.
    pub count: u64,
    /// The total wait, in nanoseconds.
    pub wait_ns: u64,
    /// The wait by where both were, in nanoseconds, the longest first. Incomplete if there are too many paths.
    pub paths: Vec<(Paths<P>, u64)>,
}

impl<T, L, P> Pair<T, L, P> {
    /// The mean wait, in nanoseconds.
    pub fn mean_ns(&self) -> f64 {
        self.wait_ns as f64 / self.count.max(1) as f64
    }
}

/// Adds waits up.
#[derive(Clone, Debug)]
pub struct Pairs<T, L, P> {
    pairs: BTreeMap<Key<T, L>, Sums<P>>,
    limit: usize,
    left_out: LeftOut,
}

type Key<T, L> = (T, Holder<T>, L, LockKind);

#[derive(Clone, Debug)]
struct Sums<P> {
    count: u64,
    wait_ns: u64,
    paths: BTreeMap<Paths<P>, u64>,
}

/// Waits left out because of the limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Their number.
    pub count: u64,
    /// Their total, in nanoseconds.
    pub wait_ns: u64,
}

impl<T: Clone + Ord, L: Clone + Ord, P: Clone + Ord> Default for Pairs<T, L, P> {
    fn default() -> Self {
        Pairs::with_limit(1 << 16)
    }
}

impl<T: Clone + Ord, L: Clone + Ord, P: Clone + Ord> Pairs<T, L, P> {
    /// The most distinct paths kept for a pair.
    const MOST_PATHS: usize = 64;

    /// No waits yet, and at most this many pairs.
    pub fn with_limit(pairs: usize) -> Self {
        Pairs {
            pairs: BTreeMap::new(),
            limit: pairs,
            left_out: LeftOut::default(),
        }
    }

    /// Adds a wait.
    pub fn add(&mut self, wait: Wait<T, L, P>) {
        self.add_sums(
            (wait.waiter, wait.holder, wait.lock, wait.kind),
            Sums {
                count: 1,
                wait_ns: wait.wait_ns,
                paths: BTreeMap::from([(wait.paths, wait.wait_ns)]),
            },
        );
    }

    fn add_sums(&mut self, key: Key<T, L>, more: Sums<P>) {
        if self.pairs.len() >= self.limit && !self.pairs.contains_key(&key) {
            self.left_out.count += more.count;
            self.left_out.wait_ns += more.wait_ns;
            return;
        }
        let pair = self.pairs.entry(key).or_insert_with(|| Sums {
            count: 0,
            wait_ns: 0,
            paths: BTreeMap::new(),
        });
        pair.count += more.count;
        pair.wait_ns += more.wait_ns;
        for (paths, ns) in more.paths {
            if pair.paths.len() < Self::MOST_PATHS || pair.paths.contains_key(&paths) {
                *pair.paths.entry(paths).or_default() += ns;
            }
        }
    }

    /// Adds other pairs, whose transactions, locks and paths are mapped.
    pub fn add_all<T2, L2, P2>(
        &mut self,
        others: &Pairs<T2, L2, P2>,
        mut transaction: impl FnMut(&T2) -> T,
        mut lock: impl FnMut(&L2) -> L,
        mut path: impl FnMut(&P2) -> P,
    ) where
        T2: Clone,
    {
        self.left_out.count += others.left_out.count;
        self.left_out.wait_ns += others.left_out.wait_ns;
        for ((waiter, holder, at, kind), sums) in &others.pairs {
            let key = (
                transaction(waiter),
                holder.clone().map(|it| transaction(&it)),
                lock(at),
                *kind,
            );
            let renamed = sums.paths.iter().map(|(paths, ns)| {
                let paths = Paths {
                    waiter: path(&paths.waiter),
                    holder: paths.holder.as_ref().map(&mut path),
                };
                (paths, *ns)
            });
            let mut paths = BTreeMap::new();
            for (pair, ns) in renamed {
                *paths.entry(pair).or_default() += ns;
            }
            let (count, wait_ns) = (sums.count, sums.wait_ns);
            self.add_sums(
                key,
                Sums {
                    count,
                    wait_ns,
                    paths,
                },
            );
        }
    }

    /// All pairs, the longest total wait first.
    pub fn ranked(&self) -> Vec<Pair<T, L, P>> {
        let mut ranked: Vec<_> = self.pairs.iter().map(pair).collect();
        // The sort is stable: equal pairs stay ordered by key.
        ranked.sort_by_key(|it| std::cmp::Reverse(it.wait_ns));
        ranked
    }

    /// All call paths, possibly with repetitions.
    pub fn paths(&self) -> impl Iterator<Item = &P> {
        let paths = self.pairs.values().flat_map(|it| it.paths.keys());
        paths
            .flat_map(|it| [Some(&it.waiter), it.holder.as_ref()])
            .flatten()
    }

    /// The total wait of each transaction for others, in nanoseconds (Table 1 shows the mean over instances).
    pub fn waits(&self) -> BTreeMap<T, u64> {
        let mut waits = BTreeMap::new();
        for ((waiter, ..), sums) in &self.pairs {
            *waits.entry(waiter.clone()).or_default() += sums.wait_ns;
        }
        waits
    }

    /// Waits left out because of the limit.
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }
}

fn pair<T: Clone, L: Clone, P: Clone + Ord>(
    ((waiter, holder, lock, kind), sums): (&Key<T, L>, &Sums<P>),
) -> Pair<T, L, P> {
    let mut paths: Vec<_> = sums
        .paths
        .iter()
        .map(|(it, ns)| (it.clone(), *ns))
        .collect();
    paths.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    Pair {
        waiter: waiter.clone(),
        holder: holder.clone(),
        lock: lock.clone(),
        kind: *kind,
        count: sums.count,
        wait_ns: sums.wait_ns,
        paths,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(
        waiter: &'static str,
        holder: Holder<&'static str>,
        lock: u32,
        wait_ns: u64,
    ) -> Wait<&'static str, u32, u32> {
        Wait {
            waiter,
            holder,
            lock,
            kind: LockKind::Mutex,
            wait_ns,
            paths: Paths {
                waiter: 1,
                holder: Some(2),
            },
        }
    }

    /// The pairs (t_B, t_A) and (t_A, t_B) of §6 are two.
    #[test]
    fn waits_add_up_by_ordered_pair_and_the_most_expensive_comes_first() {
        let mut pairs = Pairs::default();
        let (a, b) = (Holder::Transaction("A"), Holder::Transaction("B"));
        for each in [
            wait("B", a, 1, 30),
            wait("A", b, 1, 100),
            wait("B", a, 1, 90),
            wait("B", a, 2, 5),
            wait("A", Holder::Unknown, 1, 7),
        ] {
            pairs.add(each);
        }
        let found: Vec<_> = pairs
            .ranked()
            .into_iter()
            .map(|it| {
                (
                    it.waiter,
                    it.holder,
                    it.lock,
                    it.count,
                    it.wait_ns,
                    it.mean_ns(),
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                ("B", a, 1, 2, 120, 60.0),
                ("A", b, 1, 1, 100, 100.0),
                ("A", Holder::Unknown, 1, 1, 7, 7.0),
                ("B", a, 2, 1, 5, 5.0),
            ]
        );
        assert_eq!(pairs.waits(), BTreeMap::from([("A", 107), ("B", 125)]));
    }

    #[test]
    fn pairs_of_several_processes_join_under_other_names() {
        let mut here = Pairs::default();
        here.add(wait("A", Holder::NoTransaction, 1, 10));
        let mut there: Pairs<&str, u32, u32> = Pairs::default();
        there.add(wait("a", Holder::NoTransaction, 11, 5));
        there.add(wait("x", Holder::Transaction("a"), 11, 1));
        here.add_all(
            &there,
            |it| if *it == "a" { "A" } else { "X" },
            |it| it - 10,
            |it| *it,
        );
        let found: Vec<_> = here
            .ranked()
            .into_iter()
            .map(|it| {
                (
                    it.waiter,
                    it.holder,
                    it.lock,
                    it.count,
                    it.wait_ns,
                    it.paths[0].1,
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                ("A", Holder::NoTransaction, 1, 2, 15, 15),
                ("X", Holder::Transaction("A"), 1, 1, 1, 1),
            ]
        );
    }

    #[test]
    fn pairs_beyond_the_limit_are_counted_together() {
        let mut pairs = Pairs::with_limit(1);
        for lock in [1, 2, 3, 1] {
            pairs.add(wait("A", Holder::Unknown, lock, 10));
        }
        assert_eq!(pairs.ranked()[0].wait_ns, 20);
        assert_eq!(
            pairs.left_out(),
            LeftOut {
                count: 2,
                wait_ns: 20
            }
        );
    }
}
