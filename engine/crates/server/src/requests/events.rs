//! `fulcrum/events/*`: event traces.

use std::path::PathBuf;
use std::sync::Arc;

use fulcrum_events::query::{Condition, Query};
use fulcrum_events::{Cost, Indexed, Scope};
use fulcrum_model::Progress;
use lsp_server::RequestId;

use super::{Mutating, Traced, navigator};
use crate::dispatch::response;
use crate::events::{OpenTrace, absent, closed, convert, filter, fold_failure, timeline};
use crate::failure::Failure;
use crate::main_loop::{State, Task};
use crate::navigator::{Navigator, Place, Session, Work, places};
use crate::pool::guarded;
use crate::protocol::{
    EventsChildrenParams, EventsClose, EventsCloseParams, EventsColumn, EventsCompare,
    EventsCompareParams, EventsFilter, EventsFilterParams, EventsFound, EventsFrameParams,
    EventsGetChildren, EventsGetFilter, EventsGetFrame, EventsGetQueues, EventsGetTimeline,
    EventsHit, EventsOpen, EventsOpenParams, EventsOpenTree, EventsOrder, EventsPart, EventsPlace,
    EventsQuery, EventsQueryParams, EventsQueues, EventsQueuesParams, EventsRows, EventsSearch,
    EventsSearchParams, EventsStep, EventsTable, EventsTimeline, EventsTimelineParams,
    EventsTreeParams, Method, NavigatorFrameResult,
};
use crate::state::Snapshot;

/// Rows in one answer.
const MOST_ROWS: u32 = 1_000;

/// Hits in one answer.
const MOST_HITS: u32 = 1_000;

/// Rows of a table, requests of a queue, and differences in one answer.
const MOST_TABLE: u32 = 10_000;

/// Reads the log on a thread of its own.
pub(crate) fn open(
    state: &mut State,
    id: RequestId,
    params: EventsOpenParams,
    request: &Progress,
) -> Result<(), Failure> {
    let (run, filter) = (PathBuf::from(params.run), params.filter.map(PathBuf::from));
    let work = navigator::begin(state, &id, params.work_done_token, request);
    work.begin("Opening event trace");
    navigator::thread(move || {
        let opened = guarded(EventsOpen::NAME, || {
            OpenTrace::open(&run, filter.as_deref(), &work)
        });
        work.end();
        let opened = opened.map(|(open, opened)| (Arc::new(open), Box::new(opened)));
        // The loop is gone only when the server is.
        let _ = work.tasks.send(Task::EventsOpened { id, opened });
    })
}

/// Folds on a thread that then does the navigator's commands.
pub(crate) fn tree(
    state: &mut State,
    id: RequestId,
    params: EventsTreeParams,
    request: &Progress,
) -> Result<(), Failure> {
    let open = Arc::clone(
        state
            .traces
            .get(&params.id)
            .ok_or_else(|| closed(params.id))?,
    );
    let folder = state.folders.first().cloned();
    let request = request.within(&open.open);
    let work = navigator::begin(state, &id, params.work_done_token, &request);
    work.begin("Folding events");
    navigator::thread(move || {
        let opened = guarded(EventsOpenTree::NAME, || {
            let session = folded(&open, params.part, &work)?;
            let bases = open.path.parent().map(PathBuf::from);
            Ok(Session::of(
                session,
                bases.into_iter().collect(),
                folder.as_deref(),
            ))
        });
        work.end();
        let (navigator, serve) = Navigator::new();
        let (opened, session) = match opened {
            Ok((session, opened)) => (Ok((navigator, Box::new(opened))), Some(session)),
            Err(failure) => (Err(failure), None),
        };
        let _ = work.tasks.send(Task::NavigatorOpened { id, opened });
        if let Some(session) = session {
            serve(session);
        }
    })
}

