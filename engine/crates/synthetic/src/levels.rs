//! The number of nodes at each depth of a tree, and how many of them have children.

use crate::shape::TreeShape;

/// How narrowly depths are distributed around their mean: the sum of both parameters of a beta distribution.
const FOCUS: f64 = 9.0;

/// A level has at most this many times as many nodes as the level above.
const GROWTH: f64 = 6.0;

/// One depth of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    pub(crate) nodes: u32,
    /// The number of nodes with children.
    pub(crate) interior: u32,
}

/// The levels of a tree with exactly the shape's nodes, leaves and greatest depth, and about its mean depth.
pub(crate) fn levels(shape: &TreeShape) -> Vec<Level> {
    // Clamping moves the mean, so we search for the mean of the distribution that compensates for it.
    let (mut low, mut high) = (0.02, 0.98);
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        let mean = mean_depth(&populations(shape, middle));
        if mean < shape.mean_depth {
            low = middle;
        } else {
            high = middle;
        }
    }
    let nodes = populations(shape, (low + high) / 2.0);
    let interior = interiors(shape, &nodes);
    let levels = nodes.into_iter().zip(interior);
    levels
        .map(|(nodes, interior)| Level { nodes, interior })
        .collect()
}

fn mean_depth(nodes: &[u32]) -> f64 {
    let sum: f64 = (0..)
        .zip(nodes)
        .map(|(k, &n)| f64::from(k) * f64::from(n))
        .sum();
    sum / nodes.iter().map(|&n| f64::from(n)).sum::<f64>()
}

/// Nodes by depth, after a beta distribution with this mean.
fn populations(shape: &TreeShape, mean: f64) -> Vec<u32> {
    let depths = shape.deepest as usize + 1;
    let (a, b) = (FOCUS * mean, FOCUS * (1.0 - mean));
    let weight = |k: usize| {
        let x = (k as f64 + 0.5) / depths as f64;
        x.powf(a - 1.0) * (1.0 - x).powf(b - 1.0)
    };
    let sum: f64 = (0..depths).map(weight).sum();
    let mut nodes: Vec<u32> = Vec::with_capacity(depths);
    for k in 0..depths {
        let wanted = f64::from(shape.nodes) * weight(k) / sum;
        let most = nodes.last().map_or(1.0, |&above| f64::from(above) * GROWTH);
        nodes.push(wanted.round().clamp(1.0, most.floor()) as u32);
    }
    // Distribute the error of rounding and clamping over the full levels.
    let mut missing = i64::from(shape.nodes) - nodes.iter().map(|&n| i64::from(n)).sum::<i64>();
    let great = nodes.iter().max().map_or(0, |&most| most / 2);
    let full: Vec<usize> = (0..depths)
        .filter(|&k| nodes[k] >= great && k > 0)
        .collect();
    for (n, &k) in full.iter().enumerate() {
        let part = missing / (full.len() - n) as i64;
        nodes[k] = (i64::from(nodes[k]) + part) as u32;
        missing -= part;
    }
    nodes
}

/// The number of nodes with children at each depth, so that the tree has the shape's leaves and about the same mean out-degree everywhere.
fn interiors(shape: &TreeShape, nodes: &[u32]) -> Vec<u32> {
    let wanted = shape.nodes - shape.leaves;
    let bounds = |k: usize| match nodes.get(k + 1) {
        None => (0, 0),
        Some(&below) => (below.div_ceil(shape.widest - 1), nodes[k].min(below)),
    };
    let with = |degree: f64| -> Vec<u32> {
        let each = 0..nodes.len();
        each.map(|k| {
            let (least, most) = bounds(k);
            let below = nodes.get(k + 1).copied().unwrap_or(0);
            ((f64::from(below) / degree).round() as u32).clamp(least, most)
        })
        .collect()
    };
    let (mut low, mut high) = (1.0, f64::from(shape.widest));
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if with(middle).iter().sum::<u32>() > wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    let mut interior = with(high);
    let mut missing = wanted.saturating_sub(interior.iter().sum());
    for (k, it) in interior.iter_mut().enumerate() {
        let more = missing.min(bounds(k).1 - *it);
        *it += more;
        missing -= more;
    }
    assert_eq!(missing, 0, "a tree can have this shape");
    interior
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_shapes_have_levels() {
        for shape in [
            TreeShape::TRADE3_DISABLED,
            TreeShape::TRADE3_ENABLED,
            TreeShape::SPECJ,
            TreeShape::XML,
            TreeShape::TEN_MILLION,
            TreeShape::XML.scaled(0.2),
        ] {
            let levels = levels(&shape);
            assert_eq!(levels.len() as u32, shape.deepest + 1);
            assert_eq!(levels[0].nodes, 1);
            let nodes: Vec<u32> = levels.iter().map(|it| it.nodes).collect();
            assert_eq!(nodes.iter().sum::<u32>(), shape.nodes);
            let interior: u32 = levels.iter().map(|it| it.interior).sum();
            assert_eq!(shape.nodes - interior, shape.leaves);
            let off = mean_depth(&nodes) - shape.mean_depth;
            assert!(off.abs() < 0.1, "{shape:?}: {off}");
            for pair in levels.windows(2) {
                assert!(pair[0].interior <= pair[0].nodes.min(pair[1].nodes));
                assert!(pair[1].nodes <= pair[0].interior * (shape.widest - 1));
            }
        }
    }
}
