//! Applies a rule to a trace that was recorded without it: passes the events through the agent's meters.

use std::collections::BTreeMap;

use fulcrum_hotspot::{Calls, ProbeCost, Rule, Table};

use super::Sum;
use crate::reader::event::What;
use crate::reader::open::Trace;

/// The sums of the called methods, by number.
pub(crate) fn replay(trace: &Trace, rule: &Rule) -> BTreeMap<u32, Sum> {
    let probes = ProbeCost {
        inside_ns: trace.costs.inside_ns,
        outside_ns: trace.costs.outside_ns,
    };
    let most = trace.methods.keys().next_back().map_or(0, |it| *it);
    let table = Table::new(rule.clone(), probes, most as usize + 1);
    for thread in &trace.threads {
        let mut calls = Calls::default();
        // The thread's allocation, its time waiting for monitors, and the beginning of the current wait.
        let (mut bytes, mut contended, mut since) = (0.0, 0.0, None);
        for event in trace.thread_events(thread.id) {
            let wall = event.wall_ns as f64;
            let cpu = event.cpu_ns.unwrap_or(0) as f64;
            match event.what {
                What::Allocation { bytes: more, .. } => bytes += more as f64,
                What::ContendedEnter { .. } => since = Some(wall),
                What::ContendedEntered { .. } => {
                    contended += since.take().map_or(0.0, |since| wall - since);
                }
                What::Enter { method } => {
                    calls.enter(&table, method, &[wall, cpu, bytes, contended]);
                }
                What::Exit { method, .. } => {
                    calls.exit(&table, method, &[wall, cpu, bytes, contended]);
                }
                _ => {}
            }
        }
    }
    let called = trace.methods.keys().filter_map(|method| {
        let sums = table.sums(*method);
        let sum = Sum {
            metered: sums.executions,
            fired: sums.executions,
            cost: sums.cost,
        };
        (sums.executions > 0).then_some((*method, sum))
    });
    called.collect()
}
