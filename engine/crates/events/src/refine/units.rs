//! The duration of a unit of work: a call of one method, once the program is warm.

use crate::reader::open::Trace;
use crate::tree::stack::{Node, Outcome, Stack};

/// The units of work of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Units {
    /// The number of all units.
    pub count: u64,
    /// The mean wall time of the warm units, in nanoseconds.
    pub wall_ns: f64,
    /// Their mean CPU time, in nanoseconds. `None` if the log does not have it.
    pub cpu_ns: Option<f64>,
}

/// The outermost calls of a method, `Class.method`. The first half of each thread's calls is warm-up and does not count for the means,
/// because byte code is interpreted, then compiled, and gates are open. `None` if there is no such call.
pub fn units(trace: &Trace, method: &str) -> Option<Units> {
    let named = trace
        .methods
        .iter()
        .filter(|(_, it)| is_named(&it.class, &it.name, method));
    let wanted: Vec<u32> = named.map(|(id, _)| *id).collect();
    if wanted.is_empty() {
        return None;
    }
    let (mut count, mut warm) = (0, Vec::new());
    for thread in &trace.threads {
        let mut of_thread = Vec::new();
        let mut inside = 0;
        let mut stack = Stack::new(trace.costs);
        let mut ended = |outcome: Outcome, inside: &mut u64| {
            if let Node::Call { method } = outcome.node
                && wanted.contains(&method)
            {
                *inside -= 1;
                if *inside == 0 {
                    of_thread.push(outcome.times);
                }
            }
        };
        for event in trace.thread_events(thread.id) {
            let begun = stack.event(&event, |it| ended(it, &mut inside));
            if begun.is_some() && event.what.method().is_some_and(|it| wanted.contains(&it)) {
                inside += 1;
            }
        }
        // A call that is cut by the end of the log is not a unit.
        count += of_thread.len();
        warm.extend_from_slice(&of_thread[of_thread.len() / 2..]);
    }
    let number = warm.len() as f64;
    let sum = |of: &dyn Fn(&crate::Times) -> f64| warm.iter().map(of).sum::<f64>() / number;
    (count > 0).then(|| Units {
        count: count as u64,
        wall_ns: sum(&|it| it.wall_ns as f64),
        cpu_ns: warm
            .iter()
            .all(|it| it.cpu_ns.is_some())
            .then(|| sum(&|it| it.cpu_ns.unwrap_or(0) as f64)),
    })
}

/// Whether a method has the name `Class.method`, with or without a descriptor after it.
fn is_named(class: &str, name: &str, wanted: &str) -> bool {
    let wanted = wanted.split('(').next().unwrap_or(wanted);
    wanted
        .strip_prefix(class)
        .and_then(|it| it.strip_prefix('.'))
        == Some(name)
}
