//! The open causal profile: its results, and the files that they point into.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fulcrum_model::causal::{CausalProfile, PointProfile, Target};

use crate::causal::facts::{file_names, hottest, how_it_ended, missing_files, visited_nothing};
use crate::causal::sources::{Placed, RecordedLine, SourceFile, Sources};
use crate::documents::Documents;
use crate::protocol::failure::Failure;

/// A profile that is open. Immutable, so that requests on any thread can read it.
#[derive(Debug)]
pub(crate) struct OpenCausalProfile {
    /// The path that was opened, absolute.
    pub path: PathBuf,
    /// For a title bar.
    pub title: String,
    /// The analysis.
    pub profile: Arc<CausalProfile>,
    /// The files that results (or, without results, samples) point into.
    pub sources: Arc<Sources>,
    /// The run is going on.
    pub live: bool,
    /// Whole sentences for the user.
    pub notes: Vec<String>,
    /// When the program ran but passed no progress point: the line with most samples, if it is known.
    pub unvisited: Option<RecordedLine>,
}

/// One target's result for one document.
pub(crate) struct Placement<'a> {
    /// The file it was recorded in.
    pub file: &'a SourceFile,
    /// The result.
    pub target: &'a Target,
    /// Its place in the ranking of the whole profile; 1 is best.
    pub rank: u32,
    /// Where the line is now.
    pub placed: Placed,
}

impl OpenCausalProfile {
    /// Loads and analyses. May take seconds: not on the loop.
    pub(crate) fn open(
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
        let mut notes: Vec<String> = profile
            .notes
            .iter()
            .map(fulcrum_causal::wording::note)
            .collect();
        notes.extend(how_it_ended(&loaded));
        notes.extend(missing_files(&sources));
        let unvisited = match visited_nothing(&loaded) {
            true => hottest(&loaded.recording, &sources),
            false => None,
        };
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

    /// What a run that is going on has found so far. Reuses the files of `before` when it names the same ones.
    pub(crate) fn live(
        run: &Path,
        profile: Arc<CausalProfile>,
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
    pub(crate) fn has_results(&self) -> bool {
        self.profile
            .progress_points
            .iter()
            .any(|point| !point.targets.is_empty())
    }

    /// The named progress point, else the first.
    pub(crate) fn point(&self, name: Option<&str>) -> Option<&PointProfile> {
        let points = &self.profile.progress_points;
        points
            .iter()
            .find(|point| Some(point.name.as_str()) == name)
            .or(points.first())
    }

    /// The results of one progress point for the document at `path` with this text, by line, then rank.
    pub(crate) fn placements<'a>(
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
                    file: &self.sources[file],
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
