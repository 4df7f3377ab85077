//! `fulcrum/runs/remove`: deletes runs of a workspace's store.

use std::path::Path;

use fulcrum_runs::RunFolder;

use crate::protocol::failure::Failure;
use crate::protocol::{RunsRemove, RunsRemoveParams};
use crate::requests::Pooled;
use crate::snapshot::Snapshot;

pub(crate) enum Remove {}

impl Pooled for Remove {
    type Method = RunsRemove;

    /// Checks all of them before it deletes the first.
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
