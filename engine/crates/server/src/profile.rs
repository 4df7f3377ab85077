//! The open profile: what was concluded, and the files that it points into.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fulcrum_model::causal::{PointProfile, Profile, Target};

use crate::documents::Documents;
use crate::facts::{file_names, hottest, how_it_ended, missing_files, visited_nothing};
use crate::failure::Failure;
use crate::sources::{Placed, SourceFile, Sources};

/// A profile that is open. Immutable, so that requests on any thread can read it.
#[derive(Debug)]
pub struct OpenCausalProfile {
    /// The path that was opened, absolute.
    pub path: PathBuf,
    /// For a title bar.
    pub title: String,
    /// The analysis.
    pub profile: Arc<Profile>,
    /// The files that results (or, without results, samples) point into.
    pub sources: Arc<Sources>,
    /// The run is going on.
    pub live: bool,
    /// Whole sentences for the user.
    pub notes: Vec<String>,
    /// The program ran, but not through any progress point: the line with most samples, if it is known, and its file.
    pub unvisited: Option<Option<(usize, u32)>>,
}

/// One target's result for one document.
pub struct Placement<'a> {
    /// The file it was recorded in.
    pub file: &'a SourceFile,
    /// The result.
    pub target: &'a Target,
    /// Place in the ranking of the whole profile; 1 is best.
    pub rank: u32,
    /// Where the line is now.
    pub placed: Placed,
}

impl OpenCausalProfile {
    /// Loads and analyses. May take seconds: not on the loop.
    pub fn open(
        path: &Path,
        folders: &[PathBuf],
        documents: &Documents,
    ) -> Result<OpenCausalProfile, Failure> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let loaded = fulcrum_runs::load_causal(&path)?;
        let profile =
            fulcrum_causal::analyse(&loaded.recording, &fulcrum_causal::Options::default());
        let names = file_names(&profile, &loaded);
        let sources = Sources::find(names, &path, &loaded, folders, documents);
        let mut notes = profile.notes.clone();
        notes.extend(how_it_ended(&loaded));
        notes.extend(missing_files(&sources));
        let unvisited =
            visited_nothing(&loaded).then(|| hottest(&loaded.recording, &sources.files));
        Ok(OpenCausalProfile {
            path,
            title: loaded.title,
            profile: Arc::new(profile),
            sources: Arc::new(sources),
            live: false,
            notes,
            unvisited,
        })
    }

    /// What a run that is going on has found so far. Files are looked for only when others are named than in `before`.
    pub fn live(
        run: &Path,
        profile: Arc<Profile>,
        before: Option<&OpenCausalProfile>,
        folders: &[PathBuf],
        documents: &Documents,
    ) -> Result<OpenCausalProfile, Failure> {
        let path = std::path::absolute(run).unwrap_or_else(|_| run.to_path_buf());
        let loaded = fulcrum_runs::describe(&path)?;
        let names = file_names(&profile, &loaded);
        let sources = match before {
            Some(before) if before.sources.are(&names) => Arc::clone(&before.sources),
            _ => Arc::new(Sources::find(names, &path, &loaded, folders, documents)),
        };
        Ok(OpenCausalProfile {
            notes: missing_files(&sources),
            path,
            title: loaded.title,
            profile,
            sources,
            live: true,
            unvisited: None,
        })
    }

    /// Whether there is anything to show.
    pub fn has_results(&self) -> bool {
        self.profile
            .progress_points
            .iter()
            .any(|point| !point.targets.is_empty())
    }

    /// The named progress point, else the first.
    pub fn point(&self, name: Option<&str>) -> Option<&PointProfile> {
        let points = &self.profile.progress_points;
        points
            .iter()
            .find(|point| Some(point.name.as_str()) == name)
            .or(points.first())
    }

    /// The results of one progress point for the document at `path` with this text, by line, then rank.
    pub fn placements<'a>(
        &'a self,
        point: &'a PointProfile,
        path: &Path,
        text: &str,
    ) -> Vec<Placement<'a>> {
        let files = self.sources.files_of(path);
        let mut placers = HashMap::new();
        let mut placements: Vec<_> = point
            .targets
            .iter()
            .enumerate()
            .filter_map(|(index, target)| {
                let file = self
                    .sources
                    .file(&target.id.location.file)
                    .filter(|file| files.contains(file))?;
                Some(Placement {
                    file: &self.sources.files[file],
                    target,
                    rank: index as u32 + 1,
                    placed: placers
                        .entry(file)
                        .or_insert_with(|| self.sources.placer(file, Some(text)))
                        .place(target.id.location.line),
                })
            })
            .collect();
        placements.sort_by_key(|p| (p.placed.line, p.rank));
        placements
    }
}
