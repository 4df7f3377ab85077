//! Extends and trims a path's occurrences in one tree.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::profile::call_tree::ahead;
use crate::profile::call_tree::calls::{Call, CallTable};
use crate::profile::call_tree::index::Index;
use crate::profile::call_tree::names::{NO_NAME, NameId};
use crate::profile::call_tree::occurrences::{LazyOccurrences, Occurrence, Occurrences};
use crate::profile::end::End;
use crate::profile::interface::Refusal;

/// The occurrences of each extension, sorted by the added name.
pub(crate) type Extensions = Vec<(NameId, Vec<Occurrence>)>;

impl End {
    /// The path with one more name.
    pub(crate) fn extended(self, path: &[NameId], name: NameId) -> Arc<[NameId]> {
        match self {
            End::Top => [&[name][..], path].concat().into(),
            End::Bottom => [path, &[name]].concat().into(),
        }
    }

    /// The path with one name fewer. `None` at length 1.
    pub(crate) fn trimmed(self, path: &[NameId]) -> Option<&[NameId]> {
        let (_, rest) = match self {
            End::Top => path.split_first(),
            End::Bottom => path.split_last(),
        }?;
        (!rest.is_empty()).then_some(rest)
    }

    /// The error for a path without such an extension.
    pub(crate) fn absent(self, path: Vec<&str>, name: &str) -> Refusal {
        let at = match self {
            End::Top => 0,
            End::Bottom => path.len(),
        };
        let mut path: Vec<String> = path.into_iter().map(String::from).collect();
        path.insert(at, name.into());
        Refusal::Absent { path }
    }

    /// Every extension of a path with one name, sorted by the added name.
    pub(crate) fn extending_calls(self, calls: &CallTable, of: NameId) -> Vec<Call> {
        match self {
            End::Top => calls.callers(of).to_vec(),
            End::Bottom => calls.callees(of).copied().collect(),
        }
    }

    /// All extensions, in one pass over the occurrences.
    pub(crate) fn all_extensions(self, index: &Index, of: &Occurrences) -> Extensions {
        let mut groups: ByName<Vec<Occurrence>> = ByName::new(index);
        self.each_extension(index, of, |_| {}, |name, _, it| groups.of(name).push(it));
        groups.sorted()
    }

    /// Base and cum of every extension, sorted by the added name. No two occurrences of the path may share a node. The values
    /// for names that are already in the path are meaningless, because occurrences of these extensions may share nodes.
    pub(crate) fn extension_costs(
        self,
        index: &Index,
        of: &Occurrences,
    ) -> Vec<(NameId, (i64, i64))> {
        let mut sums: ByName<Sum> = ByName::new(index);
        let costs_ahead = |these: &[Occurrence]| of.costs_ahead(index, these);
        self.each_extension(index, of, costs_ahead, |name, from, it| {
            let (new, last) = match self {
                End::Top => (it.first, it.last),
                End::Bottom => (it.last, it.last),
            };
            let along = index.along(from.first, from.last) + index.own(new);
            let sum = sums.of(name);
            sum.base += along;
            if last >= sum.covered {
                sum.covered = index.end(last);
                sum.cum += along + index.between(last + 1, sum.covered);
            }
        });
        let all = sums.sorted().into_iter();
        all.map(|(name, Sum { base, cum, .. })| (name, (base, cum)))
            .collect()
    }

    /// The occurrences of the extension by one name.
    pub(crate) fn extension(
        self,
        index: &Index,
        of: &Occurrences,
        wanted: NameId,
    ) -> Vec<Occurrence> {
        let mut these = Vec::new();
        let mut add = |name, it| {
            if name == wanted {
                these.push(it);
            }
        };
        self.each_extension(index, of, |_| {}, |name, _, it| add(name, it));
        these
    }

    /// Visits the occurrences of all extensions, sorted by their final nodes: the added name, the occurrence that is extended,
    /// and the extension's occurrence. `read_ahead` is for what a visit reads besides the added node.
    fn each_extension(
        self,
        index: &Index,
        of: &Occurrences,
        read_ahead: impl Fn(&[Occurrence]),
        mut visit: impl FnMut(NameId, Occurrence, Occurrence),
    ) {
        match self {
            End::Top => {
                let read_ahead = |these: &[Occurrence]| {
                    ahead::parents(index, these.iter().map(|it| it.first));
                    read_ahead(these);
                };
                of.each_ahead(index, read_ahead, |it| {
                    if let Some((first, name)) = index.parent_name(it.first) {
                        let last = it.last;
                        visit(name, it, Occurrence { last, first });
                    }
                });
            }
            End::Bottom => each_child(index, of, read_ahead, |child, it| {
                let name = index.name(child);
                if name != NO_NAME {
                    let first = it.first;
                    visit(name, it, Occurrence { last: child, first });
                }
            }),
        }
    }
}

