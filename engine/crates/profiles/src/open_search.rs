//! An open profile with its search: alone, or compared with others.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fulcrum_model::Progress;
use fulcrum_model::call_tree::{CallTree, Frame, FrameKind, ValueType};
use fulcrum_paths::{
    AnyProfile, Calls, FileIdentity, Loaded, Normalisation, Opened, ProfileIdentity, ProfileInput,
    SavedLabels, Search, SearchError,
};
use fulcrum_profile_formats::names::{Renamed, Rule};
use fulcrum_profile_formats::{Limits, Profile};

use crate::error::Error;
use crate::read::{Read, read_with_progress};

/// What to open.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Profiles; several are the runs of one side of a comparison.
    pub files: Vec<PathBuf>,
    /// What they are compared with.
    pub against: Vec<PathBuf>,
    /// The value type, by its name or its number from 1. `None`: the profile's own choice.
    pub value: Option<String>,
    /// How the sides are made comparable.
    pub normalisation: Normalisation,
    /// Rules for names.
    pub rules: Vec<Rule>,
    /// How large each file may be.
    pub limits: Limits,
}

/// A profile, open for searching.
pub struct OpenSearch {
    /// The search.
    pub search: Search<Arc<AnyProfile>>,
    /// What identifies the profile.
    pub identity: ProfileIdentity,
    /// Notes on the files, whole sentences.
    pub notes: Vec<String>,
    /// The value types that can be searched, those of the first file.
    pub value_types: Vec<ValueType>,
    /// The position of the one that is searched.
    pub value: usize,
    /// Names that rules changed in any of the files, sorted by what they were.
    pub renamed: Vec<Renamed>,
    a: Vec<ProfileInput>,
    b: Vec<ProfileInput>,
    normalisation: Normalisation,
}

impl OpenSearch {
    /// Opens files. Each file is a phase of `progress`.
    ///
    /// # Errors
    /// When a file is no profile, the files do not fit together, or `progress` was cancelled.
    pub fn open(files: &Files, progress: &Progress) -> Result<Self, Error> {
        let _reuse = fulcrum_memory::reuse_freed();
        let (mut notes, mut renamed) = (Vec::new(), Vec::new());
        let mut done = 0_u32;
        let all = (files.files.len() + files.against.len()) as u32;
        let mut side = |paths: &[PathBuf]| -> Result<Vec<ProfileInput>, Error> {
            let mut sources = Vec::new();
            for path in paths {
                // Preparing the search takes about as long as reading one file.
                let part = |done| f64::from(done) / f64::from(all + 1);
                let what = format!("reading {}", file_name(path));
                let progress = progress.part(part(done), part(done + 1)).with_phase(&what);
                progress.at(0.0)?;
                let Read { profile, digest } =
                    read_with_progress(path, &files.rules, files.limits, &progress)?;
                let name = path.display();
                notes.extend(profile.notes.iter().map(|note| format!("{name}: {note}")));
                sources.push(source(path, digest, profile, &mut renamed));
                done += 1;
            }
            Ok(sources)
        };
        let (a, b) = (side(&files.files)?, side(&files.against)?);
        renamed.sort_by(|a: &Renamed, b| a.raw.cmp(&b.raw));
        renamed.dedup();
        let last = f64::from(all) / f64::from(all + 1);
        let progress = progress.with_phase("preparing the search");
        progress.at(last)?;
        let value = files.value.as_deref();
        let search = OpenSearch::of(a, b, value, files.normalisation, notes)?;
        progress.at(1.0)?;
        Ok(OpenSearch { renamed, ..search })
    }

    /// Opens a tree that was not read from a file. `name` is what people call it, and `digest` tells it from others.
    ///
    /// # Errors
    /// When there is no such value type.
    pub fn of_tree(
        tree: CallTree,
        name: String,
        digest: String,
        value: &str,
    ) -> Result<Self, Error> {
        let identity = FileIdentity { digest, file: name };
        let source = ProfileInput {
            identity,
            default_value: 0,
            calls: Calls::Tree(Arc::new(tree)),
            observations: None,
        };
        let normalisation = Normalisation::default();
        OpenSearch::of(
            vec![source],
            Vec::new(),
            Some(value),
            normalisation,
            Vec::new(),
        )
    }

