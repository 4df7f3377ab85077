//! `fulcrum/events/frame`: where a method of a trace is.

use std::path::PathBuf;

use fulcrum_events::Method;
use fulcrum_model::Progress;

use crate::events::OpenTrace;
use crate::failure::Failure;
use crate::navigator::{Place, places};
use crate::protocol::{EventsFrameParams, EventsGetFrame, NavigatorFrameResult};
use crate::requests::Traced;
use crate::snapshot::Snapshot;

pub(crate) enum Frame {}

impl Traced for Frame {
    type Method = EventsGetFrame;

    fn trace(params: &EventsFrameParams) -> u32 {
        params.id
    }

    fn run(
        open: &OpenTrace,
        snapshot: &Snapshot,
        params: EventsFrameParams,
        _: &Progress,
    ) -> Result<NavigatorFrameResult, Failure> {
        frame(open, snapshot, &params)
    }
}

/// Where a log says that a method is. `None` when it does not.
pub(crate) fn place_of(method: &Method) -> Option<Place> {
    Some(Place {
        file: method.source_path()?,
        line: u32::try_from(method.line).ok().filter(|line| *line > 0),
        declared: true,
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
    let recorded: Vec<Place> = place_of(method).into_iter().collect();
    let bases: Vec<PathBuf> = open.path.parent().map(PathBuf::from).into_iter().collect();
    Ok(places::find(
        snapshot,
        &bases,
        &trace.method_name(params.method),
        &recorded,
    ))
}
