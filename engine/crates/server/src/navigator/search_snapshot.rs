//! What reads of a navigator: the search as it was when the request came, so that commands go on meanwhile.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use fulcrum_model::call_tree::ValueType;
use fulcrum_paths::{
    AnyProfile, FlameTree, Merged, MergedSide, Normalisation, Painted, PathOccurrences,
    ProfileInput, ProfileInterface as _, Search, Width,
};
use fulcrum_profiles::{Files, Limits, Lines, Rule};

use super::by_name::{ByName, by_name};
use super::naming::Naming;
use super::recorded::Recorded;
use crate::protocol::failure::Failure;

/// A navigation at one moment. Cheap to make.
#[derive(Clone)]
pub(crate) struct SearchSnapshot {
    /// The search.
    pub search: Search<Arc<AnyProfile>>,
    /// For headings.
    pub title: Arc<str>,
    /// The value type's name and unit.
    pub value: String,
    pub unit: String,
    /// Where the profile says that its functions are.
    pub recorded: Arc<Recorded>,
    /// The folders of the profile's files.
    pub folders: Arc<Vec<PathBuf>>,
    pub drawing: Arc<Drawing>,
    /// The files that lines can be read from: the one that is looked at, or one of either side of a comparison, or none.
    pub measured: Arc<[Measured]>,
    /// The lines that ran where no file of a profile has them, by value type.
    pub ran: Arc<[(String, Vec<Lines>)]>,
    pub baselines: Arc<Baselines>,
    pub naming: Arc<Naming>,
}

/// The texts that recorded lines are taken to belong to: no profile tells the text of its code.
#[derive(Debug, Default)]
pub(crate) struct Baselines(Mutex<HashMap<PathBuf, Arc<str>>>);

/// A file that may know which lines ran.
#[derive(Debug)]
pub(crate) struct Measured {
    pub path: PathBuf,
    /// What its bytes were when it was opened.
    pub digest: String,
    pub rules: Vec<Rule>,
}

/// What flame graphs are drawn of: made when the first is asked for.
#[derive(Debug, Default)]
pub(crate) struct Drawing {
    tree: OnceLock<Option<FlameTree>>,
    painted: Mutex<Option<(Paths, Arc<Painted>)>>,
    names: OnceLock<ByName>,
    /// The last merged paths, the latest at the end.
    merged: Mutex<Vec<(MergedPath, Arc<PathOccurrences>)>>,
    /// Or why there are none.
    lines: OnceLock<Result<Vec<Lines>, String>>,
}

/// Merged paths that are kept: both sides of one that is looked at, and those of a few before.
const MERGED: usize = 8;

/// A path, its side, and what makes boxes wide.
type MergedPath = (Vec<String>, MergedSide, Width);

/// The paths of each label.
type Paths = Vec<Vec<Vec<String>>>;

impl Measured {
    /// The files that lines are read from: of several runs on a side only functions are shown.
    pub(crate) fn of(files: &Files, open: &fulcrum_profiles::OpenSearch) -> Arc<[Measured]> {
        let one = |path: &PathBuf, input: &ProfileInput| Measured {
            path: path.clone(),
            digest: input.identity.digest.clone(),
            rules: files.rules.clone(),
        };
        match (&*files.files, &*files.against, open.sources()) {
            ([a], [], [[of_a], []]) => Arc::new([one(a, of_a)]),
            ([a], [b], [[of_a], [of_b]]) if files.normalisation == Normalisation::None => {
                Arc::new([one(a, of_a), one(b, of_b)])
            }
            _ => Arc::default(),
        }
    }
}

impl Baselines {
    /// The text of a file on disk when it was first asked for; `text`, which is on the screen, where there is none.
    pub(crate) fn of(&self, path: &Path, text: &Arc<str>) -> Arc<str> {
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let on_disk = || std::fs::read_to_string(path).map_or_else(|_| Arc::clone(text), Arc::from);
        Arc::clone(texts.entry(path.to_owned()).or_insert_with(on_disk))
    }
}

