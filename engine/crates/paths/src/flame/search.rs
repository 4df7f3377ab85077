//! Finds boxes by name.

use super::tree::FlameTree;

/// The calls whose names contain a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matches {
    /// The names, by descending cost.
    pub names: Vec<String>,
    /// Their cost with everything that they call, each node once. In a comparison, the cost in A.
    pub a: i64,
    /// The cost in B of a comparison.
    pub b: i64,
}

impl FlameTree {
    /// Finds the nodes of the whole tree, or of a node's subtree, whose names contain a text, ignoring case. Takes one pass.
    ///
    /// # Panics
    /// When there is no such node.
    pub fn matches(&self, text: &str, root: Option<u32>) -> Matches {
        let wanted = text.to_lowercase();
        let hits: Vec<bool> = (0..self.functions() as u32)
            .map(|key| self.title(key).to_lowercase().contains(&wanted))
            .collect();
        let (mut n, end) = root.map_or((0, self.len()), |n| (n, self.end(n)));
        let mut found = vec![false; hits.len()];
        let mut costs = vec![0_u64; hits.len()];
        let (mut a, mut b, mut covered) = (0, 0, 0);
        while n < end {
            let key = self.key(n) as usize;
            if hits.get(key).copied().unwrap_or(false) {
                found[key] = true;
                if n >= covered {
                    covered = self.end(n);
                    let (in_a, in_b) = (self.a(n, covered), self.b(n, covered));
                    (a, b) = (a + in_a, b + in_b);
                    // Only for sorting. Matching names below others get no cost here.
                    costs[key] += in_a.unsigned_abs().max(in_b.unsigned_abs());
                }
            }
            n += 1;
        }
        let mut keys: Vec<usize> = (0..found.len()).filter(|&key| found[key]).collect();
        keys.sort_by_key(|&key| std::cmp::Reverse(costs[key]));
        Matches {
            names: keys
                .iter()
                .map(|&key| self.title(key as u32).to_owned())
                .collect(),
            a,
            b,
        }
    }
}
