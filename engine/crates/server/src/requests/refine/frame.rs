//! `fulcrum/refine/frame`: where a hotspot is in the workspace.

use std::path::Path;

use fulcrum_events::refine::{MethodName, method_of_name};
use fulcrum_events::{Trace, logs};

use crate::navigator::{Place, places};
use crate::protocol::failure::Failure;
use crate::protocol::{NavigatorFrameResult, RefineFrameParams, RefineGetFrame};
use crate::requests::Pooled;
use crate::snapshot::Snapshot;

pub(crate) enum Frame {}

impl Pooled for Frame {
    type Method = RefineGetFrame;

    /// Where the run's logs say it is, else where the workspace defines it.
    fn run(
        snapshot: &Snapshot,
        params: RefineFrameParams,
    ) -> Result<NavigatorFrameResult, Failure> {
        let run = Path::new(&params.run);
        let name = match method_of_name(&params.method) {
            Some(it) => format!("{}.{}", it.class, it.name),
            // A native function.
            None => params.method.clone(),
        };
        let recorded: Vec<Place> = recorded(run, &params.method).into_iter().collect();
        Ok(places::find(snapshot, &[run.into()], &name, &recorded))
    }
}

/// The place of a method in the first log that knows it. Logs that cannot be read are left out.
fn recorded(run: &Path, method: &str) -> Option<Place> {
    logs(run).iter().find_map(|log| {
        let trace = Trace::open(log).ok()?;
        let methods = trace.methods.values();
        let mut matching = methods.filter(|it| MethodName::from(*it).to_string() == method);
        Place::of_method(matching.next()?)
    })
}
