//! Extending and trimming a path's occurrences in one tree.

use std::sync::Arc;

use crate::index::Index;
use crate::interface::Refusal;
use crate::names::{NO_NAME, NameId, Names};
use crate::occurrences::{Occurrence, Occurrences};

/// The occurrences of each extension, sorted by the name that it adds.
pub(crate) type Extensions = Vec<(NameId, Vec<Occurrence>)>;

/// At which end a path grows or shrinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    Top,
    Bottom,
}

impl Side {
    /// The path with one more name.
    pub fn extended(self, path: &[NameId], name: NameId) -> Arc<[NameId]> {
        match self {
            Side::Top => [&[name][..], path].concat().into(),
            Side::Bottom => [path, &[name]].concat().into(),
        }
    }

    /// The path with one name less. `None` at length 1.
    pub fn trimmed(self, path: &[NameId]) -> Option<&[NameId]> {
        let (_, rest) = match self {
            Side::Top => path.split_first(),
            Side::Bottom => path.split_last(),
        }?;
        (!rest.is_empty()).then_some(rest)
    }

    /// The answer when a path has no such extension.
    pub fn absent(self, path: Vec<&str>, name: &str) -> Refusal {
        let at = match self {
            Side::Top => 0,
            Side::Bottom => path.len(),
        };
        let mut path: Vec<String> = path.into_iter().map(String::from).collect();
        path.insert(at, name.into());
        Refusal::Absent { path }
    }

    /// Every extension, in one pass over the occurrences.
    pub fn all(self, index: &Index, names: &Names, of: &Occurrences) -> Extensions {
        const NONE: u32 = u32::MAX;
        let mut group_of = vec![NONE; names.len()];
        let mut groups: Extensions = Vec::new();
        self.each(index, of, |name, it| {
            let group = &mut group_of[name as usize];
            if *group == NONE {
                *group = groups.len() as u32;
                groups.push((name, Vec::new()));
            }
            groups[*group as usize].1.push(it);
        });
        groups.sort_unstable_by_key(|&(name, _)| name);
        for (_, these) in &mut groups {
            sort(these);
        }
        groups
    }

    /// The extension by one name.
    pub fn one(self, index: &Index, of: &Occurrences, wanted: NameId) -> Vec<Occurrence> {
        let mut these = Vec::new();
        self.each(index, of, |name, it| {
            if name == wanted {
                these.push(it);
            }
        });
        sort(&mut these);
        these
    }

    fn each(self, index: &Index, of: &Occurrences, mut visit: impl FnMut(NameId, Occurrence)) {
        of.each(index, |Occurrence { last, first }| match self {
            Side::Top => {
                if let Some((first, name)) = index.parent_name(first) {
                    visit(name, Occurrence { last, first });
                }
            }
            Side::Bottom => {
                let (mut child, end) = (last + 1, index.end(last));
                while child < end {
                    let name = index.name(child);
                    if name != NO_NAME {
                        visit(name, Occurrence { last: child, first });
                    }
                    child = index.end(child);
                }
            }
        });
    }
}

/// Children of nested finals come out of order.
fn sort(these: &mut [Occurrence]) {
    if !these.is_sorted() {
        these.sort_unstable();
    }
}
