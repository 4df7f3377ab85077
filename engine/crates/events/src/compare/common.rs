//! The common part of two traces, which can be compared.

use std::collections::HashSet;

use crate::reader::dictionary::Method;
use crate::reader::open::Trace;
use crate::reader::selection::Selection;

/// The selections of A and B to compare, and notes about what is left out: a call that only one of two filters observes, or of which one
/// trace has the first thousand only, is not a change of the program.
pub(crate) fn common(a: &Trace, b: &Trace) -> ([Option<Selection>; 2], Vec<String>) {
    let traces = [a, b];
    let whole = traces.map(|it| match it.selection() {
        Some(selection) => selection.clone(),
        None => Selection::all(&it.methods, &it.classes),
    });
    let mut seen = whole.clone();
    let mut notes = Vec::new();
    if let (Some(of_a), Some(of_b)) = (&a.observed, &b.observed)
        && of_a != of_b
    {
        seen[0].narrow(&a.methods, &a.classes, of_b);
        seen[1].narrow(&b.methods, &b.classes, of_a);
        let what = left_out(&whole, &seen);
        if !what.is_empty() {
            notes.push(format!(
                "The traces were recorded with different filters, so what both observe is compared. Left out: {}.",
                what.join(", ")
            ));
        }
        if of_a.depth != of_b.depth {
            let depths = "The traces were recorded with different values of maximum_depth, so deep calls may be in only one of them.";
            notes.push(depths.into());
        }
    }
    let shut: HashSet<_> = traces.into_iter().flat_map(shut).collect();
    let before = seen.clone();
    for (seen, trace) in seen.iter_mut().zip(traces) {
        let is_shut = |id| {
            trace
                .methods
                .get(&id)
                .map(key)
                .is_some_and(|it| shut.contains(&it))
        };
        seen.retain_methods(|id| !is_shut(id));
    }
    let what = left_out(&before, &seen);
    if !what.is_empty() {
        notes.push(format!(
            "Methods that stopped being measured during a run, because they were not hotspots, are left out: {}.",
            what.join(", ")
        ));
    }
    // Events that the dictionary does not name are only hidden if something else is.
    match seen == whole {
        true => (traces.map(|it| it.selection().cloned()), notes),
        false => (seen.map(Some), notes),
    }
}

/// The identity of a method across logs. Numbers differ between logs.
fn key(method: &Method) -> (&str, &str, &str) {
    (&method.class, &method.name, &method.descriptor)
}

/// The methods whose gates were shut at the end.
fn shut(trace: &Trace) -> impl Iterator<Item = (&str, &str, &str)> {
    let shut = trace.counts.iter().filter(|(_, counts)| counts.off);
    shut.filter_map(|(id, _)| trace.methods.get(id).map(key))
}

/// Describes what was left out of A and B.
fn left_out(before: &[Selection; 2], after: &[Selection; 2]) -> Vec<String> {
    let mut what = Vec::new();
    for ((before, after), name) in before.iter().zip(after).zip(["A", "B"]) {
        match before.methods() - after.methods() {
            0 => {}
            1 => what.push(format!("1 method of {name}")),
            n => what.push(format!("{n} methods of {name}")),
        }
        if before.contention() && !after.contention() {
            what.push(format!("{name}'s waiting for monitors"));
        }
    }
    what
}
