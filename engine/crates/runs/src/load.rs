//! Loading a causal profile from wherever it is: a coz file, a record stream, a run folder, its manifest.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use fulcrum_causal_records::keep_apart;
use fulcrum_model::ReadError;
use fulcrum_model::causal::Recording;

use crate::{Manifest, RunError, RunFolder, chain, store};

/// A causal recording with where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedCausal {
    /// Everything that was recorded, all processes together; progress points are called `PROGRAM: POINT` where there are
    /// several programs.
    pub recording: Recording,
    /// The manifest of a run, when it can be read.
    pub manifest: Option<Manifest>,
    /// The folder, when it is a run.
    pub folder: Option<PathBuf>,
    /// What to call it: the file's name, or the program and when it ran.
    pub title: String,
}

/// Why nothing was loaded. `Display` is one sentence with what to do next.
#[derive(Debug)]
pub enum LoadError {
    /// The file or folder cannot be read.
    Unreadable(RunError),
    /// It is not a causal profile, or a damaged one.
    Bad(ReadError),
    /// A folder that is not a run.
    NotARun(PathBuf),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Unreadable(error) => error.fmt(f),
            LoadError::Bad(error) => error.fmt(f),
            LoadError::NotARun(path) => write!(
                f,
                "{} is not a run: there is no run.json and no causal-*.jsonl in it; choose a folder in .fulcrum/runs, or a .coz file.",
                path.display()
            ),
        }
    }
}

impl std::error::Error for LoadError {}

/// Loads a `.coz` file, a `causal-*.jsonl`, a run folder or its `run.json`.
pub fn load_causal(path: &Path) -> Result<LoadedCausal, LoadError> {
    let path = &std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    if path.is_dir() {
        return load_folder(path);
    }
    let base = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let parent = path.parent().filter(|folder| store::is_run(folder));
    if let ("run.json", Some(folder)) = (base.as_str(), path.parent()) {
        // Even when the manifest is lost: the data beside it counts.
        if path.exists() || store::is_run(folder) {
            return load_folder(folder);
        }
    }
    let bytes = fs::read(path)
        .map_err(RunError::at("read", path))
        .map_err(LoadError::Unreadable)?;
    let mut recording =
        fulcrum_causal_records::read(&bytes, &path.to_string_lossy()).map_err(LoadError::Bad)?;
    keep_apart(&mut recording);
    let ours = base.starts_with("causal-") && base.ends_with(".jsonl");
    let folder = parent.filter(|_| ours).map(Path::to_path_buf);
    let manifest = folder
        .as_ref()
        .and_then(|f| RunFolder::open(f).ok())
        .and_then(|f| f.read_manifest().ok());
    Ok(LoadedCausal {
        recording,
        manifest,
        folder,
        title: base,
    })
}

impl LoadedCausal {
    /// What one program of the run recorded, its progress points called as it calls them. `Err` is one sentence.
    pub fn of_program(mut self, name: &str) -> Result<LoadedCausal, String> {
        match fulcrum_causal_records::of_program(&self.recording, name) {
            Ok(recording) => {
                self.recording = recording;
                self.title = format!("{name} of {}", self.title);
                Ok(self)
            }
            Err(names) if names.is_empty() => Err(format!(
                "{} does not say which programs its experiments were made in",
                self.title
            )),
            Err(names) => Err(format!(
                "{} has no experiments in a program {name:?}; choose one of {}",
                self.title,
                names.join(", ")
            )),
        }
    }
}

/// What a run that is going on says about itself, without its recording.
pub fn describe(path: &Path) -> Result<LoadedCausal, LoadError> {
    let folder = RunFolder::open(path).map_err(|_| LoadError::NotARun(path.to_path_buf()))?;
    let manifest = folder.read_manifest().ok();
    Ok(LoadedCausal {
        recording: Recording::default(),
        title: title(manifest.as_ref(), path),
        manifest,
        folder: Some(folder.path().to_path_buf()),
    })
}

fn load_folder(path: &Path) -> Result<LoadedCausal, LoadError> {
    let Ok(folder) = RunFolder::open(path) else {
        return Err(LoadError::NotARun(path.to_path_buf()));
    };
    let mut notes = Vec::new();
    let manifest = match folder.read_manifest() {
        Ok(manifest) => Some(manifest),
        Err(error) => {
            notes.push(format!(
                "The run's description is missing or broken, so its data was read without it: {error}"
            ));
            None
        }
    };
    let mut all = Recording::default();
    let mut merge = Merge::default();
    let parts = chain::parts(path, manifest.as_ref());
    let files = parts.files;
    notes.extend(parts.notes);
    // The recorder knows why and says so in its notes, unless it was killed.
    if files.is_empty() && manifest.as_ref().is_none_or(|it| it.notes.is_empty()) {
        notes.push("The run holds no recording: no process of it wrote one, and the recorder did not say why.".into());
    }
    for file in &files {
        let base = file.file_name().unwrap_or_default().to_string_lossy();
        let read = fs::read(file)
            .map_err(|e| RunError::at("read", file)(e).to_string())
            .and_then(|bytes| {
                if bytes.trim_ascii().is_empty() {
                    return Err(format!(
                        "{base} is empty: that process ended before its first record."
                    ));
                }
                fulcrum_causal_records::read(&bytes, &file.to_string_lossy())
                    .map_err(|e| e.to_string())
            });
        match read {
            Ok(recording) => merge.add(&mut all, recording, (files.len() > 1).then_some(&base)),
            Err(problem) => notes.push(format!("One process was left out. {problem}")),
        }
    }
    if let Some(manifest) = &manifest {
        notes.extend(manifest.notes.iter().cloned());
    }
    all.notes.splice(0..0, notes);
    keep_apart(&mut all);
    let title = title(manifest.as_ref(), path);
    Ok(LoadedCausal {
        recording: all,
        manifest,
        folder: Some(folder.path().to_path_buf()),
        title,
    })
}

/// Appends the recordings of several processes to one.
#[derive(Default)]
struct Merge {
    /// The position of each target's samples.
    samples: HashMap<fulcrum_model::TargetId, usize>,
}

impl Merge {
    fn add(&mut self, all: &mut Recording, one: Recording, process: Option<&str>) {
        all.experiments.extend(one.experiments);
        for (at, count) in one.samples {
            match self.samples.get(&at) {
                Some(&slot) => all.samples[slot].1 = all.samples[slot].1.saturating_add(count),
                None => {
                    self.samples.insert(at.clone(), all.samples.len());
                    all.samples.push((at, count));
                }
            }
        }
        all.runtime_ns = all.runtime_ns.saturating_add(one.runtime_ns);
        all.streams.extend(one.streams);
        all.shared.extend(one.shared);
        all.shared.sort();
        all.shared.dedup();
        all.period_ns = all.period_ns.or(one.period_ns);
        all.levels.extend(one.levels);
        all.levels.sort_by(f64::total_cmp);
        all.levels.dedup();
        all.notes
            .extend(one.notes.into_iter().map(|note| match process {
                Some(process) => format!("{process}: {note}"),
                None => note,
            }));
    }
}

/// `two-threads, 2026-11-21 13:15`.
fn title(manifest: Option<&Manifest>, folder: &Path) -> String {
    let fallback = || {
        folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let Some(manifest) = manifest else {
        return fallback();
    };
    let program = manifest.command.rsplit('/').next().unwrap_or_default();
    match (program, manifest.start.get(..16)) {
        ("", _) => fallback(),
        (program, Some(start)) => format!("{program}, {}", start.replace('T', " ")),
        (program, None) => program.into(),
    }
}
