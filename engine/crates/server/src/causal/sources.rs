//! The files that a profile points into, and where their recorded lines are now.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Index;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use fulcrum_runs::{LoadedCausal, RunFolder};
use fulcrum_source::{Anchors, State};

use crate::documents::Documents;
use crate::documents::resolve::{Places, Resolution, common_suffix, resolve};

/// A file of a profile, by its place in [`Sources::files`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FileId(usize);

/// A line as it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RecordedLine {
    /// Its file.
    pub file: FileId,
    /// 1-based, as profiles count.
    pub line: u32,
}

/// The files of one profile. Immutable but for a cache.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// Sorted by name.
    pub files: Vec<SourceFile>,
    /// Whether all of the workspace was searched.
    pub complete: bool,
    anchors: Mutex<HashMap<(FileId, u64), Arc<Anchors>>>,
}

/// A file that the profile names.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// As the profile spells it.
    pub recorded: String,
    /// The file in the workspace.
    pub resolution: Resolution,
    /// The text that recorded lines belong to.
    baseline: Option<Baseline>,
    /// Whether there is no snapshot and the file was written after the profile.
    pub written_since: bool,
}

#[derive(Debug)]
struct Baseline {
    text: String,
    hash: u64,
}

/// Where a recorded line is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    /// 0-based.
    pub line: u32,
    /// Exact, moved or stale.
    pub state: State,
}

/// Where the lines of one file are in one text.
#[derive(Debug)]
pub(crate) enum Placer {
    /// The text is the recorded one, as far as that is known.
    AsRecorded {
        /// Its last line, 1-based; `None` when the text is not known. Later lines do not exist.
        last: Option<u32>,
    },
    /// The text has changed since.
    Anchored(Arc<Anchors>),
}

impl Placer {
    /// Where a recorded line is, 1-based as profiles count.
    pub(crate) fn place(&self, recorded: u32) -> Placed {
        let as_recorded = Placed {
            line: recorded.saturating_sub(1),
            state: State::Exact,
        };
        match self {
            Placer::AsRecorded { last: None } => as_recorded,
            Placer::AsRecorded { last: Some(last) } => match recorded.clamp(1, *last) {
                there if there == recorded => as_recorded,
                nearest => Placed {
                    line: nearest - 1,
                    state: State::Stale,
                },
            },
            Placer::Anchored(anchors) => {
                let anchor = anchors.anchor(recorded);
                Placed {
                    line: anchor.line - 1,
                    state: anchor.state,
                }
            }
        }
    }
}

impl Sources {
    /// Looks for the files of a profile that was loaded from `path`.
    pub(crate) fn find(
        names: Vec<String>,
        path: &Path,
        loaded: &LoadedCausal,
        folders: &[PathBuf],
        documents: &Documents,
    ) -> Sources {
        let mut bases: Vec<PathBuf> = Vec::new();
        bases.extend(
            loaded
                .manifest
                .as_ref()
                .map(|m| PathBuf::from(&m.cwd))
                .filter(|p| p.is_absolute()),
        );
        bases.extend(path.parent().map(Path::to_path_buf));
        let places = Places {
            folders: folders.to_vec(),
            bases,
            open: documents.paths(),
        };
        let (resolutions, complete) = resolve(
            &names.iter().map(String::as_str).collect::<Vec<_>>(),
            &places,
        );
        let run = loaded
            .folder
            .as_ref()
            .and_then(|folder| RunFolder::open(folder).ok());
        let recorded_at = std::fs::metadata(path).and_then(|m| m.modified()).ok();
        let files = names
            .into_iter()
            .zip(resolutions)
            .map(|(recorded, resolution)| {
                SourceFile::new(recorded, resolution, run.as_ref(), recorded_at, documents)
            })
            .collect();
        Sources {
            files,
            complete,
            anchors: Mutex::default(),
        }
    }

    /// Whether these are the files of the given names.
    pub(crate) fn are(&self, names: &[String]) -> bool {
        self.files.iter().map(|file| &file.recorded).eq(names)
    }

    /// The ids of all files.
    pub(crate) fn ids(&self) -> impl Iterator<Item = FileId> {
        (0..self.files.len()).map(FileId)
    }

    /// The file of a recorded location.
    pub(crate) fn file(&self, recorded: &str) -> Option<FileId> {
        self.ids().find(|&id| self[id].recorded == recorded)
    }