impl SearchSnapshot {
    /// The tree that is drawn.
    pub(crate) fn tree(&self) -> Result<&FlameTree, Failure> {
        let make = || FlameTree::new(self.search.profile());
        self.drawing.tree.get_or_init(make).as_ref().ok_or_else(|| {
            Failure::user(
                "a call graph knows no contexts, and a flame graph is made of them",
                Some("Record call stacks to see one."),
            )
        })
    }

    /// A path of the tree, merged; `None` when the tree does not have it. Finding it passes over all of its contexts, which
    /// each step in its graph would do again.
    pub(crate) fn merged<'t>(
        &self,
        tree: &'t FlameTree,
        path: &[String],
        side: MergedSide,
        width: Width,
    ) -> Option<Merged<'t>> {
        let kept = || {
            let kept = self.drawing.merged.lock();
            kept.unwrap_or_else(PoisonError::into_inner)
        };
        let known = kept().iter().find_map(|((of, on, by), contexts)| {
            (of == path && *on == side && *by == width).then(|| Arc::clone(contexts))
        });
        if let Some(contexts) = known {
            return Some(Merged::from_occurrences(tree, &contexts));
        }
        let names: Vec<&str> = path.iter().map(String::as_str).collect();
        let merged = Merged::new(tree, &names, side, width)?;
        let mut kept = kept();
        if kept.len() == MERGED {
            kept.remove(0);
        }
        kept.push(((path.to_vec(), side, width), merged.occurrences()));
        Some(merged)
    }

    /// The profile's names by the function's own name.
    pub(crate) fn names(&self) -> &ByName {
        self.drawing
            .names
            .get_or_init(|| by_name(self.search.profile()))
    }

    /// The lines that ran, of each of the files; none if one of them does not know its lines. The first that asks reads the
    /// files again.
    pub(crate) fn lines(&self) -> Result<&[Lines], &str> {
        if let Some((_, lines)) = self.ran.iter().find(|(value, _)| *value == self.value) {
            return Ok(lines);
        }
        let read = || {
            let value = ValueType::new(&*self.value, &*self.unit);
            let lines = |file: &Measured| {
                fulcrum_profiles::lines(
                    &file.path,
                    &file.digest,
                    &value,
                    &file.rules,
                    Limits::default(),
                )
                .map_err(|error| error.to_string())
            };
            let all = self.measured.iter().map(lines);
            let all: Vec<Option<Lines>> = all.collect::<Result<_, _>>()?;
            let all: Option<Vec<Lines>> = all.into_iter().collect();
            Ok(all.unwrap_or_default())
        };
        match self.drawing.lines.get_or_init(read) {
            Ok(lines) => Ok(lines),
            Err(problem) => Err(problem),
        }
    }

    /// The labels of nodes by their position from 1, and the labels' names.
    pub(crate) fn labels(&self, tree: &FlameTree) -> (Arc<Painted>, Vec<String>) {
        let (labels, profile) = (self.search.labels().all(), self.search.profile());
        let owned = |path: Vec<&str>| path.into_iter().map(String::from).collect();
        let paths: Paths = labels
            .iter()
            .map(|it| {
                it.summaries
                    .iter()
                    .map(|s| owned(profile.path_of(s)))
                    .collect()
            })
            .collect();
        let names = labels.iter().map(|it| it.name.clone()).collect();
        let mut cache = self
            .drawing
            .painted
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some((of, painted)) = &*cache
            && *of == paths
        {
            return (Arc::clone(painted), names);
        }
        let borrowed: Vec<Vec<Vec<&str>>> = paths
            .iter()
            .map(|label| {
                label
                    .iter()
                    .map(|path| path.iter().map(String::as_str).collect())
                    .collect()
            })
            .collect();
        let painted = Arc::new(tree.painted(&borrowed));
        *cache = Some((paths, Arc::clone(&painted)));
        (painted, names)
    }
}
