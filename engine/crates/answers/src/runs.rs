//! The run store.

use std::path::Path;

use fulcrum_runs::{Ended, Manifest, RunFolder, RunInfo};
use fulcrum_schema::{RunEnded, RunEntry, RunIteration, RunKind};
use serde_json::Value;

/// A run of the store.
pub fn entry(run: RunInfo) -> RunEntry {
    let kind = kind(&run);
    let bytes = RunFolder::open(&run.path)
        .ok()
        .and_then(|folder| folder.size());
    let name = run.subject().to_owned();
    let known = run.manifest.is_some();
    let manifest = run.manifest.unwrap_or_default();
    RunEntry {
        path: run.path.to_string_lossy().into_owned(),
        folder: run.name,
        name,
        kind,
        start: run.start,
        command: if known {
            command(&manifest)
        } else {
            String::new()
        },
        ended: match manifest.ended {
            Ended::Running => RunEnded::Running,
            Ended::Exited => RunEnded::Exited,
            Ended::Signalled => RunEnded::Signalled,
            Ended::Stopped => RunEnded::Stopped,
            Ended::Lost => RunEnded::Lost,
        },
        exit_code: manifest.exit_code,
        signal: manifest.signal,
        bytes,
        iteration: iteration(&manifest),
        end: manifest.end,
        program: manifest.command,
        arguments: manifest.arguments,
        options: manifest
            .options
            .into_iter()
            .map(|(name, value)| (name, text(value)))
            .collect(),
        git_revision: manifest.git_revision,
        notes: manifest.notes,
    }
}

/// What a run holds: as its manifest says; of a run without one, as its files say.
pub fn kind(run: &RunInfo) -> RunKind {
    let missing = fulcrum_runs::RunKind::Missing;
    match run.manifest.as_ref().map_or(&missing, |it| &it.kind) {
        fulcrum_runs::RunKind::Causal => RunKind::Causal,
        fulcrum_runs::RunKind::Events => RunKind::Events,
        fulcrum_runs::RunKind::Transactions => RunKind::Transactions,
        fulcrum_runs::RunKind::Missing => kind_of_files(&run.path),
        fulcrum_runs::RunKind::Unknown(_) => RunKind::Unknown,
    }
}

fn kind_of_files(run: &Path) -> RunKind {
    if fulcrum_transaction_records::run::is_run(run) {
        RunKind::Transactions
    } else if fulcrum_events::logs(run).is_empty() {
        RunKind::Causal
    } else {
        RunKind::Events
    }
}

/// What the refine loop writes into its runs' options.
fn iteration(manifest: &Manifest) -> Option<RunIteration> {
    let said = |name: &str| manifest.options.get(name)?.as_str();
    Some(RunIteration {
        number: said("iteration")?.parse().ok()?,
        previous: said("previous").map(str::to_owned),
    })
}

fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        value => value.to_string(),
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
