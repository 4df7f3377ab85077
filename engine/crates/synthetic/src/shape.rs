//! The shape of a call tree, as in the columns of the paper's Tables 1 and 5.

use fulcrum_model::CallTree;
use fulcrum_model::call_tree::NO_NODE;

/// The shape of a call tree. The mean out-degree is (nodes − 1) / (nodes − leaves).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeShape {
    /// The number of nodes.
    pub nodes: u32,
    /// The number of leaves.
    pub leaves: u32,
    /// The greatest depth. The root's is 0.
    pub deepest: u32,
    /// The arithmetic mean of the nodes' depths.
    pub mean_depth: f64,
    /// The greatest out-degree.
    pub widest: u32,
}

impl TreeShape {
    /// Trade3 without security (Table 1).
    pub const TRADE3_DISABLED: TreeShape = TreeShape::new(413_637, 189_386, 135, 59.9, 69);
    /// Trade3 with security (Table 1).
    pub const TRADE3_ENABLED: TreeShape = TreeShape::new(480_994, 230_248, 135, 64.6, 109);
    /// SPECjAppServer2002 (Table 5).
    pub const SPECJ: TreeShape = TreeShape::new(1_096_416, 516_173, 77, 34.2, 74);
    /// XML (Table 5).
    pub const XML: TreeShape = TreeShape::new(24_321, 11_107, 86, 21.9, 62);
    /// Ten million nodes, otherwise as SPECjAppServer2002.
    pub const TEN_MILLION: TreeShape = TreeShape::new(10_000_000, 4_708_000, 77, 34.2, 74);

    const fn new(nodes: u32, leaves: u32, deepest: u32, mean_depth: f64, widest: u32) -> Self {
        TreeShape {
            nodes,
            leaves,
            deepest,
            mean_depth,
            widest,
        }
    }

    /// The shape of a smaller tree with the same proportions: equally deep, with a fraction of the nodes.
    #[must_use]
    pub fn scaled(self, fraction: f64) -> Self {
        let scaled = |count: u32| (f64::from(count) * fraction).round() as u32;
        TreeShape {
            nodes: scaled(self.nodes),
            leaves: scaled(self.leaves),
            ..self
        }
    }

    /// The shape of a tree. All 0 when it is empty.
    pub fn of(tree: &CallTree) -> Self {
        let mut depths: Vec<u32> = Vec::with_capacity(tree.len() as usize);
        let mut degrees = vec![0; tree.len() as usize];
        for &parent in tree.parents() {
            if parent == NO_NODE {
                depths.push(0);
            } else {
                depths.push(depths[parent as usize] + 1);
                degrees[parent as usize] += 1;
            }
        }
        let sum: u64 = depths.iter().map(|&it| u64::from(it)).sum();
        TreeShape {
            nodes: tree.len(),
            leaves: degrees.iter().filter(|&&it| it == 0).count() as u32,
            deepest: depths.iter().max().copied().unwrap_or(0),
            mean_depth: sum as f64 / f64::from(tree.len()).max(1.0),
            widest: degrees.iter().max().copied().unwrap_or(0),
        }
    }
}
