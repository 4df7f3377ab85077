//! Transactional profiles.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use fulcrum_paths::SIGNIFICANT;
use fulcrum_schema::{
    CrosstalkPair, CrosstalkPaths, TransactionFlow, TransactionFlowKind, TransactionStage,
    TransactionStay, TransactionType, TransactionWay, TransactionsCompared,
    TransactionsComparedType, TransactionsCrosstalk, TransactionsDifference, TransactionsShown,
    TransactionsTypeCost,
};
use fulcrum_transaction_records::run::{Stay, Way};
use fulcrum_transactions::crosstalk::{Holder, Pair};
use fulcrum_transactions::stitch::{
    ComparedType, Difference, StageShare, Stitched, TypeCost, TypeProfile, Welch,
};
use fulcrum_transactions::{FlowKind, TypeId};

use crate::quantity::{grouped, percent, quantity};

/// Types, stages and flows. `notes` are all that a reader should know.
pub fn shown(stitched: &Stitched, notes: Vec<String>) -> TransactionsShown {
    TransactionsShown {
        total_cpu_ns: stitched.total_cpu_ns(),
        types: stitched.types().into_iter().map(one_type).collect(),
        stages: stitched.stages().into_iter().map(stage).collect(),
        flows: stitched
            .placed_flows()
            .into_iter()
            .map(|it| TransactionFlow {
                kind: match it.kind {
                    FlowKind::Memory => TransactionFlowKind::Memory,
                    FlowKind::Event => TransactionFlowKind::Event,
                    FlowKind::Stage => TransactionFlowKind::Stage,
                    FlowKind::Message => TransactionFlowKind::Message,
                },
                from_process: it.from.program,
                from: it.from.name,
                to_process: it.to.program,
                to: it.to.name,
                count: it.count,
            })
            .collect(),
        notes,
    }
}

fn one_type(it: TypeProfile) -> TransactionType {
    let latency = it.latency;
    TransactionType {
        name: it.name,
        context: it.context,
        functions: it.functions,
        count: latency.map_or(0, |it| it.count),
        unreplied: latency.map_or(0, |it| it.unreplied),
        cpu_ns: it.cpu.cpu_ns,
        cpu_share: it.cpu.of_all,
        wall_mean_ns: latency.map(|it| it.mean_ns),
        wall_p50_ns: latency.map(|it| it.p50_ns),
        wall_p95_ns: latency.map(|it| it.p95_ns),
        wall_p99_ns: latency.map(|it| it.p99_ns),
        wait_ns: it.wait_ns,
        stages: it.stages.into_iter().map(stage).collect(),
    }
}

fn stage(it: StageShare) -> TransactionStage {
    TransactionStage {
        process: it.process,
        thread: it.thread,
        cpu_ns: it.cpu.cpu_ns,
        cpu_share: it.cpu.of_all,
    }
}

/// Who waits for whom. `notes` are all that a reader should know.
pub fn crosstalk(stitched: &Stitched, notes: Vec<String>) -> TransactionsCrosstalk {
    let pairs: Vec<CrosstalkPair> = stitched
        .crosstalk()
        .into_iter()
        .map(|it| pair(stitched, it))
        .collect();
    TransactionsCrosstalk {
        wait_ns: pairs.iter().map(|it| it.wait_ns).sum(),
        pairs,
        notes,
    }
}

fn pair(stitched: &Stitched, it: Pair<TypeId, String, String>) -> CrosstalkPair {
    let name = |id: TypeId| stitched.type_name(id).to_owned();
    CrosstalkPair {
        waiter: name(it.waiter),
        holder: match it.holder {
            Holder::Transaction(id) => name(id),
            Holder::NoTransaction => "no transaction".into(),
            Holder::Unknown => "unknown".into(),
        },
        mean_ns: it.mean_ns(),
        lock: it.lock,
        kind: it.kind.name().into(),
        count: it.count,
        wait_ns: it.wait_ns,
        price: None,
        gain: None,
        paths: it
            .paths
            .into_iter()
            .map(|(paths, wait_ns)| CrosstalkPaths {
                waiter_functions: stitched.functions_of(&paths.waiter).into(),
                waiter: paths.waiter,
                holder_functions: paths
                    .holder
                    .as_deref()
                    .map_or_else(Vec::new, |it| stitched.functions_of(it).into()),
                holder: paths.holder,
                wait_ns,
            })
            .collect(),
    }
}

/// The types of two runs. `notes` are all that a reader should know.
pub fn compared(a: &Stitched, b: &Stitched, notes: Vec<String>) -> TransactionsCompared {
    let types = fulcrum_transactions::stitch::compare(a, b).into_iter();
    TransactionsCompared {
        types: types.map(|it| compared_type(&it)).collect(),
        notes,
    }
}

/// A type on both sides.
pub fn compared_type(it: &ComparedType) -> TransactionsComparedType {
    TransactionsComparedType {
        name: it.name.clone(),
        a: it.a.as_ref().map(type_cost),
        b: it.b.as_ref().map(type_cost),
        cpu: it.difference.cpu.map(difference),
        wall: it.difference.wall.map(difference),
    }
}

fn type_cost(it: &TypeCost) -> TransactionsTypeCost {
    let latency = it.latency;
    TransactionsTypeCost {
        transactions: it.transactions,
        cpu_ns: it.cpu_ns,
        left_out_ns: it.left_out_ns,
        cpu_mean_ns: it.cpu.map(|it| it.mean),
        wall_mean_ns: latency.map(|it| it.mean_ns),
        wall_p50_ns: latency.map(|it| it.p50_ns),
        wall_p99_ns: latency.map(|it| it.p99_ns),
    }
}

