//! Labels: names that an analyst gives to summaries (BOTTLENECKS §2.3). They mean nothing to the search.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::profile::interface::{Overlap, PreparedSummaries, ProfileInterface, base_ovl, cum_ovl};

/// A label and the summaries that have it, in the order in which they got it.
#[derive(Clone, Debug)]
pub struct Label<S> {
    /// The name.
    pub name: String,
    /// The summaries: at least one, and no path twice.
    pub summaries: Vec<S>,
    /// Digests of their paths, by which new paths are recognised quickly.
    paths: HashSet<u64>,
    prepared: Prepared<S>,
}

/// All labels, in the order in which they were first given.
#[derive(Clone, Debug)]
pub struct Labels<S> {
    labels: Vec<Label<S>>,
    prepared: Prepared<S>,
}

/// Summaries prepared for computing overlaps, until the summaries change.
#[derive(Clone, Debug)]
struct Prepared<S>(OnceLock<Option<Arc<dyn PreparedSummaries<S>>>>);

impl<S> Default for Prepared<S> {
    fn default() -> Self {
        Prepared(OnceLock::new())
    }
}

impl<S: Clone> Prepared<S> {
    fn overlap<P>(&self, profile: &P, s: &S, summaries: impl Fn() -> Vec<S>) -> Overlap
    where
        P: ProfileInterface<Summary = S>,
    {
        match self.0.get_or_init(|| profile.prepare(&summaries())) {
            Some(prepared) => prepared.overlap(s),
            None => {
                let others = summaries();
                Overlap {
                    base: base_ovl(profile, s, &others),
                    cum: cum_ovl(profile, s, &others),
                }
            }
        }
    }
}

impl<S: Clone> Label<S> {
    /// The cost that a summary shares with those of this label.
    pub fn overlap<P: ProfileInterface<Summary = S>>(&self, profile: &P, s: &S) -> Overlap {
        let own = || self.summaries.clone();
        self.prepared.overlap(profile, s, own)
    }
}

impl<S> Default for Labels<S> {
    fn default() -> Self {
        Labels {
            labels: Vec::new(),
            prepared: Prepared::default(),
        }
    }
}

impl<S: Clone> Labels<S> {
    /// The labels.
    pub fn all(&self) -> &[Label<S>] {
        &self.labels
    }

    /// The cost that a summary shares with those of all labels together.
    pub fn overlap<P: ProfileInterface<Summary = S>>(&self, profile: &P, s: &S) -> Overlap {
        let all = || self.summaries();
        self.prepared.overlap(profile, s, all)
    }

    /// The label with this name.
    pub fn get(&self, name: &str) -> Option<&Label<S>> {
        self.labels.iter().find(|it| it.name == name)
    }

    /// The summaries of all labels. A summary with two labels occurs twice.
    pub fn summaries(&self) -> Vec<S> {
        let all = self.labels.iter().flat_map(|it| &it.summaries);
        all.cloned().collect()
    }

    /// The names of a summary's labels.
    pub fn of<P: ProfileInterface<Summary = S>>(&self, profile: &P, s: &S) -> Vec<&str> {
        let path = profile.path_of(s);
        let has = |label: &&Label<S>| label.summaries.iter().any(|it| profile.path_of(it) == path);
        self.labels
            .iter()
            .filter(has)
            .map(|it| it.name.as_str())
            .collect()
    }

    /// Gives a summary a label, unless it has it already.
    pub fn add<P: ProfileInterface<Summary = S>>(&mut self, profile: &P, name: &str, s: S) {
        let path = profile.path_of(&s);
        let digest = digest_of(&path);
        let label = self.labels.iter_mut().find(|it| it.name == name);
        if label.as_ref().is_some_and(|label| {
            let same = |it: &S| profile.path_of(it) == path;
            label.paths.contains(&digest) && label.summaries.iter().any(same)
        }) {
            return;
        }
        self.prepared = Prepared::default();
        match label {
            Some(label) => {
                label.paths.insert(digest);
                label.prepared = Prepared::default();
                label.summaries.push(s);
            }
            None => self.labels.push(Label {
                name: name.into(),
                summaries: vec![s],
                paths: HashSet::from([digest]),
                prepared: Prepared::default(),
            }),
        }
    }

    /// Removes a label from a summary, or from all without one. Returns how many had it.
    pub fn remove<P: ProfileInterface<Summary = S>>(
        &mut self,
        profile: &P,
        name: &str,
        s: Option<&S>,
    ) -> usize {
        let path = s.map(|s| profile.path_of(s));
        let mut removed = 0;
        self.prepared = Prepared::default();
        for label in self.labels.iter_mut().filter(|it| it.name == name) {
            label.prepared = Prepared::default();
            let before = label.summaries.len();
            let keep = |it: &S| {
                path.as_ref()
                    .is_some_and(|path| profile.path_of(it) != *path)
            };
            label.summaries.retain(keep);
            let digests = label.summaries.iter();
            label.paths = digests.map(|it| digest_of(&profile.path_of(it))).collect();
            removed += before - label.summaries.len();
        }
        self.labels.retain(|it| !it.summaries.is_empty());
        removed
    }

    /// The labels as they are written to a file.
    pub fn save<P>(&self, profile: &P, identity: ProfileIdentity) -> SavedLabels
    where
        P: ProfileInterface<Summary = S>,
    {
        let path = |s: &S| -> Vec<String> {
            let names = profile.path_of(s).into_iter();
            names.map(String::from).collect()
        };
        let label = |label: &Label<S>| SavedLabel {
            name: label.name.clone(),
            paths: label.summaries.iter().map(path).collect(),
        };
        SavedLabels {
            version: SavedLabels::VERSION,
            profile: identity,
            labels: self.labels.iter().map(label).collect(),
        }
    }
}

fn digest_of(path: &[&str]) -> u64 {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish()
}

/// Identifies a profile. The search only compares it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProfileIdentity {
    /// The input files: one, or those of side A.
    pub sources: Vec<FileIdentity>,
    /// The input files of side B, if any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub against: Vec<FileIdentity>,
    /// The name of the value type.
    pub value: String,
    /// The unit of the value type.
    pub unit: String,
}

/// Identifies a profile's file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileIdentity {
    /// The file's name, for display.
    pub file: String,
    /// A digest of the file's contents, in any fixed notation.
    pub digest: String,
}

impl ProfileIdentity {
    /// Whether both have the same data. Files may have been moved.
    pub fn same_data(&self, other: &ProfileIdentity) -> bool {
        let digests = |it: &ProfileIdentity| {
            let digests = |side: &[FileIdentity]| -> Vec<String> {
                side.iter().map(|it| it.digest.clone()).collect()
            };
            (digests(&it.sources), digests(&it.against))
        };
        (digests(self), &self.value, &self.unit) == (digests(other), &other.value, &other.unit)
    }
}

/// Labels as they are written to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedLabels {
    /// The version of this format, [`SavedLabels::VERSION`].
    pub version: u32,
    /// The profile in which they were given.
    pub profile: ProfileIdentity,
    /// The labels.
    pub labels: Vec<SavedLabel>,
}

impl SavedLabels {
    /// The version that is written, and the newest one that can be read.
    pub const VERSION: u32 = 1;
}

/// A label as it is written to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedLabel {
    /// Its name.
    pub name: String,
    /// The paths that have it, each outermost name first.
    pub paths: Vec<Vec<String>>,
}
