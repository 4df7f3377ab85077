//! Which label a node has.

use super::tree::FlameTree;

impl FlameTree {
    /// For each node the number of the label that covers it, from 1; 0: none. Where labels cover the same, that whose path
    /// ends further below counts. Labels are lists of paths.
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
        // Outer ones first; of one node, the path that goes on above it before the one that ends there.
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
