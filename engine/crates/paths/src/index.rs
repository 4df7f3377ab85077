//! A call tree prepared for the search: prefix sums of the cost, and the nodes of each name.

use std::sync::{Arc, OnceLock};

use fulcrum_model::CallTree;
use fulcrum_model::call_tree::NO_NODE;

use crate::calls::Calls;
use crate::find::Named;
use crate::names::{NO_NAME, NameId};
use crate::region::Sums;

/// What a path of at most so many names costs is summed node by node.
const WALKED: usize = 8;

/// The same where sums of longer ones are not known yet.
const FAR: usize = 64;

/// A call tree and one of its value types. 20 bytes a node besides the tree's, 32 when steps are taken.
#[derive(Debug)]
pub(crate) struct Index {
    tree: Arc<CallTree>,
    /// Of each node what is looked at together, and at last the cost of all.
    nodes_at: Vec<NodeAt>,
    /// What each node and its ancestors cost. Made when first needed.
    from_root: OnceLock<Vec<i64>>,
    /// Nodes by name, ascending within each name.
    nodes: Vec<u32>,
    /// Where each name's nodes begin, and at last where they end.
    starts: Vec<u32>,
    /// What each name costs.
    flat: Vec<Flat>,
    /// No two siblings have the same name.
    siblings_differ: bool,
    /// Which names call which. Made when it is asked for: not everybody looks at callers and callees.
    calls: OnceLock<Calls>,
}

/// What a path of one name costs.
#[derive(Clone, Copy, Debug, Default)]
struct Flat {
    base: i64,
    cum: i64,
    /// Some of its nodes are below others.
    nested: bool,
}

/// What is read of a node at the same time: so it comes from memory at once.
#[derive(Clone, Copy, Debug)]
struct NodeAt {
    /// The cost of all nodes before it.
    before: i64,
    /// The node after its last descendant.
    end: u32,
    name: NameId,
}

impl Index {
    /// `names` is how many names all trees of the profile have, `name_of_frame` the name of each frame of this one.
    pub fn new(
        tree: Arc<CallTree>,
        value_type: usize,
        names: usize,
        name_of_frame: Vec<NameId>,
    ) -> Self {
        let mut nodes_at = Vec::with_capacity(tree.len() as usize + 1);
        let mut before = 0;
        let each = tree.ends().iter().zip(tree.frame_ids());
        for ((&end, &frame), cost) in each.zip(tree.values(value_type)) {
            let name = name_of_frame[frame as usize];
            nodes_at.push(NodeAt { before, end, name });
            before += cost;
        }
        nodes_at.push(NodeAt {
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
            nodes_at,
            from_root: OnceLock::new(),
            nodes: Vec::new(),
            starts: Vec::new(),
            flat: Vec::new(),
            siblings_differ,
            calls: OnceLock::new(),
        };
        index.group(names);
        index.flatten(names);
        index
    }

    /// Groups the nodes by name: a counting sort.
    fn group(&mut self, names: usize) {
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
        self.nodes = vec![0; starts[names] as usize];
        for n in 0..self.len() {
            let name = self.name(n);
            if name != NO_NAME {
                let at = &mut next[name as usize];
                self.nodes[*at as usize] = n;
                *at += 1;
            }
        }
        self.starts = starts;
    }

    /// Base and cum of each name. A node below another of its name is in that one's cum already.
    fn flatten(&mut self, names: usize) {
        let mut flat = vec![Flat::default(); names];
        let mut covered = vec![0_u32; names];
        for n in 0..self.len() {
            let name = self.name(n);
            if name != NO_NAME {
                let flat = &mut flat[name as usize];
                flat.base += self.own(n);
                let covered = &mut covered[name as usize];
                if n >= *covered {
                    flat.cum += self.subtree(n);
                    *covered = self.end(n);
                } else {
                    flat.nested = true;
                }
            }
        }
        self.flat = flat;
    }

    pub fn len(&self) -> u32 {
        self.tree.len()
    }

    pub fn tree(&self) -> &CallTree {
        &self.tree
    }

    /// The number of the node's frame.
    pub fn frame(&self, n: u32) -> u32 {
        self.tree.frame_ids()[n as usize]
    }

    /// [`NO_NODE`] for roots.
    pub fn parent(&self, n: u32) -> u32 {
        self.tree.parents()[n as usize]
    }

    pub fn parents(&self) -> &[u32] {
        self.tree.parents()
    }

    /// The node after the last descendant.
    pub fn end(&self, n: u32) -> u32 {
        self.nodes_at[n as usize].end
    }

    /// [`NO_NAME`] when the node cannot be part of a path.
    pub fn name(&self, n: u32) -> NameId {
        self.nodes_at[n as usize].name
    }

    /// The name of the parent. `None` when the node is a root or its parent cannot be part of a path.
    pub fn parent_name(&self, n: u32) -> Option<(u32, NameId)> {
        let parent = self.parent(n);
        if parent == NO_NODE {
            return None;
        }
        let name = self.name(parent);
        (name != NO_NAME).then_some((parent, name))
    }

    /// The node's own cost.
    pub fn own(&self, n: u32) -> i64 {
        self.between(n, n + 1)
    }

    /// The cost of the node and all its descendants.
    pub fn subtree(&self, n: u32) -> i64 {
        self.between(n, self.end(n))
    }

    /// The cost of the nodes from `start` to before `end`.
    pub fn between(&self, start: u32, end: u32) -> i64 {
        self.nodes_at[end as usize].before - self.nodes_at[start as usize].before
    }

    /// The own cost of the nodes from `first` down to `last`, both included.
    pub fn along(&self, first: u32, last: u32) -> i64 {
        // Of short paths without the sums of all nodes, which are far apart in memory.
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
    pub fn prepare_steps(&self) {
        self.calls();
        self.root_sums();
    }

    /// What each node and its ancestors cost. Takes a pass over the nodes the first time.
    fn root_sums(&self) -> &[i64] {
        self.from_root.get_or_init(|| self.sum_from_roots())
    }

    fn sum_from_roots(&self) -> Vec<i64> {
        let mut sums: Vec<i64> = Vec::with_capacity(self.len() as usize);
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
    pub fn total(&self) -> i64 {
        self.between(0, self.len())
    }

    /// How many names all trees of the profile have.
    pub fn names(&self) -> usize {
        self.flat.len()
    }

    pub fn siblings_differ(&self) -> bool {
        self.siblings_differ
    }

    /// The nodes with this name, ascending.
    pub fn nodes_of(&self, name: NameId) -> &[u32] {
        let name = name as usize;
        &self.nodes[self.starts[name] as usize..self.starts[name + 1] as usize]
    }

    /// Which names call which. Takes a pass over the nodes the first time.
    pub fn calls(&self) -> &Calls {
        self.calls.get_or_init(|| Calls::of(self, &self.starts))
    }

    /// The same, if somebody asked before.
    pub fn known_calls(&self) -> Option<&Calls> {
        self.calls.get()
    }

    /// Base and cum of this name.
    pub fn flat(&self, name: NameId) -> (i64, i64) {
        let Flat { base, cum, .. } = self.flat[name as usize];
        (base, cum)
    }

    /// Whether some of this name's nodes are below others.
    pub fn nested(&self, name: NameId) -> bool {
        self.flat[name as usize].nested
    }
}

impl Sums for Index {
    fn before(&self, n: u32) -> i64 {
        self.nodes_at[n as usize].before
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
}
