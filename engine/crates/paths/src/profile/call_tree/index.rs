//! A call tree prepared for the search: prefix sums of the cost, and the nodes of each name.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use fulcrum_memory::in_large_pages;
use fulcrum_model::call_tree::NO_NODE;
use fulcrum_model::{CallTree, both};

use crate::profile::call_tree::calls::CallTable;
use crate::profile::call_tree::named::{Costed, Named};
use crate::profile::call_tree::names::{NO_NAME, NameId};
use crate::profile::call_tree::region::{Cover, Sums};

/// With at least this many nodes, a second thread is worth starting.
const MANY: u32 = 100_000;

/// The cost of a path with at most this many names is summed node by node.
pub(crate) const WALKED: usize = 8;

/// The same, while the sums for longer paths are not known yet.
const FAR: usize = 64;

/// A call tree and one of its value types. Takes 20 bytes a node besides the tree, 32 once steps were prepared, and a bit.
#[derive(Debug)]
pub(crate) struct Index {
    tree: Arc<CallTree>,
    name_of_frame: Vec<NameId>,
    /// For each node the data that is read together; the last entry has the total cost.
    nodes_data: Vec<NodeData>,
    /// The cost of each node and its ancestors. Computed on first use.
    from_root: OnceLock<Vec<i64>>,
    /// Nodes by name, ascending within each name.
    nodes: Vec<u32>,
    /// Where each name's nodes begin, and where the last ones end.
    starts: Vec<u32>,
    /// The cost of each name.
    name_costs: Vec<NameCost>,
    /// The nodes that are below others of their name.
    inner: Cover,
    /// Some named node has a child that cannot be part of a path.
    containers_within: bool,
    /// Some node has a cost below 0.
    negative: bool,
    /// No two siblings have the same name.
    siblings_differ: bool,
    /// Which names call which. Computed on first use, because not every user looks at callers and callees.
    calls: OnceLock<CallTable>,
}

/// The cost of a path with one name.
#[derive(Clone, Copy, Debug, Default)]
struct NameCost {
    base: i64,
    cum: i64,
    /// Whether some of its nodes are below others.
    nested: bool,
}

/// What one pass over the nodes finds out.
struct Summed {
    names: Vec<NameCost>,
    inner: Cover,
    containers_within: bool,
}

/// The data of a node that is read together, kept together in memory.
#[derive(Clone, Copy, Debug)]
struct NodeData {
    /// The cost of all nodes before it.
    before: i64,
    /// The node after its last descendant.
    end: u32,
    name: NameId,
}

impl Index {
    /// `names` is the number of names in all trees of the profile, `name_of_frame` the name of each frame of this tree.
    pub(crate) fn new(
        tree: Arc<CallTree>,
        value_type: usize,
        names: usize,
        name_of_frame: Vec<NameId>,
    ) -> Self {
        let mut nodes_data = in_large_pages(Vec::with_capacity(tree.len() as usize + 1));
        let (mut before, mut negative) = (0, false);
        let each = tree.ends().iter().zip(tree.frame_ids());
        for ((&end, &frame), cost) in each.zip(tree.values(value_type)) {
            let name = name_of_frame[frame as usize];
            nodes_data.push(NodeData { before, end, name });
            before += cost;
            negative |= *cost < 0;
        }
        nodes_data.push(NodeData {
            before,
            end: tree.len(),
            name: NO_NAME,
        });
        let mut seen = vec![false; names];
        let functions = name_of_frame.iter().filter(|&&name| name != NO_NAME);
        let siblings_differ = functions
            .map(|&name| std::mem::replace(&mut seen[name as usize], true))
            .all(|twice| !twice);
        let mut index = Index {
            tree,
            name_of_frame,
            nodes_data,
            from_root: OnceLock::new(),
            nodes: Vec::new(),
            starts: Vec::new(),
            name_costs: Vec::new(),
            inner: Cover::new(0),
            containers_within: false,
            negative,
            siblings_differ,
            calls: OnceLock::new(),
        };
        let ((nodes, starts), summed) = match index.len() < MANY {
            true => (index.group(names), index.sum_names(names)),
            false => both(|| index.group(names), || index.sum_names(names)),
        };
        (index.nodes, index.starts) = (nodes, starts);
        index.name_costs = summed.names;
        index.inner = summed.inner;
        index.containers_within = summed.containers_within;
        index
    }

