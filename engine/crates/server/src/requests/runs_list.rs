//! `fulcrum/runs/list`: the runs recorded in a workspace.

use std::path::Path;

use fulcrum_runs::{Ended, Manifest, RunInfo};

use super::Pooled;
use crate::failure::Failure;
use crate::protocol::{RunEntry, RunsList, RunsListParams, RunsListResult};
use crate::state::Snapshot;

pub(crate) enum RunsListRequest {}

impl Pooled for RunsListRequest {
    type Method = RunsList;

    fn run(_: &Snapshot, params: RunsListParams) -> Result<RunsListResult, Failure> {
        let runs = fulcrum_runs::list(Path::new(&params.workspace));
        Ok(RunsListResult {
            runs: runs.into_iter().map(entry).collect(),
        })
    }
}

fn entry(run: RunInfo) -> RunEntry {
    let ended = run
        .manifest
        .as_ref()
        .map_or(Ended::Lost, |manifest| manifest.ended);
    // `20261121T131500Z-name`.
    let name = match run.name.split_once('-') {
        Some((time, name)) if time.len() == 16 && time.ends_with('Z') => name.to_owned(),
        _ => run.name,
    };
    RunEntry {
        path: run.path.to_string_lossy().into_owned(),
        name,
        start: run.start,
        command: run.manifest.as_ref().map_or_else(String::new, command),
        ended: match ended {
            Ended::Running => "running",
            Ended::Exited => "exited",
            Ended::Signalled => "signalled",
            Ended::Stopped => "stopped",
            Ended::Lost => "lost",
        }
        .into(),
    }
}

fn command(manifest: &Manifest) -> String {
    std::iter::once(&manifest.command)
        .chain(&manifest.arguments)
        .map(
            |word| match word.is_empty() || word.contains(char::is_whitespace) {
                true => format!("'{word}'"),
                false => word.clone(),
            },
        )
        .collect::<Vec<_>>()
        .join(" ")
}
