//! Transactional profiles.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use fulcrum_schema::{
    CrosstalkPair, CrosstalkPaths, TransactionFlow, TransactionFlowKind, TransactionStage,
    TransactionStay, TransactionType, TransactionWay, TransactionsCrosstalk, TransactionsShown,
};
use fulcrum_transaction_records::run::{Stay, Way};
use fulcrum_transactions::crosstalk::{Holder, Pair};
use fulcrum_transactions::stitch::{StageShare, Stitched, TypeProfile};
use fulcrum_transactions::{FlowKind, TypeId};

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
        paths: it
            .paths
            .into_iter()
            .map(|(paths, wait_ns)| CrosstalkPaths {
                waiter: paths.waiter,
                holder: paths.holder,
                wait_ns,
            })
            .collect(),
    }
}

/// Stays that are told in all: more than anybody looks at, and a few megabytes.
const MOST_STAYS: usize = 50_000;

/// How single transactions went, those of one type together, the slowest first; and a note when some are left out. Those that
/// come first in their types come before the second ones while there is room.
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
    let told = |way: &Way| self::way(stitched, way, first_ns);
    (kept.into_iter().map(told).collect(), note)
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
        from_ns: after(it.from_ns),
        to_ns: after(it.to_ns),
    };
    TransactionWay {
        of: stitched.type_name(way.of).to_owned(),
        began_ns: way.began_ns - first_ns,
        wall_ns: way.wall_ns,
        replied: way.replied,
        stays: way.stays.iter().map(stay).collect(),
    }
}
