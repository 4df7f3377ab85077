//! `fulcrum causal`: show and export.

use std::path::{Path, PathBuf};

use fulcrum_answers::runs::kind;
use fulcrum_causal::{Options, analyse};
use fulcrum_model::causal::CausalProfile;
use fulcrum_schema::RunKind;

use crate::args::{ExportArgs, ExportFormat, ShowArgs};
use crate::outcome::{DONE, Failure, NOTHING, Outcome};
use crate::terminal::{self, Style};
use crate::{report, runs};

/// The number of rows without `--top`.
const TABLE_TOP: usize = 20;

/// `fulcrum causal show`.
pub(crate) fn show(args: &ShowArgs) -> Outcome {
    let path = match &args.path {
        Some(path) => path.clone(),
        None => newest()?,
    };
    let loaded = load(&path, args.program.as_deref())?;
    let options = Options {
        phase_correction: !args.no_phase_correction,
        min_points: args.min_points,
        keep_disturbed: args.keep_disturbed,
        ..Options::default()
    };
    let mut profile = analyse(&loaded.recording, &options);
    if let Some(name) = &args.progress_point {
        only(&mut profile, name, &path)?;
    }
    if args.json {
        let top = args.top.unwrap_or(0);
        let corrected = options.phase_correction;
        let answer = fulcrum_answers::causal::profile(&profile, &loaded.title, corrected, top);
        terminal::answer(&answer)?;
    } else {
        let top = args.top.unwrap_or(TABLE_TOP);
        terminal::print(&report::table(&profile, top, Style::stdout()))?;
    }
    let found = profile
        .progress_points
        .iter()
        .any(|point| !point.targets.is_empty());
    Ok(if found { DONE } else { NOTHING })
}

fn newest() -> Result<PathBuf, Failure> {
    let workspace = runs::workspace(None);
    let all = fulcrum_runs::list(&workspace);
    let causal = all.into_iter().find(|run| kind(run) == RunKind::Causal);
    let run = causal.ok_or_else(|| {
        Failure::NotFound(format!(
            "there are no causal profiles in {}; give one, or record one with `fulcrum run`",
            workspace.display()
        ))
    })?;
    Ok(run.path)
}

fn only(profile: &mut CausalProfile, name: &str, path: &Path) -> Result<(), Failure> {
    let names: Vec<String> = profile
        .progress_points
        .iter()
        .map(|p| p.name.clone())
        .collect();
    profile.progress_points.retain(|point| point.name == name);
    if profile.progress_points.is_empty() {
        let there = match names.as_slice() {
            [] => "the profile has none".to_owned(),
            names => format!("choose one of {}", names.join(", ")),
        };
        return Err(Failure::NotFound(format!(
            "{} has no progress point {name:?}; {there}",
            path.display()
        )));
    }
    Ok(())
}

/// Reads a causal recording: all of it, or the part of one `program`.
pub(crate) fn load(
    path: &Path,
    program: Option<&str>,
) -> Result<fulcrum_runs::LoadedCausal, Failure> {
    let loaded =
        fulcrum_runs::load_causal(path).map_err(|error| Failure::BadInput(error.to_string()))?;
    match program {
        Some(name) => loaded.of_program(name).map_err(Failure::NotFound),
        None => Ok(loaded),
    }
}

/// `fulcrum causal export`.
pub(crate) fn export(args: &ExportArgs) -> Outcome {
    let recording = load(&args.path, args.program.as_deref())?.recording;
    let text = match args.format {
        ExportFormat::Coz => fulcrum_causal_records::write_text(&recording),
        ExportFormat::CozJson => fulcrum_causal_records::write_json_lines(&recording),
    };
    match &args.output {
        None => terminal::print(&text)?,
        Some(path) => std::fs::write(path, text).map_err(|error| {
            Failure::BadInput(format!(
                "cannot write {}: {error}; choose another file with -o",
                path.display()
            ))
        })?,
    }
    Ok(DONE)
}
