//! `fulcrum runs`: list, show and rm.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::{fs, iter};

use fulcrum_runs::{Ended, Manifest, runs_folder};
use fulcrum_schema::RunsListResult;

use crate::args::{ListArgs, RemoveArgs, RunsShowArgs};
use crate::outcome::{DONE, Failure, NOTHING, Outcome};
use crate::terminal::{self, Cell, Colour, Style, Table};

/// The given folder, or the nearest one from this folder upwards that has runs. The search ends at a folder that all users share,
/// such as `/tmp`, where runs may be another user's.
pub(crate) fn workspace(given: Option<&Path>) -> PathBuf {
    if let Some(given) = given {
        return given.to_owned();
    }
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let above = here.ancestors().skip(1).take_while(|it| !is_shared(it));
    let found = iter::once(here.as_path())
        .chain(above)
        .find(|folder| runs_folder(folder).is_dir());
    found.unwrap_or(&here).to_owned()
}

/// Whether every user may write there, and only owners may delete.
fn is_shared(folder: &Path) -> bool {
    const STICKY_FOR_ALL: u32 = 0o1002;
    fs::metadata(folder).is_ok_and(|it| it.permissions().mode() & STICKY_FOR_ALL == STICKY_FOR_ALL)
}

/// `fulcrum runs list`.
pub(crate) fn list(args: &ListArgs) -> Outcome {
    let workspace = workspace(args.workspace.workspace.as_deref());
    if !workspace.is_dir() {
        let path = workspace.display();
        return Err(Failure::BadInput(format!(
            "{path} is not a folder; give one that exists"
        )));
    }
    let runs = fulcrum_runs::list(&workspace);
    if args.json {
        let entries = runs.iter().cloned().map(fulcrum_answers::runs::entry);
        terminal::answer(&RunsListResult {
            runs: entries.collect(),
        })?;
    } else if runs.is_empty() {
        let path = workspace.display();
        terminal::say(&format!(
            "no runs in {path}; `fulcrum run -- PROGRAM` records one"
        ));
    } else {
        let mut table = Table::default();
        let heads = ["name", "started", "ended", "command"];
        table.row(
            heads
                .map(|head| Cell::left(head).colour(Some(Colour::Dim)))
                .to_vec(),
        );
        for run in &runs {
            let manifest = run.manifest.as_ref();
            table.row(vec![
                Cell::left(&run.name),
                Cell::left(&run.start),
                Cell::left(manifest.map_or("lost".into(), ended)),
                Cell::left(manifest.map(command).unwrap_or_default()),
            ]);
        }
        terminal::print(&table.render(Style::stdout()))?;
    }
    Ok(if runs.is_empty() { NOTHING } else { DONE })
}

/// `fulcrum runs show`.
pub(crate) fn show(args: &RunsShowArgs) -> Outcome {
    let run = find(args.workspace.workspace.as_deref(), args.run.as_deref())?;
    let folder = fulcrum_runs::RunFolder::open(&run).map_err(bad)?;
    let manifest = folder.read_manifest().map_err(bad)?;
    if args.json {
        let text = manifest.to_json();
        terminal::print(&format!("{}\n", text.trim_end()))?;
        return Ok(DONE);
    }
    let mut table = Table::default();
    let mut row = |name: &str, value: String| {
        if !value.is_empty() {
            let name = Cell::left(name).colour(Some(Colour::Dim));
            table.row(vec![name, Cell::left(value)]);
        }
    };
    row("run", run.display().to_string());
    row("command", command(&manifest));
    row("folder", manifest.cwd.clone());
    row("started", manifest.start.clone());
    row(
        "ended",
        [ended(&manifest), manifest.end.clone().unwrap_or_default()]
            .join(" ")
            .trim()
            .into(),
    );
    row("host", manifest.host.clone());
    row("cpu", manifest.cpu.clone());
    row("kernel", manifest.kernel.clone());
    row(
        "revision",
        manifest.git_revision.clone().unwrap_or_default(),
    );
    row(
        "tool",
        format!("{} {}", manifest.tool.name, manifest.tool.version)
            .trim()
            .into(),
    );
    for (name, value) in &manifest.options {
        row(&format!("--{name}"), value.to_string());
    }
    for source in &manifest.sources {
        row("source", source.path.clone());
    }
    for note in &manifest.notes {
        row("note", note.clone());
    }
    terminal::print(&table.render(Style::stdout()))?;
    Ok(DONE)
}

/// `fulcrum runs rm`. Checks all runs before it deletes any.
pub(crate) fn remove(args: &RemoveArgs) -> Outcome {
    let mut folders = Vec::new();
    for name in &args.runs {
        let run = find(args.workspace.workspace.as_deref(), Some(name))?;
        let folder = fulcrum_runs::RunFolder::open(&run).map_err(bad)?;
        folder.check_removable().map_err(bad)?;
        folders.push(folder);
    }
    for folder in folders {
        folder.remove().map_err(bad)?;
        terminal::say(&format!("deleted {}", folder.path().display()));
    }
    Ok(DONE)
}

/// A run by its name in the workspace or by its folder; by default the newest.
fn find(given: Option<&Path>, run: Option<&Path>) -> Result<PathBuf, Failure> {
    let workspace = workspace(given);
    let Some(run) = run else {
        return fulcrum_runs::latest(&workspace)
            .map(|run| run.path)
            .ok_or_else(|| {
                Failure::NotFound(format!("there are no runs in {}", workspace.display()))
            });
    };
    let mut candidates = vec![run.to_owned()];
    // A bare name means a run in the store, even when a folder here has that name.
    if run.components().count() == 1 {
        candidates.insert(0, runs_folder(&workspace).join(run));
    }
    let is_run = |path: &PathBuf| path.join("run.json").is_file() || has_recording(path);
    candidates.into_iter().find(is_run).ok_or_else(|| {
        Failure::BadInput(format!(
            "there is no run {} in {}; `fulcrum runs list` shows them",
            run.display(),
            workspace.display()
        ))
    })
}

fn has_recording(folder: &Path) -> bool {
    let Ok(entries) = folder.read_dir() else {
        return false;
    };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("causal-") && name.ends_with(".jsonl")
    })
}

fn bad(error: fulcrum_runs::RunError) -> Failure {
    Failure::BadInput(error.to_string())
}

fn command(manifest: &Manifest) -> String {
    let mut words = vec![manifest.command.clone()];
    words.extend(manifest.arguments.iter().cloned());
    words.join(" ")
}

fn ended(manifest: &Manifest) -> String {
    match (manifest.ended, manifest.exit_code, manifest.signal) {
        (Ended::Running, ..) => "running".into(),
        (Ended::Exited, Some(code), _) => format!("exit status {code}"),
        (Ended::Exited, ..) => "exited".into(),
        (Ended::Signalled, _, Some(signal)) => format!("signal {signal}"),
        (Ended::Signalled, ..) => "signal".into(),
        (Ended::Stopped, ..) => "stopped".into(),
        (Ended::Lost, ..) => "lost".into(),
    }
}
