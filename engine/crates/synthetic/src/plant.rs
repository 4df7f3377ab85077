//! Plants sequences into a tree: each below many nodes, with costs and with helpers that they call.

use std::collections::HashSet;

use crate::base::Base;
use crate::program::{LIBRARY, Program};
use crate::sequence::{SHARES, Sequence};
use fulcrum_stats::Random;

/// The number of methods among which one is chosen.
const CHOICE: usize = 24;

/// The stacks to add to a tree.
#[derive(Debug, Default)]
pub(crate) struct Additions {
    /// The calls of all stacks, one after the other.
    calls: Vec<u32>,
    /// The stacks. Sorted by node once they are complete.
    pub(crate) stacks: Vec<Added>,
    pub(crate) nodes: u32,
    pub(crate) leaves: u32,
}

/// A stack below a node of the base tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Added {
    pub(crate) node: u32,
    from: u32,
    to: u32,
    pub(crate) cost: i64,
}

impl Additions {
    pub(crate) fn calls(&self, stack: &Added) -> &[u32] {
        &self.calls[stack.from as usize..stack.to as usize]
    }

    /// Adds a stack.
    pub(crate) fn push(&mut self, node: u32, calls: &[u32], cost: i64) {
        let from = self.calls.len() as u32;
        self.calls.extend(calls);
        let to = self.calls.len() as u32;
        self.stacks.push(Added {
            node,
            from,
            to,
            cost,
        });
    }
}

/// How much to plant, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// The approximate number of nodes.
    pub(crate) nodes: u32,
    /// The number of leaves among them, exact unless the last sequence becomes too long.
    pub(crate) leaves: u32,
    /// The depths at which sequences begin.
    pub(crate) depths: (u16, u16),
    /// The total cost.
    pub(crate) cost: f64,
}

/// A planted sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Planted {
    /// The names, outermost first. The first is called from many places. The others only have a cost here, or are also at the end of other
    /// sequences.
    pub path: Vec<String>,
    /// The cost of its calls and their helpers, in the profile's unit.
    pub cost: i64,
    /// The number of contexts.
    pub contexts: u32,
}

/// One sequence in one context.
struct Place {
    sequence: usize,
    node: u32,
    calls: Vec<u32>,
    /// The number of helpers of each call.
    helpers: Vec<u32>,
    weight: f64,
}

/// Plants all sequences into the tree.
pub(crate) fn plant(
    base: &Base,
    program: &Program,
    sequences: &[Sequence],
    budget: &Budget,
    random: &mut Random,
) -> (Additions, Vec<Planted>) {
    let chains = budget.nodes - budget.leaves;
    let mut places = places(base, program, sequences, budget, chains, random);
    let mut links: Vec<(usize, usize)> = Vec::new();
    for (n, place) in places.iter_mut().enumerate() {
        // Each sequence ends in a helper. The other helpers go anywhere, most of them near the end.
        *place.helpers.last_mut().expect("sequences have calls") = 1;
        links.extend((0..place.calls.len()).map(|m| (n, m)));
    }
    for _ in 0..budget.leaves.saturating_sub(places.len() as u32) {
        let (n, m) = links[random.index(links.len())];
        let last = places[n].calls.len() - 1;
        let at = if random.index(3) == 0 { m } else { last };
        let most = LIBRARY.len() as u32 / 2;
        let at = if places[n].helpers[at] < most { at } else { m };
        places[n].helpers[at] = (places[n].helpers[at] + 1).min(most);
    }
    let mut additions = Additions::default();
    let planted = (0..sequences.len()).map(|n| {
        let mine: Vec<&Place> = places.iter().filter(|it| it.sequence == n).collect();
        let weights: f64 = mine.iter().map(|it| it.weight).sum();
        let mut cost = 0;
        for place in &mine {
            let share = SHARES[n] * place.weight / weights;
            cost += add(place, budget.cost * share, random, &mut additions);
        }
        let first = mine.first().map(|it| base.nodes[it.node as usize].method);
        let path = first.iter().chain(&sequences[n].calls);
        Planted {
            path: path
                .map(|&it| program.names()[it as usize].clone())
                .collect(),
            cost,
            contexts: mine.len() as u32,
        }
    });
    let planted = planted.collect();
    (additions, planted)
}