    /// The same of trees that are compared, each by its default value.
    pub(crate) fn of_sources(a: Vec<ProfileInput>, b: Vec<ProfileInput>) -> Result<Self, Error> {
        OpenSearch::of(a, b, None, Normalisation::default(), Vec::new())
    }

    fn of(
        a: Vec<ProfileInput>,
        b: Vec<ProfileInput>,
        value: Option<&str>,
        normalisation: Normalisation,
        mut notes: Vec<String>,
    ) -> Result<Self, Error> {
        let opened = fulcrum_paths::open(a.clone(), b.clone(), value, normalisation)?;
        notes.extend(opened.notes);
        Ok(OpenSearch {
            search: Search::new(Arc::new(opened.profile)),
            identity: opened.identity,
            notes,
            value_types: opened.value_types,
            value: opened.value,
            renamed: Vec::new(),
            a,
            b,
            normalisation,
        })
    }

    /// Searches another value type, by its name or its number from 1. Settings, labels and the current path stay; the
    /// history is gone. Returns what a reader should know of the value type, whole sentences.
    ///
    /// # Errors
    /// When there is no such value type.
    pub fn set_value(&mut self, value: &str) -> Result<Vec<String>, Error> {
        let (a, b) = (self.a.clone(), self.b.clone());
        let Opened {
            profile,
            identity,
            value,
            notes,
            ..
        } = fulcrum_paths::open(a, b, Some(value), self.normalisation)?;
        let old = &self.search;
        let mut search = Search::new(Arc::new(profile));
        search.set_suggester(old.suggester());
        search.set_zooming(old.zooming());
        let cutoff = search.set_cutoff(old.cutoff());
        cutoff.expect("it was checked when it was set");
        let labels = search.load(&old.save(identity.clone()), &identity);
        labels.expect("they are in the format of this version");
        if let Some(s) = old.current() {
            let profile = fulcrum_paths::ProfileInterface::path_of(old.profile(), s);
            // All value types have the same paths; a call graph may lack one.
            let _ = search.select_path(&profile);
        }
        self.search = search;
        self.identity = identity;
        self.value = value;
        Ok(notes)
    }

    /// The names of the value types, all different.
    pub fn value_names(&self) -> Vec<String> {
        let types: Vec<&ValueType> = self.value_types.iter().collect();
        fulcrum_paths::value_names(&types)
    }

    /// The name of the value type that is searched.
    pub fn value_name(&self) -> String {
        self.value_names().swap_remove(self.value)
    }

    /// Adds saved labels to the search.
    ///
    /// # Errors
    /// When their format is newer than this version.
    pub fn load(&mut self, saved: &SavedLabels) -> Result<Loaded, SearchError> {
        self.search.load(saved, &self.identity)
    }

    /// The inputs: those that are searched, and those that they are compared with.
    pub fn sources(&self) -> [&[ProfileInput]; 2] {
        [&self.a, &self.b]
    }

    /// Every frame that can be in paths, of all trees. None for call graphs.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        let trees = self.a.iter().chain(&self.b);
        let trees = trees.filter_map(|source| match &source.calls {
            Calls::Tree(tree) => Some(tree),
            Calls::Graphs(_) => None,
        });
        let frames = trees.flat_map(|tree| tree.frames());
        frames.filter(|frame| frame.kind == FrameKind::Function)
    }
}

fn source(
    path: &Path,
    digest: String,
    profile: Profile,
    renamed: &mut Vec<Renamed>,
) -> ProfileInput {
    renamed.extend(profile.renamed);
    ProfileInput {
        identity: FileIdentity {
            digest,
            file: file_name(path),
        },
        default_value: profile.default_value,
        calls: match profile.calls {
            fulcrum_profile_formats::Calls::Tree(tree) => Calls::Tree(Arc::new(tree)),
            fulcrum_profile_formats::Calls::Graphs(graphs) => Calls::Graphs(graphs),
        },
        observations: None,
    }
}

fn file_name(path: &Path) -> String {
    if path == Path::new("-") {
        return "standard input".into();
    }
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
