//! Finds the label of each node.

use super::tree::FlameTree;

impl FlameTree {
    /// For each node the number, counted from 1, of the label that covers it, or 0. If several labels cover a node, the one whose
    /// path ends further down wins. A label is a list of paths.
    pub fn painted(&self, labels: &[Vec<Vec<&str>>]) -> Vec<u16> {
        let mut strokes: Vec<(u32, u32, u16)> = Vec::new();
        for (label, paths) in (1_u16..).zip(labels) {
            for (last, first) in paths.iter().flat_map(|path| self.occurrences(path)) {
                let mut n = last;
                while n != first {
                    n = self.parent(n).expect("the path's first node is above");
                    strokes.push((n, n + 1, label));
                }
                strokes.push((last, self.end(last), label));
            }
        }
        // Outer ones first. For one node, a path that continues below it before one that ends there.
        strokes.sort_by_key(|&(start, end, label)| {
            (start, end != start + 1, std::cmp::Reverse(end), label)
        });
        let mut painted = vec![0; self.len() as usize];
        for (start, end, label) in strokes {
            painted[start as usize..end as usize].fill(label);
        }
        painted
    }
}
