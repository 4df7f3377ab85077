//! Several programs in one recording, as with `make`, a shell or a server's helpers. A progress point of one of them is called
//! `PROGRAM: POINT`, so that the counts of two programs are never added up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fulcrum_model::causal::Recording;

/// Between a program's name and that of its progress point.
const BETWEEN: &str = ": ";
/// What Linux appends to the path of a program whose file is gone.
const DELETED: &str = " (deleted)";

/// Names programs by their files without the folders, where that is unambiguous, and progress points after their programs, where
/// several have experiments. Call it once, when the recording is complete.
pub fn keep_apart(recording: &mut Recording) {
    let names = names(recording);
    let several = recording.programs().len() > 1;
    let renamed = |program: &Option<Arc<str>>| {
        let path = program.as_ref()?;
        names.get(path).map(Arc::clone)
    };
    for experiment in &mut recording.experiments {
        experiment.program = renamed(&experiment.program);
        if let Some(program) = experiment.program.as_ref().filter(|_| several) {
            for point in &mut experiment.points {
                point.name = format!("{program}{BETWEEN}{}", point.name);
            }
        }
    }
    for stream in &mut recording.streams {
        stream.program = renamed(&stream.program);
        if let Some(program) = stream.program.as_ref().filter(|_| several) {
            for point in &mut stream.points {
                *point = format!("{program}{BETWEEN}{point}");
            }
        }
    }
}

/// What to call each program, by the path that its records name.
fn names(recording: &Recording) -> BTreeMap<Arc<str>, Arc<str>> {
    let streams = recording.streams.iter().map(|it| &it.program);
    let experiments = recording.experiments.iter().map(|it| &it.program);
    let paths: BTreeSet<&Arc<str>> = streams.chain(experiments).flatten().collect();
    let mut alike: BTreeMap<&str, usize> = BTreeMap::new();
    for path in &paths {
        *alike.entry(base(path)).or_default() += 1;
    }
    let name = |path: &&Arc<str>| {
        let base = base(path);
        let short = alike.get(base) == Some(&1);
        let name = if short { base } else { kept(path) };
        (Arc::clone(path), name.into())
    };
    paths.iter().map(name).collect()
}

fn kept(path: &str) -> &str {
    path.strip_suffix(DELETED).unwrap_or(path)
}

fn base(path: &str) -> &str {
    let path = kept(path);
    path.rsplit('/').next().unwrap_or(path)
}

/// What one program recorded, with its own names of progress points. `Err` lists the programs that there are.
pub fn of_program(recording: &Recording, name: &str) -> Result<Recording, Vec<String>> {
    let programs = recording.programs();
    if !programs.iter().any(|it| it.as_deref() == Some(name)) {
        return Err(programs
            .into_iter()
            .flatten()
            .map(|it| it.to_string())
            .collect());
    }
    let mut own = recording.of_program(Some(name));
    own.notes.clone_from(&recording.notes);
    let prefix = format!("{name}{BETWEEN}");
    let strip = |point: &mut String| {
        if let Some(rest) = point.strip_prefix(&prefix) {
            *point = rest.to_owned();
        }
    };
    for experiment in &mut own.experiments {
        experiment
            .points
            .iter_mut()
            .for_each(|it| strip(&mut it.name));
    }
    for stream in &mut own.streams {
        stream.points.iter_mut().for_each(strip);
    }
    Ok(own)
}
