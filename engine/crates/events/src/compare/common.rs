//! What two traces can be compared by.

use std::collections::HashSet;

use crate::open::{Method, Trace};
use crate::selection::Selection;

/// What of A and of B is compared, and why that is not all: a call that only one of two filters observes, or of which one
/// trace has the first thousand, is no change of the program.
pub fn common(a: &Trace, b: &Trace) -> ([Option<Selection>; 2], Vec<String>) {
    let mut notes = Vec::new();
    let traces = [a, b];
    let mut seen = traces.map(|it| {
        let known = it.selection().cloned();
        known.unwrap_or_else(|| Selection::all(it))
    });
    let whole = seen.clone();
    if let (Some(of_a), Some(of_b)) = (&a.observed, &b.observed)
        && of_a != of_b
    {
        seen[0].narrow(a, of_b);
        seen[1].narrow(b, of_a);
        let left_out = |side: usize| whole[side].methods() - seen[side].methods();
        let waiting = [of_a, of_b].map(|it| it.contention);
        let mut what = Vec::new();
        for (side, name) in ["A", "B"].into_iter().enumerate() {
            match left_out(side) {
                0 => {}
                1 => what.push(format!("1 method of {name}")),
                n => what.push(format!("{n} methods of {name}")),
            }
            if waiting[side] && !waiting[1 - side] && whole[side].contention() {
                what.push(format!("{name}'s waiting for monitors"));
            }
        }
        if !what.is_empty() {
            notes.push(format!(
                "The traces were recorded with different filters, so what both observe is compared. Left out: {}.",
                what.join(", ")
            ));
        }
        if of_a.depth != of_b.depth {
            notes.push("The traces were recorded with different maximum_depth.".into());
        }
    }
    let key = |method: &Method| {
        let Method {
            class,
            name,
            descriptor,
            ..
        } = method.clone();
        (class, name, descriptor)
    };
    let shut: HashSet<_> = traces
        .iter()
        .flat_map(|it| {
            let shut = it.counts.iter().filter(|(_, counts)| counts.off);
            shut.filter_map(|(id, _)| it.methods.get(id).map(key))
        })
        .collect();
    let before = seen.each_ref().map(Selection::methods);
    for (seen, trace) in seen.iter_mut().zip(traces) {
        seen.retain_methods(|id| {
            !trace
                .methods
                .get(&id)
                .is_some_and(|it| shut.contains(&key(it)))
        });
    }
    if seen.each_ref().map(Selection::methods) != before {
        let what = match shut.len() {
            1 => "1 method".to_owned(),
            n => format!("{n} methods"),
        };
        notes.push(format!(
            "Left out: {what} whose measuring stopped while a program ran, being no hotspots."
        ));
    }
    // What the dictionary does not name stays, unless something has to go.
    match seen == whole {
        true => (traces.map(|it| it.selection().cloned()), notes),
        false => (seen.map(Some), notes),
    }
}