    /// The nodes by name, and where each name's begin: a counting sort.
    fn group(&self, names: usize) -> (Vec<u32>, Vec<u32>) {
        let mut starts = vec![0_u32; names + 1];
        for n in 0..self.len() {
            let name = self.name(n);
            if name != NO_NAME {
                starts[name as usize + 1] += 1;
            }
        }
        for name in 0..names {
            starts[name + 1] += starts[name];
        }
        let mut next = starts.clone();
        let mut nodes = in_large_pages(vec![0; starts[names] as usize]);
        for n in 0..self.len() {
            let name = self.name(n);
            if name != NO_NAME {
                let at = &mut next[name as usize];
                nodes[*at as usize] = n;
                *at += 1;
            }
        }
        (nodes, starts)
    }

    /// Sums base and cum of each name. The cum already contains nodes that are below others of the same name.
    fn sum_names(&self, names: usize) -> Summed {
        let mut all = vec![NameCost::default(); names];
        let mut covered = vec![0_u32; names];
        let mut inner = Cover::new(self.len());
        let mut containers_within = false;
        for n in 0..self.len() {
            let name = self.name(n);
            if name == NO_NAME {
                containers_within |= self.parent_name(n).is_some();
            } else {
                let costs = &mut all[name as usize];
                costs.base += self.own(n);
                let covered = &mut covered[name as usize];
                if n >= *covered {
                    costs.cum += self.subtree(n);
                    *covered = self.end(n);
                } else {
                    costs.nested = true;
                    inner.insert(n);
                }
            }
        }
        Summed {
            names: all,
            inner,
            containers_within,
        }
    }

    pub(crate) fn len(&self) -> u32 {
        self.tree.len()
    }

    pub(crate) fn tree(&self) -> &CallTree {
        &self.tree
    }

    /// The number of the node's frame.
    pub(crate) fn frame(&self, n: u32) -> u32 {
        self.tree.frame_ids()[n as usize]
    }

    /// [`NO_NAME`] when its nodes cannot be part of a path.
    pub(crate) fn name_of_frame(&self, frame: u32) -> NameId {
        self.name_of_frame[frame as usize]
    }

    /// [`NO_NODE`] for roots.
    pub(crate) fn parent(&self, n: u32) -> u32 {
        self.tree.parents()[n as usize]
    }

    pub(crate) fn parents(&self) -> &[u32] {
        self.tree.parents()
    }

    /// The node after the last descendant.
    pub(crate) fn end(&self, n: u32) -> u32 {
        self.nodes_data[n as usize].end
    }

    /// [`NO_NAME`] when the node cannot be part of a path.
    pub(crate) fn name(&self, n: u32) -> NameId {
        self.nodes_data[n as usize].name
    }

    /// The name of the parent. `None` when the node is a root or its parent cannot be part of a path.
    pub(crate) fn parent_name(&self, n: u32) -> Option<(u32, NameId)> {
        let parent = self.parent(n);
        if parent == NO_NODE {
            return None;
        }
        let name = self.name(parent);
        (name != NO_NAME).then_some((parent, name))
    }

    /// The node's own cost.
    pub(crate) fn own(&self, n: u32) -> i64 {
        self.between(n, n + 1)
    }

    /// The cost of the node and all its descendants.
    pub(crate) fn subtree(&self, n: u32) -> i64 {
        self.between(n, self.end(n))
    }

    /// The cost of the nodes from `start` to before `end`.
    pub(crate) fn between(&self, start: u32, end: u32) -> i64 {
        self.nodes_data[end as usize].before - self.nodes_data[start as usize].before
    }

    /// The own cost of the nodes from `first` down to `last`, both included.
    pub(crate) fn along(&self, first: u32, last: u32) -> i64 {
        // Short paths do without the sums from the root, which are far apart in memory.
        let (mut n, mut sum) = (last, 0);
        let most = match self.from_root.get() {
            Some(_) => WALKED,
            None => FAR,
        };
        for _ in 0..most {
            sum += self.own(n);
            if n == first {
                return sum;
            }
            n = self.parent(n);
        }
        let sums = self.root_sums();
        let above = match self.parent(first) {
            NO_NODE => 0,
            parent => sums[parent as usize],
        };
        sums[last as usize] - above
    }

