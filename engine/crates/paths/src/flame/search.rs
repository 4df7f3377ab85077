//! What a text matches.

use super::tree::FlameTree;

/// The calls whose names hold a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matches {
    /// The names, those that cost most first.
    pub names: Vec<String>,
    /// Their cost with what they call, each node once; in a comparison A's.
    pub a: i64,
    /// In a comparison, B's.
    pub b: i64,
}

impl FlameTree {
    /// The nodes of the whole tree, or below a node, whose names hold a text, in upper or lower case. One pass.
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
                    // Names below others that match have cost, too; here it only sorts.
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
