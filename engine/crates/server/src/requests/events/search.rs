//! `fulcrum/events/search`: rows that match a text or an expression.

use fulcrum_events::query::Condition;
use fulcrum_model::Progress;

use crate::events::{OpenTrace, convert};
use crate::protocol::failure::Failure;
use crate::protocol::{
    EventsFound, EventsHit, EventsPlace, EventsSearch, EventsSearchParams, EventsStep, NodeId,
    ThreadId, TraceId,
};
use crate::requests::TraceReading;
use crate::snapshot::Snapshot;

/// Hits in one answer.
const MOST_HITS: u32 = 1_000;

pub(crate) enum Search {}

impl TraceReading for Search {
    type Method = EventsSearch;

    fn trace(params: &EventsSearchParams) -> TraceId {
        params.id
    }

    fn run(
        open: &OpenTrace,
        _: &Snapshot,
        params: EventsSearchParams,
        progress: &Progress,
    ) -> Result<EventsFound, Failure> {
        search(open, &params, progress)
    }
}

fn search(
    open: &OpenTrace,
    params: &EventsSearchParams,
    progress: &Progress,
) -> Result<EventsFound, Failure> {
    let expression = match (&params.text, &params.expression) {
        (Some(text), None) => format!("what ~ \"(?i){}\"", escaped(text)),
        (None, Some(expression)) => expression.clone(),
        _ => {
            return Err(Failure::user(
                "expected either a text or an expression",
                None,
            ));
        }
    };
    let condition =
        Condition::parse(&expression).map_err(|error| Failure::user(error.to_string(), None))?;
    let count = params.count.unwrap_or(100).clamp(1, MOST_HITS) as usize;
    let from = params.from.map(|it| (it.thread.0, it.node.0));
    let part = convert::part(params.part);
    let found = open
        .indexed
        .search(&condition, &part, from, count, progress)?;
    let hits = found.hits.iter().map(|hit| EventsHit {
        row: convert::row(open, &hit.row),
        above: hit
            .above
            .iter()
            .map(|&(node, position)| EventsStep {
                node: NodeId(node),
                position,
            })
            .collect(),
        position: hit.row.position,
    });
    Ok(EventsFound {
        hits: hits.collect(),
        next: found.next.map(|(thread, node)| EventsPlace {
            thread: ThreadId(thread),
            node: NodeId(node),
        }),
    })
}

/// A text as a regular expression within quotes.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\x22"),
            _ if c.is_ascii_punctuation() => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}
