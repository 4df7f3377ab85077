//! What reads of a navigator's session: the search as it was when the request came, so that commands go on meanwhile.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use fulcrum_model::call_tree::ValueType;
use fulcrum_paths::{
    AnyProfile, Contexts, FlameTree, Merged, MergedSide, ProfileInterface as _, Search, Width,
};
use fulcrum_profiles::{Lines, Rule};

use super::places::{ByName, by_name};
use super::recorded::Recorded;
use crate::failure::Failure;

/// A session at one moment. Cheap to make.
#[derive(Clone)]
pub(crate) struct Look {
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
    pub folders: Arc<Vec<std::path::PathBuf>>,
    pub drawing: Arc<Drawing>,
    /// The one file that is looked at, if lines can be read from it.
    pub measured: Option<Arc<Measured>>,
}

/// A file that may know which lines ran.
#[derive(Debug)]
pub(crate) struct Measured {
    pub path: std::path::PathBuf,
    /// What its bytes were when it was opened.
    pub digest: String,
    pub rules: Vec<Rule>,
}

/// What flame graphs are drawn of: made when the first is asked for.
#[derive(Debug, Default)]
pub(crate) struct Drawing {
    tree: OnceLock<Option<FlameTree>>,
    painted: Mutex<Option<(Paths, Arc<Vec<u16>>)>>,
    names: OnceLock<ByName>,
    /// The last merged paths, the latest at the end.
    merged: Mutex<Vec<(MergedPath, Arc<Contexts>)>>,
    /// Or why there are none.
    lines: OnceLock<Result<Option<Lines>, String>>,
}

/// Merged paths that are kept: both sides of one that is looked at, and those of a few before.
const MERGED: usize = 8;

/// A path, its side, and what makes boxes wide.
type MergedPath = (Vec<String>, MergedSide, Width);

/// The paths of each label.
type Paths = Vec<Vec<Vec<String>>>;

impl Look {
    /// The tree that is drawn.
    pub fn tree(&self) -> Result<&FlameTree, Failure> {
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
    pub fn merged<'t>(
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
            return Some(Merged::again(tree, &contexts));
        }
        let names: Vec<&str> = path.iter().map(String::as_str).collect();
        let merged = Merged::new(tree, &names, side, width)?;
        let mut kept = kept();
        if kept.len() == MERGED {
            kept.remove(0);
        }
        kept.push(((path.to_vec(), side, width), Arc::new(merged.contexts())));
        Some(merged)
    }

    /// The profile's names by the function's own name.
    pub fn names(&self) -> &ByName {
        self.drawing.names.get_or_init(|| by_name(self))
    }

    /// The lines that ran, if the profile knows them: the first that asks reads the file again.
    pub fn lines(&self) -> Result<Option<&Lines>, &str> {
        let read = || {
            let Some(file) = &self.measured else {
                return Ok(None);
            };
            let value = ValueType::new(&*self.value, &*self.unit);
            let lines = fulcrum_profiles::lines(&file.path, &file.digest, &value, &file.rules);
            lines.map_err(|error| error.to_string())
        };
        match self.drawing.lines.get_or_init(read) {
            Ok(lines) => Ok(lines.as_ref()),
            Err(problem) => Err(problem),
        }
    }

    /// The label of each node by its position from 1, and the labels' names.
    pub fn labels(&self, tree: &FlameTree) -> (Arc<Vec<u16>>, Vec<String>) {
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
        let painted = if paths.is_empty() {
            Vec::new()
        } else {
            let borrowed: Vec<Vec<Vec<&str>>> = paths
                .iter()
                .map(|label| {
                    label
                        .iter()
                        .map(|path| path.iter().map(String::as_str).collect())
                        .collect()
                })
                .collect();
            tree.painted(&borrowed)
        };
        let painted = Arc::new(painted);
        *cache = Some((paths, Arc::clone(&painted)));
        (painted, names)
    }
}
