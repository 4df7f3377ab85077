//! Trees without names, with exact numbers of nodes and leaves, greatest depth and greatest out-degree.

use crate::levels::{Level, levels};
use crate::shape::TreeShape;
use fulcrum_stats::Random;

/// How unequal out-degrees are: children are assigned to interior nodes by this power of a random number.
const SKEW: f64 = 2.2;

/// A tree whose nodes are numbered level by level.
#[derive(Debug)]
pub(crate) struct Skeleton {
    degrees: Vec<u16>,
    /// The out-degree of each node with children.
    first_child: Vec<u32>,
}

impl Skeleton {
    pub(crate) fn new(shape: &TreeShape, random: &mut Random) -> Self {
        let levels = levels(shape);
        let mut degrees = Vec::with_capacity(shape.nodes as usize);
        let below = |k: usize| levels.get(k + 1).map_or(0, |it| it.nodes);
        // The level with the greatest out-degree.
        let fullest = (0..levels.len()).max_by_key(|&k| below(k) - levels[k].interior);
        for (k, level) in levels.iter().enumerate() {
            let widest = (Some(k) == fullest).then_some(shape.widest);
            degrees.extend(row(level, below(k), widest, shape.widest - 1, random));
        }
        let mut next = 1;
        let first_child = degrees.iter().map(|&degree| {
            let first = next;
            next += u32::from(degree);
            first
        });
        Skeleton {
            first_child: first_child.collect(),
            degrees,
        }
    }

    pub(crate) fn degree(&self, node: u32) -> usize {
        self.degrees[node as usize].into()
    }

    pub(crate) fn children(&self, node: u32) -> std::ops::Range<u32> {
        let first = self.first_child[node as usize];
        first..first + u32::from(self.degrees[node as usize])
    }
}

/// The out-degrees of a level's nodes: `children` in total, `widest` for one node, and at most `most` for the others.
fn row(
    level: &Level,
    children: u32,
    widest: Option<u32>,
    most: u32,
    random: &mut Random,
) -> Vec<u16> {
    let mut nodes: Vec<u32> = (0..level.nodes).collect();
    random.shuffle(&mut nodes);
    let interior = &nodes[..level.interior as usize];
    let mut degrees = vec![0_u16; level.nodes as usize];
    let mut left = children;
    for (n, &node) in interior.iter().enumerate() {
        let degree = if n == 0 { widest.unwrap_or(1) } else { 1 };
        degrees[node as usize] = degree as u16;
        left -= degree;
    }
    while left > 0 {
        let skewed = (interior.len() as f64 * random.unit().powf(SKEW)) as usize;
        let anywhere = random.index(interior.len());
        for n in [skewed, anywhere] {
            let degree = &mut degrees[interior[n] as usize];
            if u32::from(*degree) < most {
                *degree += 1;
                left -= 1;
                break;
            }
        }
    }
    degrees
}
