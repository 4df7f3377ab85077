//! Suggests methods that may belong to a queue.

use std::collections::HashMap;

use crate::index::Index;
use crate::reader::open::Trace;

/// Pairs of methods of a class whose names suggest a put and a take, by descending number of calls, at most ten.
pub fn suggestions(trace: &Trace, index: &Index) -> Vec<(String, String)> {
    const PUTS: [&str; 10] = [
        "add", "addLast", "put", "offer", "enqueue", "push", "submit", "send", "insert", "execute",
    ];
    const TAKES: [&str; 10] = [
        "get",
        "take",
        "poll",
        "dequeue",
        "pop",
        "remove",
        "receive",
        "next",
        "removeFirst",
        "await",
    ];
    let calls = |id: u32| index.calls.get(id as usize).copied().unwrap_or(0);
    let mut by_class: HashMap<&str, [Option<(u64, &str)>; 2]> = HashMap::new();
    for (id, method) in &trace.methods {
        for (side, names) in [PUTS, TAKES].iter().enumerate() {
            let count = calls(*id);
            if count > 0 && names.contains(&method.name.as_str()) {
                let best = &mut by_class.entry(&method.class).or_default()[side];
                *best = (*best).max(Some((count, &method.name)));
            }
        }
    }
    let pairs = by_class.into_iter().filter_map(|(class, [put, take])| {
        let ((puts, put), (takes, take)) = (put?, take?);
        Some((
            puts.min(takes),
            format!("{class}.{put}"),
            format!("{class}.{take}"),
        ))
    });
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    pairs.truncate(10);
    pairs
        .into_iter()
        .map(|(_, put, take)| (put, take))
        .collect()
}
