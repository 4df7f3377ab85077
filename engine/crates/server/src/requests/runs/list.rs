//! `fulcrum/runs/list`: the runs recorded in a workspace.

use std::path::Path;

use crate::protocol::failure::Failure;
use crate::protocol::{RunsList, RunsListParams, RunsListResult};
use crate::requests::Pooled;
use crate::snapshot::Snapshot;

pub(crate) enum List {}

impl Pooled for List {
    type Method = RunsList;

    fn run(_: &Snapshot, params: RunsListParams) -> Result<RunsListResult, Failure> {
        let runs = fulcrum_runs::list(Path::new(&params.workspace));
        Ok(RunsListResult {
            runs: runs.into_iter().map(fulcrum_answers::runs::entry).collect(),
        })
    }
}