fn difference(it: Welch) -> TransactionsDifference {
    TransactionsDifference {
        ns: it.difference,
        low_ns: it.interval.low,
        high_ns: it.interval.high,
        p: it.p,
        significant: it.p < SIGNIFICANT,
    }
}

/// A type's name, and what it costs.
pub type TypeFacts<'a> = (&'a str, &'a TypeCost);

/// What a reader should know of a profile of one type, or of two that are compared: A and B. Whole sentences.
pub fn about_types(types: &[TypeFacts<'_>], difference: &Difference) -> Vec<String> {
    let [(a, of_a), (b, of_b)] = types else {
        return Vec::new();
    };
    let Some(cpu) = difference.cpu else {
        return vec![format!(
            "The whole CPU time of {a} is compared with that of {b}, and whether a difference is more than noise is not \
             known: that takes at least two transactions of each, and A has {}, B {}.",
            grouped(of_a.transactions),
            grouped(of_b.transactions)
        )];
    };
    let mut about = vec![format!(
        "Costs are CPU time of one transaction: the mean of {} of {a} (A) and of {} of {b} (B). Each is an observation.",
        grouped(of_a.transactions),
        grouped(of_b.transactions)
    )];
    about.push(significance("CPU time", &cpu));
    about.extend(difference.wall.map(|it| significance("Wall time", &it)));
    for (side, of) in [("A", of_a), ("B", of_b)] {
        if of.left_out_ns > 0 {
            let part = of.left_out_ns as f64 / of.cpu_ns.max(1) as f64;
            about.push(format!(
                "Left out: {} of the CPU time of {side}, which cannot be attributed to single transactions.",
                percent(part)
            ));
        }
    }
    about
}

/// `CPU time of A is 285 µs more than that of B (95 % interval 270 µs to 301 µs, p < 0.0001): significant.`
fn significance(what: &str, of: &Welch) -> String {
    let time = |ns: f64| quantity(ns.round() as i64, "ns");
    let sign = if of.difference < 0.0 { "less" } else { "more" };
    let p = match of.p < 0.0001 {
        true => "p < 0.0001".to_owned(),
        false => format!("p = {:.4}", of.p),
    };
    let verdict = match of.p < SIGNIFICANT {
        true => "significant",
        false => "may be noise",
    };
    format!(
        "{what} of A is {} {sign} than that of B (95 % interval {} to {}, {p}): {verdict}.",
        time(of.difference.abs()),
        time(of.interval.low),
        time(of.interval.high)
    )
}

/// The most stays in one answer: more than anybody reads, and a few megabytes.
const MOST_STAYS: usize = 50_000;

/// How single transactions went, those of one type together, the slowest first, and a note when some are left out. While there is
/// room, the slowest of every type come before the second slowest.
pub fn ways(stitched: &Stitched, ways: &[Way]) -> (Vec<TransactionWay>, Option<String>) {
    let kept = kept(ways);
    let first_ns = kept.iter().map(|it| it.began_ns).min().unwrap_or(0);
    let left_out = ways.len() - kept.len();
    let note = (left_out > 0).then(|| {
        format!(
            "Of {} transactions, {} have too many stays to be shown on a timeline.",
            ways.len(),
            left_out
        )
    });
    let shown = |way: &Way| self::way(stitched, way, first_ns);
    (kept.into_iter().map(shown).collect(), note)
}

fn kept(ways: &[Way]) -> Vec<&Way> {
    let mut by_type: BTreeMap<TypeId, Vec<&Way>> = BTreeMap::new();
    for way in ways {
        by_type.entry(way.of).or_default().push(way);
    }
    for of_type in by_type.values_mut() {
        of_type.sort_by_key(|it| Reverse(it.wall_ns));
    }
    let longest = by_type.values().map(Vec::len).max().unwrap_or(0);
    let mut room = MOST_STAYS;
    let mut fitting: BTreeMap<TypeId, Vec<&Way>> = BTreeMap::new();
    for rank in 0..longest {
        for (of, of_type) in &by_type {
            let Some(way) = of_type.get(rank) else {
                continue;
            };
            if let Some(rest) = room.checked_sub(way.stays.len()) {
                room = rest;
                fitting.entry(*of).or_default().push(way);
            }
        }
    }
    fitting.into_values().flatten().collect()
}

fn way(stitched: &Stitched, way: &Way, first_ns: u64) -> TransactionWay {
    let after = |ns: u64| ns.wrapping_sub(way.began_ns).cast_signed();
    let stay = |it: &Stay| TransactionStay {
        pid: it.pid,
        process: it.program.clone(),
        tid: it.tid,
        thread: it.thread.clone(),
        stage: it.stage.clone(),
        source: it.source.clone(),
        from_ns: after(it.from_ns),
        to_ns: after(it.to_ns),
    };
    TransactionWay {
        of: stitched.type_name(way.of).to_owned(),
        began_ns: way.began_ns - first_ns,
        wall_ns: way.wall_ns,
        replied: way.replied,
        trace_parent: way.trace.map(|it| it.to_string()),
        stays: way.stays.iter().map(stay).collect(),
        left_out: way.left_out,
    }
}