    /// Finds out which names call which, and what each node and its ancestors cost.
    pub(crate) fn prepare_steps(&self) {
        self.calls();
        self.root_sums();
    }

    /// What each node and its ancestors cost. Takes a pass over the nodes the first time.
    fn root_sums(&self) -> &[i64] {
        self.from_root.get_or_init(|| self.sum_from_roots())
    }

    fn sum_from_roots(&self) -> Vec<i64> {
        let mut sums: Vec<i64> = in_large_pages(Vec::with_capacity(self.len() as usize));
        for (n, &parent) in (0..).zip(self.parents()) {
            let above = match parent {
                NO_NODE => 0,
                parent => sums[parent as usize],
            };
            sums.push(above + self.own(n));
        }
        sums
    }

    /// The cost of the tree.
    pub(crate) fn total(&self) -> i64 {
        self.between(0, self.len())
    }

    /// How many names all trees of the profile have.
    pub(crate) fn names(&self) -> usize {
        self.name_costs.len()
    }

    /// Whether some node has a cost below 0.
    pub(crate) fn has_negative(&self) -> bool {
        self.negative
    }

    pub(crate) fn siblings_differ(&self) -> bool {
        self.siblings_differ
    }

    /// The nodes with this name, ascending.
    pub(crate) fn nodes_of(&self, name: NameId) -> &[u32] {
        let name = name as usize;
        &self.nodes[self.starts[name] as usize..self.starts[name + 1] as usize]
    }

    /// The nodes with this name that are not below others of it, ascending.
    pub(crate) fn outermost_of(&self, name: NameId) -> Cow<'_, [u32]> {
        let all = self.nodes_of(name);
        if !self.nested(name) {
            return Cow::Borrowed(all);
        }
        let outermost = all.iter().copied().filter(|&n| !self.is_inner(n));
        Cow::Owned(outermost.collect())
    }

    /// The nodes with this name that are neither below nor above others of it, and those that are, both ascending.
    pub(crate) fn alone_and_nested(&self, name: NameId) -> (Vec<u32>, Vec<u32>) {
        let (mut alone, mut nested) = (Vec::new(), Vec::new());
        // The last outermost node. All below it come next.
        let mut outer = None;
        for &n in self.nodes_of(name) {
            if self.is_inner(n) {
                nested.extend(outer.take());
                nested.push(n);
            } else {
                alone.extend(outer.replace(n));
            }
        }
        alone.extend(outer);
        (alone, nested)
    }

    /// Which names call which. The first call takes a pass over the nodes.
    pub(crate) fn calls(&self) -> &CallTable {
        self.calls.get_or_init(|| CallTable::of(self, &self.starts))
    }

    /// The same, if it has been computed.
    pub(crate) fn known_calls(&self) -> Option<&CallTable> {
        self.calls.get()
    }

    /// Base and cum of this name.
    pub(crate) fn name_cost(&self, name: NameId) -> (i64, i64) {
        let NameCost { base, cum, .. } = self.name_costs[name as usize];
        (base, cum)
    }

    /// Whether the node is below another one of its name. False for nodes that cannot be part of a path.
    pub(crate) fn is_inner(&self, n: u32) -> bool {
        self.inner.has(n)
    }

    /// Whether some node that can be part of a path has a child that cannot.
    pub(crate) fn containers_within(&self) -> bool {
        self.containers_within
    }

    /// Whether some of this name's nodes are below others.
    pub(crate) fn nested(&self, name: NameId) -> bool {
        self.name_costs[name as usize].nested
    }
}

impl Sums for Index {
    fn before(&self, n: u32) -> i64 {
        self.nodes_data[n as usize].before
    }
}

impl Costed for Index {
    fn is_inner(&self, n: u32) -> bool {
        self.is_inner(n)
    }
}

impl Named for Index {
    fn nodes_of(&self, name: NameId) -> &[u32] {
        self.nodes_of(name)
    }

    fn name(&self, n: u32) -> NameId {
        self.name(n)
    }

    fn parent(&self, n: u32) -> u32 {
        self.parent(n)
    }

    fn end(&self, n: u32) -> u32 {
        self.end(n)
    }

    fn called(&self, caller: NameId, callee: NameId) -> Option<&[u32]> {
        let calls = self.known_calls()?;
        let call = calls.find(caller, callee);
        Some(call.map_or(&[], |call| calls.nodes(call.at)))
    }
}
