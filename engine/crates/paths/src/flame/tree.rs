//! The tree that is drawn: one call tree, or the union of those of a comparison.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use fulcrum_model::call_tree::NO_NODE;

use super::costs::{Costs, Width};
use super::union::Union;
use crate::any::AnyProfile;
use crate::call_tree::CallTreeProfile;
use crate::find;
use crate::index::Index;
use crate::names::NO_NAME;

/// The children of nodes with more descendants than this are remembered in their order.
const MANY: u32 = 1_000;

/// A tree to draw. Prepared when it is first drawn; shared by all who draw it.
#[derive(Debug)]
pub struct FlameTree {
    base: Base,
    /// Sums of the costs without their signs, when any is negative.
    sizes: OnceLock<Option<Vec<i64>>>,
    children: Mutex<Children>,
}

/// The children of nodes, the widest first.
type Children = HashMap<(Width, u32), Arc<[u32]>>;

#[derive(Debug)]
enum Base {
    One(Arc<AnyProfile>),
    Union(Box<Union>),
}

impl FlameTree {
    /// The tree of a profile; that of a comparison takes a pass over all its trees. `None` for call graphs, which have no
    /// contexts.
    pub fn new(profile: &Arc<AnyProfile>) -> Option<Self> {
        let base = match &**profile {
            AnyProfile::Tree(_) => Base::One(Arc::clone(profile)),
            AnyProfile::Comparison(compared) => Base::Union(Box::new(Union::of(compared))),
            AnyProfile::Graph(_) | AnyProfile::GraphComparison(_) => return None,
        };
        Some(FlameTree {
            base,
            sizes: OnceLock::new(),
            children: Mutex::default(),
        })
    }

    fn one(profile: &AnyProfile) -> &CallTreeProfile {
        match profile {
            AnyProfile::Tree(tree) => tree,
            _ => unreachable!("a base of one tree is made of nothing else"),
        }
    }

