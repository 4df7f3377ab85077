//! `fulcrum/runs/list` and `remove`: the runs recorded in a workspace.

use std::path::Path;

use fulcrum_runs::RunFolder;

use super::Pooled;
use crate::failure::Failure;
use crate::protocol::{RunsList, RunsListParams, RunsListResult, RunsRemove, RunsRemoveParams};
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

pub(crate) enum Remove {}

impl Pooled for Remove {
    type Method = RunsRemove;

    /// Checks all before it deletes any.
    fn run(_: &Snapshot, params: RunsRemoveParams) -> Result<(), Failure> {
        let workspace = Path::new(&params.workspace);
        let runs = params.runs.iter().map(|run| {
            let run = fulcrum_runs::stored(workspace, Path::new(run))?;
            run.check_removable().map(|()| run)
        });
        let runs: Vec<RunFolder> = runs.collect::<Result<_, _>>().map_err(failure)?;
        runs.iter()
            .try_for_each(RunFolder::remove)
            .map_err(|error| Failure::environment(error.to_string(), None))
    }
}

fn failure(error: fulcrum_runs::RunError) -> Failure {
    Failure::user(error.to_string(), None)
}