fn folded(
    open: &OpenTrace,
    part: EventsPart,
    work: &Work,
) -> Result<fulcrum_profiles::Session, Failure> {
    let Indexed { trace, index } = &open.indexed;
    let of = convert::part(part);
    let tree = open.indexed.fold(&of, &work.progress);
    let tree = tree.map_err(|error| fold_failure(error, part))?;
    let place = match (part.thread, part.node) {
        (None, _) => String::new(),
        (Some(thread), None) => format!(", {}", trace.thread(thread).map_or("?", |it| &it.name)),
        (Some(thread), Some(node)) => {
            let row = open.indexed.row(thread, node, &work.progress);
            row?.map_or_else(String::new, |hit| format!(", {}", hit.row.name(trace)))
        }
    };
    // Tells this part of this log apart, so that its labels are found again.
    let digest = format!(
        "events {} {} {} {} {:?}",
        trace.start_unix_ns,
        trace.pid,
        index.events,
        trace.bytes(),
        part
    );
    let name = format!("{}{place}", open.title);
    Ok(fulcrum_profiles::Session::of_tree(
        tree, name, digest, "wall",
    )?)
}

/// Compares on a thread of its own.
pub(crate) fn compare(
    state: &mut State,
    id: RequestId,
    params: EventsCompareParams,
    request: &Progress,
) -> Result<(), Failure> {
    let of = |id: u32| {
        state
            .traces
            .get(&id)
            .map(Arc::clone)
            .ok_or_else(|| closed(id))
    };
    let (a, b) = (of(params.a)?, of(params.b)?);
    let request = request.within(&a.open).within(&b.open);
    let work = navigator::begin(state, &id, params.work_done_token.clone(), &request);
    work.begin("Comparing event traces");
    navigator::thread(move || {
        let compared = guarded(EventsCompare::NAME, || {
            let progress = work.progress.with_phase("reading events");
            let found = a.compared(params.b, &b, &progress)?;
            let from = usize::try_from(params.from).unwrap_or(usize::MAX);
            let count = params.count.min(MOST_TABLE) as usize;
            Ok(fulcrum_answers::events::comparison(&found, from, count))
        });
        work.end();
        let _ = work.tasks.send(Task::Respond(response(id, compared)));
    })
}

fn page<T>(all: &[T], from: u64, count: u32) -> impl Iterator<Item = &T> {
    let from = usize::try_from(from).unwrap_or(usize::MAX);
    all.iter().skip(from).take(count.min(MOST_TABLE) as usize)
}

fn children(
    open: &OpenTrace,
    params: &EventsChildrenParams,
    progress: &Progress,
) -> Result<EventsRows, Failure> {
    let (thread, node) = (params.thread, params.node);
    let count = params.count.min(MOST_ROWS) as usize;
    let total = open.indexed.count(thread, node, progress)?;
    let total = total.ok_or_else(|| absent(thread, node))?;
    let cost = match params.order.unwrap_or_default() {
        EventsOrder::Time => None,
        EventsOrder::Wall => Some(Cost::Wall),
        EventsOrder::Cpu => Some(Cost::Cpu),
        EventsOrder::SelfWall => Some(Cost::SelfWall),
    };
    let rows = match cost {
        None => {
            let found = open
                .indexed
                .children(thread, node, params.from, count, progress)?;
            let found = found.ok_or_else(|| absent(thread, node))?;
            found.iter().map(|it| convert::row(open, it)).collect()
        }
        Some(cost) => {
            let sorted = open.sorted(thread, node, cost, progress)?;
            page(&sorted, params.from, count as u32)
                .map(|it| convert::row(open, it))
                .collect()
        }
    };
    Ok(EventsRows { rows, total })
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
    let from = params.from.map(|it| (it.thread, it.node));
    let part = convert::part(params.part);
    let found = open
        .indexed
        .search(&condition, &part, from, count, progress)?;
    let hits = found.hits.iter().map(|hit| EventsHit {
        row: convert::row(open, &hit.row),
        above: hit
            .above
            .iter()
            .map(|&(node, position)| EventsStep { node, position })
            .collect(),
        position: hit.row.position,
    });
    Ok(EventsFound {
        hits: hits.collect(),
        next: found
            .next
            .map(|(thread, node)| EventsPlace { thread, node }),
    })
}

/// A text as a regular expression in quotes.
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