    /// The number of nodes.
    pub fn len(&self) -> u32 {
        match &self.base {
            Base::One(profile) => FlameTree::one(profile).index().len(),
            Base::Union(union) => union.len(),
        }
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it is a comparison's.
    pub fn is_comparison(&self) -> bool {
        matches!(self.base, Base::Union(_))
    }

    /// `None` for roots.
    pub fn parent(&self, n: u32) -> Option<u32> {
        let parent = match &self.base {
            Base::One(profile) => FlameTree::one(profile).index().parent(n),
            Base::Union(union) => union.parents[n as usize],
        };
        (parent != NO_NODE).then_some(parent)
    }

    /// The node after the last descendant.
    pub fn end(&self, n: u32) -> u32 {
        match &self.base {
            Base::One(profile) => FlameTree::one(profile).index().end(n),
            Base::Union(union) => union.ends[n as usize],
        }
    }

    /// The number of a node's name. Those of functions come first.
    pub fn key(&self, n: u32) -> u32 {
        match &self.base {
            Base::One(profile) => {
                let profile = FlameTree::one(profile);
                one_key(profile.index(), profile.names().len() as u32, n)
            }
            Base::Union(union) => union.keys[n as usize],
        }
    }

    /// How many numbers of names there can be.
    pub fn keys(&self) -> usize {
        match &self.base {
            Base::One(profile) => {
                let profile = FlameTree::one(profile);
                profile.names().len() + profile.index().tree().frames().len()
            }
            Base::Union(union) => union.titles.len(),
        }
    }

    /// A name by its number.
    pub fn title(&self, key: u32) -> &str {
        match &self.base {
            Base::One(profile) => {
                let profile = FlameTree::one(profile);
                match (key as usize).checked_sub(profile.names().len()) {
                    None => profile.names().get(key),
                    Some(frame) => &profile.index().tree().frames()[frame].name,
                }
            }
            Base::Union(union) => &union.titles[key as usize],
        }
    }

    /// How many names are of functions.
    pub fn functions(&self) -> usize {
        match &self.base {
            Base::One(profile) => FlameTree::one(profile).names().len(),
            Base::Union(union) => union.functions,
        }
    }

    /// The cost of the nodes from `start` to before `end`; in a comparison A's.
    pub fn a(&self, start: u32, end: u32) -> i64 {
        match &self.base {
            Base::One(profile) => FlameTree::one(profile).index().between(start, end),
            Base::Union(union) => union.a.between(start, end).round() as i64,
        }
    }

    /// The cost of the nodes from `start` to before `end` in B. 0 without a comparison.
    pub fn b(&self, start: u32, end: u32) -> i64 {
        match &self.base {
            Base::One(_) => 0,
            Base::Union(union) => union.b.between(start, end).round() as i64,
        }
    }

    /// Whether A and whether B have this node.
    pub(super) fn present(&self, n: u32) -> (bool, bool) {
        match &self.base {
            Base::One(_) => (true, false),
            Base::Union(union) => union.present(n),
        }
    }

    /// How wide the nodes from `start` to before `end` are together; never negative.
    pub fn weight(&self, width: Width, start: u32, end: u32) -> f64 {
        self.costs(width, start, end).weight
    }

    /// What the nodes from `start` to before `end` cost together.
    pub(super) fn costs(&self, width: Width, start: u32, end: u32) -> Costs {
        match &self.base {
            Base::One(profile) => {
                let index = FlameTree::one(profile).index();
                one_costs(index, self.sizes(index), start, end)
            }
            Base::Union(union) => union.costs(union.wide(width), start, end),
        }
    }

    fn sizes(&self, index: &Index) -> Option<&[i64]> {
        self.sizes.get_or_init(|| sizes(index)).as_deref()
    }

    /// The children of these nodes, node by node: the number of its name, itself, what it and all below it cost.
    pub(super) fn each_child(
        &self,
        width: Width,
        of: &[u32],
        mut visit: impl FnMut(u32, u32, Costs),
    ) {
        match &self.base {
            Base::One(profile) => {
                let profile = FlameTree::one(profile);
                let (index, names) = (profile.index(), profile.names().len() as u32);
                let sizes = self.sizes(index);
                children(of, index.tree().ends(), |n, end| {
                    let costs = one_costs(index, sizes, n, end);
                    visit(one_key(index, names, n), n, costs);
                });
            }
            Base::Union(union) => {
                let wide = union.wide(width);
                children(of, &union.ends, |n, end| {
                    visit(union.keys[n as usize], n, union.costs(wide, n, end));
                });
            }
        }
    }

    /// A node's children, or the roots, the widest first; equal ones in their order.
    pub fn children(&self, width: Width, of: Option<u32>) -> Arc<[u32]> {
        let (first, end) = of.map_or((0, self.len()), |n| (n + 1, self.end(n)));
        let many = end - first > MANY;
        let key = (width, of.unwrap_or(NO_NODE));
        let remembered = || self.children.lock().unwrap_or_else(PoisonError::into_inner);
        if many && let Some(children) = remembered().get(&key) {
            return Arc::clone(children);
        }
        let mut children: Vec<(f64, u32)> = Vec::new();
        let mut n = first;
        while n < end {
            let next = self.end(n);
            children.push((self.weight(width, n, next), n));
            n = next;
        }
        children.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let children: Arc<[u32]> = children.into_iter().map(|it| it.1).collect();
        if many {
            remembered().insert(key, Arc::clone(&children));
        }
        children
    }

    /// The nodes whose names end a path and whose callers are the names before it, each with where the path begins;
    /// ascending. Names that the tree does not have: none.
    pub(super) fn occurrences(&self, path: &[&str]) -> Vec<(u32, u32)> {
        let Some(keys) = self.path_keys(path) else {
            return Vec::new();
        };
        match &self.base {
            Base::One(profile) => find::occurrences(FlameTree::one(profile).index(), &keys),
            Base::Union(union) => find::occurrences(&**union, &keys),
        }
    }

    fn path_keys(&self, path: &[&str]) -> Option<Vec<u32>> {
        match &self.base {
            Base::One(profile) => FlameTree::one(profile).names().path(path),
            Base::Union(union) => {
                let functions = &union.titles[..union.functions];
                let find =
                    |name: &&str| functions.binary_search_by(|it| it.as_str().cmp(name)).ok();
                let keys: Option<Vec<u32>> =
                    path.iter().map(|name| Some(find(name)? as u32)).collect();
                keys.filter(|keys| !keys.is_empty())
            }
        }
    }
}

/// The number of a node's name in a tree with that many names of functions.
fn one_key(index: &Index, names: u32, n: u32) -> u32 {
    match index.name(n) {
        NO_NAME => names + index.frame(n),
        name => name,
    }
}

fn one_costs(index: &Index, sizes: Option<&[i64]>, start: u32, end: u32) -> Costs {
    let a = index.between(start, end);
    let size = match sizes {
        None => a,
        Some(sums) => sums[end as usize] - sums[start as usize],
    };
    Costs {
        a,
        b: 0,
        weight: size as f64,
    }
}

/// Each child of these nodes, and where its descendants end.
fn children(of: &[u32], ends: &[u32], mut visit: impl FnMut(u32, u32)) {
    for &parent in of {
        let (mut n, last) = (parent + 1, ends[parent as usize]);
        while n < last {
            let end = ends[n as usize];
            visit(n, end);
            n = end;
        }
    }
}

/// Sums of the costs without their signs; `None` when no cost is negative.
fn sizes(index: &Index) -> Option<Vec<i64>> {
    if (0..index.len()).all(|n| index.own(n) >= 0) {
        return None;
    }
    let mut sum = 0;
    let sizes = (0..index.len()).map(|n| {
        sum += index.own(n).abs();
        sum
    });
    Some([0].into_iter().chain(sizes).collect())
}
