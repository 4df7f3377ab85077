//! The tree that is drawn: one call tree, or the union of those in a comparison.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use fulcrum_model::call_tree::NO_NODE;

use super::costs::{Cost as _, Costs, Width};
use super::nodes::{Nodes, OneTree, SignedTree, UnionTree, WithNodes};
use super::union::Union;
use crate::profile::any::AnyProfile;
use crate::profile::call_tree::CallTreeProfile;
use crate::profile::call_tree::find;
use crate::profile::call_tree::index::Index;
use crate::profile::call_tree::names::NO_NAME;

/// The sorted children of nodes with more descendants than this are cached.
const MANY: u32 = 1_000;

/// A tree to draw. Prepared when it is first drawn, then shared.
#[derive(Debug)]
pub struct FlameTree {
    base: Base,
    /// Sums of absolute costs, if any cost is negative.
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
    /// The tree of a profile. For a comparison, takes a pass over all its trees. `None` for call graphs, which have no contexts.
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
            _ => unreachable!("Base::One is only made from a call tree"),
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

    /// Whether it is the tree of a comparison.
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

    /// The number of a node's name. Names of functions come first.
    pub fn key(&self, n: u32) -> u32 {
        match &self.base {
            Base::One(profile) => {
                let profile = FlameTree::one(profile);
                match profile.index().name(n) {
                    NO_NAME => profile.names().len() as u32 + profile.index().frame(n),
                    name => name,
                }
            }
            Base::Union(union) => union.keys[n as usize],
        }
    }

    /// The upper bound of the numbers of names.
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

    /// The number of names of functions.
    pub fn functions(&self) -> usize {
        match &self.base {
            Base::One(profile) => FlameTree::one(profile).names().len(),
            Base::Union(union) => union.functions,
        }
    }

    /// The cost of the nodes from `start` to before `end`. In a comparison, the cost in A.
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

    /// The width of the nodes from `start` to before `end`. Never negative.
    pub fn weight(&self, width: Width, start: u32, end: u32) -> f64 {
        self.costs(width, start, end).weight
    }

    /// The costs of the nodes from `start` to before `end`.
    fn costs(&self, width: Width, start: u32, end: u32) -> Costs {
        match &self.base {
            Base::One(profile) => {
                let tree = FlameTree::one_tree(profile);
                match self.sizes(tree.index) {
                    None => tree.cost(start, end).costs(),
                    Some(sizes) => SignedTree { tree, sizes }.cost(start, end),
                }
            }
            Base::Union(union) => union.costs(union.wide(width), start, end),
        }
    }

    fn one_tree(profile: &AnyProfile) -> OneTree<'_> {
        let profile = FlameTree::one(profile);
        OneTree {
            index: profile.index(),
            names: profile.names().len() as u32,
        }
    }

    /// Runs an operation on the nodes.
    pub(super) fn with_nodes<W: WithNodes>(&self, width: Width, with: W) -> W::Answer {
        match &self.base {
            Base::One(profile) => {
                let tree = FlameTree::one_tree(profile);
                match self.sizes(tree.index) {
                    None => with.with(&tree),
                    Some(sizes) => with.with(&SignedTree { tree, sizes }),
                }
            }
            Base::Union(union) => {
                let wide = union.wide(width);
                with.with(&UnionTree { union, wide })
            }
        }
    }

    fn sizes(&self, index: &Index) -> Option<&[i64]> {
        self.sizes.get_or_init(|| sizes(index)).as_deref()
    }

    /// A node's children, or the roots, that are wide enough, the widest first. Ties are in the order of nodes. `nodes` has the
    /// given width.
    pub(super) fn wide_children(
        &self,
        (nodes, width): (&impl Nodes, Width),
        of: Option<u32>,
        least: Least,
        into: &mut Vec<(f64, u32)>,
    ) {
        into.clear();
        let (first, end) = of.map_or((0, self.len()), |n| (n + 1, nodes.end(n)));
        if end - first <= MANY {
            each_sibling(nodes, (first, end), |child| {
                if least.reached(child.0) {
                    into.push(child);
                }
            });
            into.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            return;
        }
        let all = self.children((nodes, width), of);
        let weight = |&n: &u32| (nodes.cost(n, nodes.end(n)).costs().weight, n);
        let wide = all.iter().map(weight);
        into.extend(wide.take_while(|child| least.reached(child.0)));
    }

    /// The children of a node with many descendants, the widest first. Ties are in the order of nodes.
    fn children(&self, (nodes, width): (&impl Nodes, Width), of: Option<u32>) -> Arc<[u32]> {
        let key = (width, of.unwrap_or(NO_NODE));
        let remembered = || self.children.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(children) = remembered().get(&key) {
            return Arc::clone(children);
        }
        let siblings = of.map_or((0, self.len()), |n| (n + 1, nodes.end(n)));
        let mut children: Vec<(f64, u32)> = Vec::new();
        each_sibling(nodes, siblings, |child| children.push(child));
        children.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let children: Arc<[u32]> = children.into_iter().map(|it| it.1).collect();
        remembered().insert(key, Arc::clone(&children));
        children
    }

    /// The occurrences of a path, ascending: the last and the first node of each. Empty if the tree does not have a name.
    pub(super) fn occurrences(&self, path: &[&str]) -> Vec<(u32, u32)> {
        self.path_keys(path)
            .map_or(Vec::new(), |keys| self.occurrences_of(&keys))
    }

    /// The same for a path of names' numbers, which must not be empty.
    pub(super) fn occurrences_of(&self, keys: &[u32]) -> Vec<(u32, u32)> {
        match &self.base {
            Base::One(profile) => find::occurrences(FlameTree::one(profile).index(), keys),
            Base::Union(union) => find::occurrences(&**union, keys),
        }
    }

    /// The nodes with a name of functions, ascending.
    pub(super) fn nodes_of(&self, key: u32) -> &[u32] {
        match &self.base {
            Base::One(profile) => FlameTree::one(profile).index().nodes_of(key),
            Base::Union(union) => union.nodes_of(key),
        }
    }

    /// The numbers of a path's names. `None` if one is unknown or the path is empty.
    pub(super) fn path_keys(&self, path: &[&str]) -> Option<Vec<u32>> {
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

/// Visits siblings, each with its width.
fn each_sibling(nodes: &impl Nodes, (first, end): (u32, u32), mut visit: impl FnMut((f64, u32))) {
    let mut n = first;
    while n < end {
        let next = nodes.end(n);
        visit((nodes.cost(n, next).costs().weight, n));
        n = next;
    }
}

/// The minimum width: a part of a whole.
#[derive(Clone, Copy)]
pub(super) struct Least {
    pub(crate) whole: f64,
    pub(crate) part: f64,
}

impl Least {
    fn reached(self, weight: f64) -> bool {
        weight != 0.0 && weight / self.whole >= self.part
    }
}

/// Prefix sums of absolute costs. `None` if no cost is negative.
fn sizes(index: &Index) -> Option<Vec<i64>> {
    if !index.has_negative() {
        return None;
    }
    let mut sum = 0;
    let sizes = (0..index.len()).map(|n| {
        sum += index.own(n).abs();
        sum
    });
    Some([0].into_iter().chain(sizes).collect())
}
