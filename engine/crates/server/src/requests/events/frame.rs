//! `fulcrum/events/frame`: where a method of a trace is.

use std::path::PathBuf;

use fulcrum_model::Progress;

use crate::events::OpenTrace;
use crate::navigator::{Place, places};
use crate::protocol::failure::Failure;
use crate::protocol::{EventsFrameParams, EventsGetFrame, NavigatorFrameResult, TraceId};
use crate::requests::TraceReading;
use crate::snapshot::Snapshot;

pub(crate) enum Frame {}

impl TraceReading for Frame {
    type Method = EventsGetFrame;

    fn trace(params: &EventsFrameParams) -> TraceId {
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

fn frame(
    open: &OpenTrace,
    snapshot: &Snapshot,
    params: &EventsFrameParams,
) -> Result<NavigatorFrameResult, Failure> {
    let trace = &open.indexed.trace;
    let Some(method) = trace.methods.get(&params.method.0) else {
        return Err(Failure::user(
            format!("the trace has no method {}", params.method),
            None,
        ));
    };
    let recorded: Vec<Place> = Place::of_method(method).into_iter().collect();
    let bases: Vec<PathBuf> = open.path.parent().map(PathBuf::from).into_iter().collect();
    Ok(places::find(
        snapshot,
        &bases,
        &trace.method_name(params.method.0),
        &recorded,
    ))
}