fn query(
    open: &OpenTrace,
    params: &EventsQueryParams,
    progress: &Progress,
) -> Result<EventsTable, Failure> {
    let query =
        Query::parse(&params.query).map_err(|error| Failure::user(error.to_string(), None))?;
    let count = params.count.unwrap_or(1_000).min(MOST_TABLE) as usize;
    let mut rows = Vec::new();
    let mut more = false;
    let mut show = |cells: &[fulcrum_events::query::Cell]| {
        if rows.len() == count {
            more = true;
            return std::ops::ControlFlow::Break(());
        }
        rows.push(cells.iter().map(convert::cell).collect());
        std::ops::ControlFlow::Continue(())
    };
    let answered = query.run(&open.indexed.trace, &Scope::default(), progress, &mut show)?;
    let names = query.names().into_iter().zip(query.units());
    Ok(EventsTable {
        columns: names
            .map(|(name, unit)| EventsColumn {
                name,
                unit: unit.into(),
            })
            .collect(),
        rows,
        more: more || answered.more,
        notes: answered.notes,
    })
}

fn frame(
    open: &OpenTrace,
    snapshot: &Snapshot,
    params: &EventsFrameParams,
) -> Result<NavigatorFrameResult, Failure> {
    let trace = &open.indexed.trace;
    let Some(method) = trace.methods.get(&params.method) else {
        return Err(Failure::user(
            format!("the trace has no method {}", params.method),
            None,
        ));
    };
    let mut recorded = Vec::new();
    if let Some(file) = method.source_path() {
        recorded.push(Place {
            file,
            line: u32::try_from(method.line).ok().filter(|line| *line > 0),
            declared: true,
        });
    }
    let bases: Vec<PathBuf> = open.path.parent().map(PathBuf::from).into_iter().collect();
    Ok(places::find(
        snapshot,
        &bases,
        &trace.method_name(params.method),
        &recorded,
    ))
}

fn queues(
    open: &OpenTrace,
    params: &EventsQueuesParams,
    progress: &Progress,
) -> Result<EventsQueues, Failure> {
    let order = params.order.map(convert::order);
    let queue = open.queue([&params.put, &params.take], order, progress)?;
    let requests = page(&queue.requests, params.from, params.count);
    let notes = queue.notes.clone();
    Ok(fulcrum_answers::events::queues(&queue, requests, notes))
}

macro_rules! traced {
    ($($name:ident = $method:ident ($params:ident) -> $result:ident: $run:expr;)*) => {
        $(
            pub(crate) enum $name {}

            impl Traced for $name {
                type Method = $method;

                fn trace(params: &$params) -> u32 {
                    params.id
                }

                fn run(
                    open: &OpenTrace,
                    snapshot: &Snapshot,
                    params: $params,
                    progress: &Progress,
                ) -> Result<$result, Failure> {
                    $run(open, snapshot, &params, progress)
                }
            }
        )*
    };
}

traced! {
    Children = EventsGetChildren (EventsChildrenParams) -> EventsRows: |open, _, params, progress| children(open, params, progress);
    Timeline = EventsGetTimeline (EventsTimelineParams) -> EventsTimeline:
        |open, _, params, progress| timeline::timeline(open, params, progress);
    Search = EventsSearch (EventsSearchParams) -> EventsFound: |open, _, params, progress| search(open, params, progress);
    Table = EventsQuery (EventsQueryParams) -> EventsTable: |open, _, params, progress| query(open, params, progress);
    Frame = EventsGetFrame (EventsFrameParams) -> NavigatorFrameResult:
        |open, snapshot, params, _| frame(open, snapshot, params);
    Queues = EventsGetQueues (EventsQueuesParams) -> EventsQueues: |open, _, params, progress| queues(open, params, progress);
    Filter = EventsGetFilter (EventsFilterParams) -> EventsFilter:
        |open, _, params, progress| filter::filter(open, params, progress);
}

pub(crate) enum Close {}

impl Mutating for Close {
    type Method = EventsClose;

    fn run(state: &mut State, params: EventsCloseParams) -> Result<(), Failure> {
        match state.traces.remove(&params.id) {
            Some(trace) => {
                trace.open.cancel();
                Ok(())
            }
            None => Err(closed(params.id)),
        }
    }
}