    /// Where a recorded line is in the file's text as it is now; as recorded when there is no text. For many lines make one
    /// [`placer`](Sources::placer).
    pub(crate) fn place(&self, file: FileId, recorded: u32, text: Option<&str>) -> Placed {
        self.placer(file, text).place(recorded)
    }

    /// Finds where recorded lines are in the file's text as it is now. Goes through the text once.
    pub(crate) fn placer(&self, file: FileId, text: Option<&str>) -> Placer {
        let Some(text) = text else {
            return Placer::AsRecorded { last: None };
        };
        let last = text.lines().count().max(1) as u32;
        let Some(baseline) = &self[file].baseline else {
            return Placer::AsRecorded { last: Some(last) };
        };
        let hash = hash(text);
        if hash == baseline.hash && baseline.text == text {
            return Placer::AsRecorded { last: Some(last) };
        }
        let key = (file, hash);
        let cached = self
            .anchors
            .lock()
            .ok()
            .and_then(|cache| cache.get(&key).cloned());
        Placer::Anchored(cached.unwrap_or_else(|| {
            let anchors = Arc::new(Anchors::new(&baseline.text, text));
            if let Ok(mut cache) = self.anchors.lock() {
                // One text a file is current; older ones are not asked for again.
                cache.retain(|(other, _), _| *other != file);
                cache.insert(key, Arc::clone(&anchors));
            }
            anchors
        }))
    }

    /// The recorded files that a document stands for: by resolution or, where nothing was found, by the end of its path.
    pub(crate) fn files_of(&self, path: &Path) -> Vec<FileId> {
        let name = path.to_string_lossy();
        self.ids()
            .filter(|&id| match &self[id].resolution {
                Resolution::Found(found) => found == path,
                Resolution::Missing => common_suffix(&self[id].recorded, &name) > 0,
                Resolution::Ambiguous(_) => false,
            })
            .collect()
    }
}

impl Index<FileId> for Sources {
    type Output = SourceFile;

    fn index(&self, id: FileId) -> &SourceFile {
        &self.files[id.0]
    }
}

impl SourceFile {
    fn new(
        recorded: String,
        resolution: Resolution,
        run: Option<&RunFolder>,
        recorded_at: Option<SystemTime>,
        documents: &Documents,
    ) -> SourceFile {
        let snapshot = run.and_then(|run| run.read_snapshot(&recorded));
        let written_since = snapshot.is_none()
            && resolution.path().is_some_and(|path| {
                let written = std::fs::metadata(path).and_then(|m| m.modified()).ok();
                written
                    .zip(recorded_at)
                    .is_some_and(|(written, recorded)| written > recorded)
            });
        // Without a snapshot the text at this moment stands in for it: the lines then follow further edits.
        let text = snapshot.or_else(|| {
            resolution
                .path()
                .and_then(|path| documents.current_text(path))
        });
        let baseline = text.map(|text| Baseline {
            hash: hash(&text),
            text,
        });
        SourceFile {
            recorded,
            resolution,
            baseline,
            written_since,
        }
    }

    /// The text that recorded lines belong to, if there is one.
    pub(crate) fn recorded_text(&self) -> Option<&str> {
        self.baseline.as_ref().map(|baseline| &*baseline.text)
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_a_text_does_not_have_are_stale_at_its_ends() {
        let place = |last, recorded| {
            let Placed { line, state } = Placer::AsRecorded { last }.place(recorded);
            (line, state)
        };
        assert_eq!(place(Some(9), 9), (8, State::Exact));
        assert_eq!(place(Some(9), 10), (8, State::Stale));
        assert_eq!(place(Some(9), 0), (0, State::Stale));
        assert_eq!(place(None, 10), (9, State::Exact));
    }

    #[test]
    fn one_look_at_a_text_places_every_line() {
        let anchors = Anchors::new("a\nb\nc\n", "new\na\nb\nother\n");
        let placer = Placer::Anchored(Arc::new(anchors));
        let states: Vec<_> = (1..=3).map(|n| placer.place(n)).collect();
        assert_eq!(
            states
                .iter()
                .map(|it| (it.line, it.state))
                .collect::<Vec<_>>(),
            [(1, State::Moved), (2, State::Moved), (3, State::Stale)]
        );
    }
}
