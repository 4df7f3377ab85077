//! Finds the label of each node.

use std::cmp::Reverse;

use super::tree::FlameTree;

/// Which nodes labels cover.
#[derive(Clone, Debug)]
pub struct Painted {
    /// For the nodes from each of these up to the next, the number of the label. The first is 0.
    from: Vec<(u32, u16)>,
}

/// Some nodes with a label: of a subtree or a single one, so that of two strokes that share nodes one is within the other.
struct Stroke {
    start: u32,
    end: u32,
    label: u16,
}

impl FlameTree {
    /// The labels of nodes. If several labels cover a node, the one whose path ends further down wins. A label is a list of paths.
    pub fn painted(&self, labels: &[Vec<Vec<&str>>]) -> Painted {
        let mut strokes: Vec<Stroke> = Vec::new();
        for (label, paths) in (1_u16..).zip(labels) {
            let mut stroke = |start, end| strokes.push(Stroke { start, end, label });
            for (last, first) in paths.iter().flat_map(|path| self.occurrences(path)) {
                let mut n = last;
                while n != first {
                    n = self.parent(n).expect("the path's first node is above");
                    stroke(n, n + 1);
                }
                stroke(last, self.end(last));
            }
        }
        // Outer ones first. For one node, a path that continues below it before one that ends there.
        strokes.sort_by_key(|it| (it.start, it.end != it.start + 1, Reverse(it.end), it.label));
        Painted::of_sorted(&strokes)
    }
}

impl Painted {
    /// The later of two strokes covers the other.
    fn of_sorted(strokes: &[Stroke]) -> Self {
        let mut painted = Painted { from: vec![(0, 0)] };
        // The ends and labels of strokes that cover the current node, each within the one before.
        let mut open: Vec<(u32, u16)> = Vec::new();
        for stroke in strokes {
            painted.close(&mut open, stroke.start);
            while open.pop_if(|it| it.0 <= stroke.end).is_some() {}
            painted.set(stroke.start, stroke.label);
            open.push((stroke.end, stroke.label));
        }
        painted.close(&mut open, u32::MAX);
        painted
    }

    /// Ends the strokes that end before a node or at it.
    fn close(&mut self, open: &mut Vec<(u32, u16)>, n: u32) {
        while let Some((end, _)) = open.pop_if(|it| it.0 <= n) {
            self.set(end, open.last().map_or(0, |it| it.1));
        }
    }

    fn set(&mut self, from: u32, label: u16) {
        match self.from.last_mut() {
            Some(last) if last.0 == from => last.1 = label,
            Some(last) if last.1 == label => {}
            _ => self.from.push((from, label)),
        }
    }

    /// The number, counted from 1, of the label that covers a node, or 0.
    pub fn label(&self, n: u32) -> u16 {
        let after = self.from.partition_point(|it| it.0 <= n);
        self.from[after - 1].1
    }
}