/// Chooses the places of each sequence: below a method of its own that is called in many contexts.
fn places(
    base: &Base,
    program: &Program,
    sequences: &[Sequence],
    budget: &Budget,
    chains: u32,
    random: &mut Random,
) -> Vec<Place> {
    let mut hosts: Vec<Vec<u32>> = vec![Vec::new(); program.methods()];
    for (n, node) in (0..).zip(&base.nodes) {
        let within = (budget.depths.0..=budget.depths.1).contains(&node.depth);
        if within && node.degree > 0 && node.degree < 20 && node.method as usize >= LIBRARY.len() {
            hosts[node.method as usize].push(n);
        }
    }
    let length: usize = sequences.iter().map(|it| it.calls.len()).sum();
    let each = f64::from(chains) * sequences.len() as f64 / length as f64;
    let mut places = Vec::new();
    let mut left = chains as usize;
    for (n, sequence) in sequences.iter().enumerate() {
        let part = (0.02 + SHARES[n]) / (1.0 + 0.02 * SHARES.len() as f64);
        let count = (each * part * (0.55 + 0.6 * random.unit())).max(2.0) as usize;
        let mut nodes = host(&mut hosts, count, base);
        random.shuffle(&mut nodes);
        for node in nodes.into_iter().take(count) {
            let mut calls = sequence.calls.clone();
            for _ in 0..if sequence.cycle > 0 {
                random.index(4)
            } else {
                0
            } {
                let from = sequence.calls.len() - sequence.cycle;
                calls.extend(&sequence.calls[from..]);
            }
            if calls.len() > left {
                break;
            }
            left -= calls.len();
            places.push(Place {
                sequence: n,
                node,
                helpers: vec![0; calls.len()],
                calls,
                weight: 0.2 + random.unit().powi(3),
            });
        }
    }
    places
}

/// The nodes of a method that has enough contexts, but not many more, and is called by many methods. Different sequences get different
/// methods.
fn host(hosts: &mut [Vec<u32>], count: usize, base: &Base) -> Vec<u32> {
    let mut order: Vec<usize> = (0..hosts.len()).collect();
    order.sort_by_key(|&m| hosts[m].len());
    let enough = order.partition_point(|&m| hosts[m].len() < 2 * count);
    let callers = |m: usize| {
        let node = |n: u32| &base.nodes[n as usize];
        let callers = hosts[m].iter().map(|&n| node(node(n).parent).method);
        callers.collect::<HashSet<_>>().len()
    };
    let near = &order[enough.min(order.len() - CHOICE)..];
    let best = near[..CHOICE].iter().max_by_key(|&&m| callers(m));
    std::mem::take(&mut hosts[*best.expect("there are methods to choose from")])
}

/// Adds the stacks of one place. Returns their cost.
fn add(place: &Place, cost: f64, random: &mut Random, to: &mut Additions) -> i64 {
    let last = place.calls.len() - 1;
    let mut sum = 0;
    for at in 0..place.calls.len() {
        let stack = &place.calls[..=at];
        // Nearly all cost belongs to the last call and its helpers; a tenth belongs to the calls before.
        let own = match at == last {
            true => 0.52 * cost,
            false => 0.08 * cost / last.max(1) as f64,
        };
        let own = own.round() as i64;
        let helpers = place.helpers[at] as usize;
        let each = match at == last {
            true => 0.38 * cost,
            false => 0.02 * cost / last.max(1) as f64,
        };
        if own > 0 {
            to.push(place.node, stack, own);
            sum += own;
        }
        to.nodes += 1;
        let first = random.index(LIBRARY.len());
        let mut stack = stack.to_vec();
        let mut added = 0;
        let mut n = 0;
        while added < helpers {
            let helper = ((first + n) % LIBRARY.len()) as u32;
            n += 1;
            // A helper with the next call's name would be that call.
            if place.calls.get(at + 1) == Some(&helper) {
                continue;
            }
            let own = (each / helpers as f64 * (0.5 + random.unit()))
                .round()
                .max(1.0) as i64;
            stack.push(helper);
            to.push(place.node, &stack, own);
            stack.pop();
            sum += own;
            added += 1;
            to.nodes += 1;
            to.leaves += 1;
        }
    }
    sum
}
