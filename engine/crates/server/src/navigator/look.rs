//! What reads of a navigator's session: the search as it was when the request came, so that commands go on meanwhile.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use fulcrum_paths::{AnyProfile, FlameTree, ProfileInterface as _, Search};

use super::places::{ByName, by_name};
use super::session::Recorded;
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
}

/// What flame graphs are drawn of: made when the first is asked for.
#[derive(Debug, Default)]
pub(crate) struct Drawing {
    tree: OnceLock<Option<FlameTree>>,
    painted: Mutex<Option<(Paths, Arc<Vec<u16>>)>>,
    names: OnceLock<ByName>,
}

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

    /// The profile's names by the function's own name.
    pub fn names(&self) -> &ByName {
        self.drawing.names.get_or_init(|| by_name(self))
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