/// Visits the children of all final nodes, ascending. The children of a final node below another one come between those of
/// the other. `read_ahead` is for what a visit reads besides the children.
pub(crate) fn each_child(
    index: &Index,
    of: &Occurrences,
    read_ahead: impl Fn(&[Occurrence]),
    mut visit: impl FnMut(u32, Occurrence),
) {
    struct Open {
        next: u32,
        end: u32,
        it: Occurrence,
    }
    // The final nodes around the current node, the outermost first, and the children of each that are not visited yet.
    let mut open: Vec<Open> = Vec::new();
    let mut up_to = |open: &mut Vec<Open>, n: u32| {
        while let Some(inner) = open.last_mut() {
            // A child may itself be the next final node.
            while inner.next < inner.end && inner.next <= n {
                visit(inner.next, inner.it);
                inner.next = index.end(inner.next);
            }
            if inner.next < inner.end {
                break;
            }
            open.pop();
        }
    };
    let read_ahead = |these: &[Occurrence]| {
        ahead::nodes(index, these.iter().map(|it| it.last));
        ahead::children(index, these.iter().map(|it| it.last));
        read_ahead(these);
    };
    of.each_ahead(index, read_ahead, |it| {
        up_to(&mut open, it.last);
        let (next, end) = (it.last + 1, index.end(it.last));
        if next < end {
            open.push(Open { next, end, it });
        }
    });
    up_to(&mut open, u32::MAX);
}

/// The costs of an extension so far.
#[derive(Default)]
struct Sum {
    base: i64,
    cum: i64,
    /// All nodes before this one are in the cum.
    covered: u32,
}

/// A value for each name that occurred.
struct ByName<T> {
    place: Vec<u32>,
    all: Vec<(NameId, T)>,
}

impl<T: Default> ByName<T> {
    fn new(index: &Index) -> Self {
        ByName {
            place: vec![u32::MAX; index.names()],
            all: Vec::new(),
        }
    }

    fn of(&mut self, name: NameId) -> &mut T {
        let place = &mut self.place[name as usize];
        if *place == u32::MAX {
            *place = self.all.len() as u32;
            self.all.push((name, T::default()));
        }
        &mut self.all[*place as usize].1
    }

    fn sorted(mut self) -> Vec<(NameId, T)> {
        self.all.sort_unstable_by_key(|&(name, _)| name);
        self.all
    }
}

/// All extensions of a path at one end. Their occurrences are computed on first use, because usually only one is looked at.
#[derive(Debug)]
pub(crate) struct Family {
    of: Occurrences,
    end: End,
    asked: AtomicBool,
    all: OnceLock<Extensions>,
}

/// One extension of a [`Family`].
#[derive(Debug)]
struct Extension {
    family: Arc<Family>,
    name: NameId,
    alone: OnceLock<Vec<Occurrence>>,
}

impl Family {
    pub(crate) fn new(of: Occurrences, end: End) -> Arc<Self> {
        Arc::new(Family {
            of,
            end,
            asked: AtomicBool::new(false),
            all: OnceLock::new(),
        })
    }

    /// The extension by a name. It must exist.
    pub(crate) fn by(self: &Arc<Self>, name: NameId) -> Box<dyn LazyOccurrences> {
        Box::new(Extension {
            family: Arc::clone(self),
            name,
            alone: OnceLock::new(),
        })
    }
}

impl LazyOccurrences for Extension {
    /// The first extension of a family that is needed is computed alone; the second one computes all.
    fn these(&self, index: &Index) -> &[Occurrence] {
        let Family {
            of,
            end,
            asked,
            all,
        } = &*self.family;
        if let Some(alone) = self.alone.get() {
            return alone;
        }
        if all.get().is_none() && !asked.swap(true, Ordering::Relaxed) {
            return self
                .alone
                .get_or_init(|| end.extension(index, of, self.name));
        }
        let all = all.get_or_init(|| end.all_extensions(index, of));
        let found = all.binary_search_by_key(&self.name, |it| it.0);
        &all[found.expect("the extension exists")].1
    }

    fn extended(&self) -> &Occurrences {
        &self.family.of
    }
}
