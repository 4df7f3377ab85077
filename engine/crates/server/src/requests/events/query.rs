//! `fulcrum/events/query`: a table from the query language.

use fulcrum_events::TraceRange;
use fulcrum_events::query::Query;
use fulcrum_model::Progress;

use super::page::MOST_TABLE;
use crate::events::{OpenTrace, convert};
use crate::protocol::failure::Failure;
use crate::protocol::{EventsColumn, EventsQuery, EventsQueryParams, EventsTable, TraceId};
use crate::requests::TraceReading;
use crate::snapshot::Snapshot;

pub(crate) enum Table {}

impl TraceReading for Table {
    type Method = EventsQuery;

    fn trace(params: &EventsQueryParams) -> TraceId {
        params.id
    }

    fn run(
        open: &OpenTrace,
        _: &Snapshot,
        params: EventsQueryParams,
        progress: &Progress,
    ) -> Result<EventsTable, Failure> {
        query(open, &params, progress)
    }
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
    let answered = query.run(
        &open.indexed.trace,
        &TraceRange::default(),
        progress,
        &mut show,
    )?;
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
