//! Extending and trimming a path's occurrences in one tree.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::calls::{Call, Calls};
use crate::end::End;
use crate::index::Index;
use crate::interface::Refusal;
use crate::names::{NO_NAME, NameId};
use crate::occurrences::{Later, Occurrence, Occurrences};

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

    /// The side at this end of a path.
    pub fn at(end: End) -> Self {
        match end {
            End::Top => Side::Top,
            End::Bottom => Side::Bottom,
        }
    }

    /// Every extension of a path of one name, sorted by the name that it adds.
    pub fn calls(self, calls: &Calls, of: NameId) -> Vec<Call> {
        match self {
            Side::Top => calls.callers(of).to_vec(),
            Side::Bottom => calls.callees(of).copied().collect(),
        }
    }

    /// Every extension, in one pass over the occurrences.
    pub fn all(self, index: &Index, of: &Occurrences) -> Extensions {
        let mut groups: ByName<Vec<Occurrence>> = ByName::new(index);
        self.each(index, of, |name, _, it| groups.of(name).push(it));
        groups.sorted()
    }

    /// Base and cum of every extension of a path of which no two occurrences share a node, sorted by its name. Those of
    /// extensions by a name of the path itself mean nothing: their occurrences may share nodes.
    pub fn costs(self, index: &Index, of: &Occurrences) -> Vec<(NameId, (i64, i64))> {
        let mut sums: ByName<Sum> = ByName::new(index);
        self.each(index, of, |name, from, it| {
            let (new, last) = match self {
                Side::Top => (it.first, it.last),
                Side::Bottom => (it.last, it.last),
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

    /// The extension by one name.
    pub fn one(self, index: &Index, of: &Occurrences, wanted: NameId) -> Vec<Occurrence> {
        let mut these = Vec::new();
        self.each(index, of, |name, _, it| {
            if name == wanted {
                these.push(it);
            }
        });
        these
    }

    /// Visits the occurrences of all extensions, sorted by their finals: the name that is added, what is extended, and the
    /// extension's.
    fn each(
        self,
        index: &Index,
        of: &Occurrences,
        mut visit: impl FnMut(NameId, Occurrence, Occurrence),
    ) {
        match self {
            Side::Top => of.each(index, |it| {
                if let Some((first, name)) = index.parent_name(it.first) {
                    let last = it.last;
                    visit(name, it, Occurrence { last, first });
                }
            }),
            Side::Bottom => each_child(index, of, |child, it| {
                let name = index.name(child);
                if name != NO_NAME {
                    let first = it.first;
                    visit(name, it, Occurrence { last: child, first });
                }
            }),
        }
    }
}

/// Visits the children of all finals, ascending: finals below others have their children among those of the others.
pub(crate) fn each_child(index: &Index, of: &Occurrences, mut visit: impl FnMut(u32, Occurrence)) {
    struct Open {
        next: u32,
        end: u32,
        it: Occurrence,
    }
    // The finals around a node, the outermost first, with the children of each that are not visited.
    let mut open: Vec<Open> = Vec::new();
    let mut up_to = |open: &mut Vec<Open>, n: u32| {
        while let Some(inner) = open.last_mut() {
            // A child may be the next final itself.
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
    of.each(index, |it| {
        up_to(&mut open, it.last);
        let (next, end) = (it.last + 1, index.end(it.last));
        if next < end {
            open.push(Open { next, end, it });
        }
    });
    up_to(&mut open, u32::MAX);
}

/// What is known of an extension's costs so far.
#[derive(Default)]
struct Sum {
    base: i64,
    cum: i64,
    /// All nodes before are in the cum.
    covered: u32,
}

/// Something for each name that was met.
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

/// All extensions of a path at one side. Their occurrences are found when they are first asked for: mostly nobody looks at
/// more than one.
#[derive(Debug)]
pub(crate) struct Family {
    of: Occurrences,
    side: Side,
    asked: AtomicBool,
    all: OnceLock<Extensions>,
}

/// One of them.
#[derive(Debug)]
struct Extension {
    family: Arc<Family>,
    name: NameId,
    alone: OnceLock<Vec<Occurrence>>,
}

impl Family {
    pub fn new(of: Occurrences, side: Side) -> Arc<Self> {
        Arc::new(Family {
            of,
            side,
            asked: AtomicBool::new(false),
            all: OnceLock::new(),
        })
    }

    /// The extension by a name that there is.
    pub fn by(self: &Arc<Self>, name: NameId) -> Box<dyn Later> {
        Box::new(Extension {
            family: Arc::clone(self),
            name,
            alone: OnceLock::new(),
        })
    }
}

impl Later for Extension {
    /// The first extension of a family is looked for alone, then all are.
    fn these(&self, index: &Index) -> &[Occurrence] {
        let Family {
            of,
            side,
            asked,
            all,
        } = &*self.family;
        if let Some(alone) = self.alone.get() {
            return alone;
        }
        if all.get().is_none() && !asked.swap(true, Ordering::Relaxed) {
            return self.alone.get_or_init(|| side.one(index, of, self.name));
        }
        let all = all.get_or_init(|| side.all(index, of));
        let found = all.binary_search_by_key(&self.name, |it| it.0);
        &all[found.expect("the extension was met")].1
    }

    fn extended(&self) -> &Occurrences {
        &self.family.of
    }
}
