//! `fulcrum/events/filter`: from what a trace shows to a filter that observes less (JPMT §7).

use std::collections::{BTreeMap, BTreeSet};

use fulcrum_answers::quantity::quantity;
use fulcrum_events::query::{Cell, Query};
use fulcrum_events::refine::{MethodName, filter_text};
use fulcrum_model::Progress;

use crate::events::{OpenTrace, convert, fold_failure};
use crate::protocol::failure::Failure;
use crate::protocol::{EventsFilter, EventsFilterParams, EventsGetFilter, TraceId};
use crate::requests::TraceReading;
use crate::snapshot::Snapshot;

/// JPMT's refinement keeps what has at least this much inherent time.
const SELF_WALL_NS: u64 = 50_000;

pub(crate) enum Filter {}

impl TraceReading for Filter {
    type Method = EventsGetFilter;

    fn trace(params: &EventsFilterParams) -> TraceId {
        params.id
    }

    fn run(
        open: &OpenTrace,
        _: &Snapshot,
        params: EventsFilterParams,
        progress: &Progress,
    ) -> Result<EventsFilter, Failure> {
        filter(open, &params, progress)
    }
}

fn filter(
    open: &OpenTrace,
    params: &EventsFilterParams,
    progress: &Progress,
) -> Result<EventsFilter, Failure> {
    let least = params.self_wall_ns.unwrap_or(SELF_WALL_NS);
    let trace = &open.indexed.trace;
    let part = convert::part(params.part);
    let tree = open.indexed.fold(&part, progress);
    let tree = tree.map_err(|error| fold_failure(error, params.part))?;
    // Calls and own wall time by the names of classes and methods.
    let mut sums: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for (node, frame) in tree.frame_ids().iter().enumerate() {
        let sum = sums
            .entry(&tree.frames()[*frame as usize].name)
            .or_default();
        sum.0 += tree.values(0)[node];
        sum.1 += tree.values(1)[node];
    }
    let mut kept = BTreeSet::new();
    let (mut dropped, mut dropped_calls) = (BTreeSet::new(), 0);
    for method in trace.methods.values() {
        let Some((calls, own)) = sums.get(format!("{}.{}", method.class, method.name).as_str())
        else {
            continue;
        };
        if *calls == 0 {
            continue;
        }
        let name = MethodName {
            class: method.class.clone(),
            name: method.name.clone(),
            // Overloads are not told apart in a tree.
            descriptor: String::new(),
        };
        if own / calls >= i64::try_from(least).unwrap_or(i64::MAX) {
            kept.insert(name);
        } else if dropped.insert(name) {
            dropped_calls += *calls as u64;
        }
    }
    let least = quantity(i64::try_from(least).unwrap_or(i64::MAX), "ns");
    let comment = vec![
        format!("Made from {}.", open.title),
        format!(
            "Methods whose calls take {least} or more of their own time on average; {} others were left out.",
            dropped.len()
        ),
    ];
    let text = filter_text(&observed(open, progress)?, &kept, &comment);
    Ok(EventsFilter {
        text,
        kept: kept.len() as u32,
        dropped: dropped.len() as u32,
        dropped_calls,
    })
}

/// What the trace shows besides methods, as directives.
fn observed(open: &OpenTrace, progress: &Progress) -> Result<String, Failure> {
    let query = Query::parse("kind != call group by kind").expect("it is a query");
    let mut text = String::new();
    let mut add = |cells: &[Cell]| {
        if let Some(Cell::Text(kind)) = cells.first() {
            let directive = match kind.as_str() {
                "contended" | "wait" => "observe_monitor_contention\n",
                "allocation" => "observe_object_allocation\n",
                "gc" => "observe_garbage_collection\n",
                "classLoad" | "classUnload" => "observe_class_loading\n",
                _ => "",
            };
            if !text.contains(directive) {
                text += directive;
            }
        }
        std::ops::ControlFlow::Continue(())
    };
    let scope = fulcrum_events::TraceRange::default();
    query.run(&open.indexed.trace, &scope, progress, &mut add)?;
    Ok(text)
}
