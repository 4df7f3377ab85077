//! From a sample's addresses to what may be sped up (COZ §3.4.2): lines, functions, or call sequences.

use fulcrum_wire::{NONE, Node, Range, mode};

/// `PERF_CONTEXT_*` markers in a perf callchain are the last 4095 values.
const FIRST_MARKER: u64 = -4095_i64 as u64;
/// The most targets that one sample can belong to (inclusive functions, paths); outer ones are not counted.
pub const MOST: usize = 48;
/// Longest call sequence.
pub const LONGEST_PATH: usize = 63;

/// The index of the range that holds an address. `ranges` are sorted by start and disjoint.
pub fn index_at(ranges: &[Range], address: u64) -> Option<u32> {
    let after = ranges.partition_point(|range| range.start <= address);
    let range = ranges[..after].last()?;
    (address < range.end).then_some(range.index)
}

/// The address of each frame of a perf callchain, innermost first. Markers are left out, and return addresses are moved back into
/// the call before them.
pub fn frames(chain: impl Iterator<Item = u64>) -> impl Iterator<Item = u64> {
    chain
        .filter(|address| *address < FIRST_MARKER && *address != 0)
        .enumerate()
        .map(|(depth, address)| if depth == 0 { address } else { address - 1 })
}

/// The targets of one sample, innermost first, each once.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    list: [u32; MOST],
    length: usize,
}

impl Found {
    /// No target.
    pub const NOTHING: Found = Found {
        list: [0; MOST],
        length: 0,
    };

    /// One target, or none.
    pub fn one(target: Option<u32>) -> Found {
        let mut found = Found::NOTHING;
        if let Some(target) = target {
            found.add(target);
        }
        found
    }

    /// The targets.
    pub fn targets(&self) -> &[u32] {
        &self.list[..self.length]
    }

    fn add(&mut self, target: u32) {
        if self.length < MOST && !self.targets().contains(&target) {
            self.list[self.length] = target;
            self.length += 1;
        }
    }
}

/// What may be sped up, and where it is.
#[derive(Clone, Copy, Debug)]
pub struct Targets<'a> {
    /// One of [`mode`].
    pub mode: u32,
    /// Address ranges, sorted and disjoint.
    pub ranges: &'a [Range],
    /// Activations of functions; empty for lines.
    pub nodes: &'a [Node],
    /// Paths one after another, each ended by [`NONE`].
    pub steps: &'a [u32],
}

impl Targets<'_> {
    /// Whether a sample at this instruction needs no callers.
    pub fn is_leaf(&self, instruction: u64) -> bool {
        match self.mode {
            mode::INCLUSIVE | mode::PATH => false,
            _ => index_at(self.ranges, instruction).is_some(),
        }
    }

    /// The targets of a sample whose frames have these addresses, innermost first ([`frames`]).
    pub fn of(&self, mut frames: impl Iterator<Item = u64>) -> Found {
        match self.mode {
            mode::INCLUSIVE => {
                let mut found = Found::NOTHING;
                for address in frames {
                    self.activations(address, |function| {
                        if let Some(function) = function {
                            found.add(function);
                        }
                    });
                }
                found
            }
            mode::PATH => self.paths(frames),
            mode::FUNCTION => {
                Found::one(frames.find_map(|address| self.innermost_function(address)))
            }
            _ => Found::one(frames.find_map(|address| index_at(self.ranges, address))),
        }
    }

    fn innermost_function(&self, address: u64) -> Option<u32> {
        let mut innermost = None;
        self.activations(address, |function| innermost = innermost.or(function));
        innermost
    }

    /// Calls `each` with the functions that are active at an address, inlined ones first: with `None` for one that is no
    /// target, and for an address outside the scope.
    fn activations(&self, address: u64, mut each: impl FnMut(Option<u32>)) {
        let Some(mut at) = index_at(self.ranges, address) else {
            return each(None);
        };
        // In a sound table, a node's parent comes before it. A damaged one must not cause an endless loop.
        for _ in 0..64 {
            let Some(node) = self.nodes.get(at as usize) else {
                return;
            };
            each((node.function != NONE).then_some(node.function));
            if node.parent == NONE {
                return;
            }
            at = node.parent;
        }
    }

    /// The paths that the frames contain as consecutive calls. Bit `i` of a path's state says that the frames just seen
    /// are its steps from the `i`-th on to the last.
    fn paths(&self, frames: impl Iterator<Item = u64>) -> Found {
        const MOST_PATHS: usize = 16;
        let mut states = [0_u64; MOST_PATHS];
        let mut found = Found::NOTHING;
        for address in frames {
            self.activations(address, |function| {
                let paths = self.steps.split(|step| *step == NONE);
                for (index, (path, state)) in paths.zip(&mut states).enumerate() {
                    if path.is_empty() || path.len() > LONGEST_PATH {
                        continue;
                    }
                    // The walk goes outwards: the last step is met first.
                    let candidates = (*state >> 1) | 1 << (path.len() - 1);
                    let mut next = 0;
                    for (step, wanted) in path.iter().enumerate() {
                        if function == Some(*wanted) {
                            next |= candidates & (1 << step);
                        }
                    }
                    *state = next;
                    if next & 1 != 0 {
                        found.add(index as u32);
                    }
                }
            });
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const fn range(start: u64, end: u64, index: u32) -> Range {
        Range {
            start,
            end,
            index,
            unused: 0,
        }
    }

    const fn node(function: u32, parent: u32) -> Node {
        Node { function, parent }
    }

    const RANGES: [Range; 3] = [range(10, 20, 1), range(20, 25, 2), range(40, 50, 1)];
    const USER: u64 = -512_i64 as u64;

    #[test]
    fn an_address_belongs_to_the_range_that_holds_it() {
        for (address, index) in [
            (9, None),
            (10, Some(1)),
            (19, Some(1)),
            (20, Some(2)),
            (24, Some(2)),
            (25, None),
            (40, Some(1)),
            (50, None),
        ] {
            assert_eq!(index_at(&RANGES, address), index, "{address}");
        }
        assert_eq!(index_at(&[], 10), None);
    }

    #[test]
    fn a_sample_belongs_to_the_first_line_in_scope() {
        let lines = Targets {
            mode: mode::LINE,
            ranges: &RANGES,
            nodes: &[],
            steps: &[],
        };
        let cases: [(&[u64], Option<u32>); 6] = [
            (&[USER, 12, 41], Some(1)),
            (&[USER, 99, 21, 41], Some(2)),
            (&[USER, 99, 98, 41], Some(1)),
            // A call in the last instruction of line 2 returns to the first address after it.
            (&[USER, 99, 25], Some(2)),
            (&[USER, 20, 41], Some(2)),
            (&[USER, 99, 0, 5], None),
        ];
        for (chain, line) in cases {
            let found = lines.of(frames(chain.iter().copied()));
            assert_eq!(found.targets().first().copied(), line, "{chain:?}");
        }
        assert!(lines.is_leaf(12) && !lines.is_leaf(99));
    }

    /// `outer` (0) calls `middle` (1), into which `inner` (2) is inlined; `other` (3) is called from anywhere.
    const FUNCTIONS: [Range; 5] = [
        range(100, 200, 0),
        range(200, 250, 1),
        range(250, 260, 2),
        range(260, 300, 1),
        range(300, 400, 3),
    ];
    const NODES: [Node; 4] = [node(0, NONE), node(1, NONE), node(2, 1), node(3, NONE)];

    fn found(mode: u32, steps: &[u32], chain: &[u64]) -> Vec<u32> {
        let targets = Targets {
            mode,
            ranges: &FUNCTIONS,
            nodes: &NODES,
            steps,
        };
        targets.of(frames(chain.iter().copied())).targets().to_vec()
    }

    #[test]
    fn a_function_has_its_own_samples_and_those_of_foreign_code_it_calls() {
        for (chain, expected) in [
            (&[255_u64, 150][..], &[2_u32][..]),
            (&[245, 150], &[1]),
            (&[9999, 251, 150], &[2]),
            (&[9999], &[]),
        ] {
            assert_eq!(found(mode::FUNCTION, &[], chain), expected, "{chain:?}");
        }
    }

    #[test]
    fn every_function_in_the_chain_has_the_sample_once() {
        for (chain, expected) in [
            (&[255_u64, 150][..], &[2_u32, 1, 0][..]),
            (&[310, 255, 310, 150, 120], &[3, 2, 1, 0]),
            (&[9999, 150], &[0]),
        ] {
            assert_eq!(found(mode::INCLUSIVE, &[], chain), expected, "{chain:?}");
        }
    }

    #[test]
    fn a_path_is_found_where_its_calls_follow_one_another() {
        // outer > middle > inner; middle > other; outer > other; other > other
        let steps = [0, 1, 2, NONE, 1, 3, NONE, 0, 3, NONE, 3, 3, NONE];
        for (chain, expected) in [
            (&[255_u64, 150][..], &[0_u32][..]),
            (&[310, 245, 150], &[1]),
            (&[310, 150], &[2]),
            // Something foreign in between breaks the sequence; below it, it does not matter.
            (&[310, 9999, 150], &[]),
            (&[9999, 310, 150], &[2]),
            (&[310, 310, 310, 150], &[3, 2]),
            (&[150], &[]),
        ] {
            assert_eq!(found(mode::PATH, &steps, chain), expected, "{chain:?}");
        }
    }

    #[test]
    fn a_damaged_table_ends() {
        let loops = [node(0, 1), node(1, 0)];
        let targets = Targets {
            mode: mode::INCLUSIVE,
            ranges: &[range(0, 10, 0)],
            nodes: &loops,
            steps: &[],
        };
        assert_eq!(targets.of(frames([5].into_iter())).targets(), [0, 1]);
    }
}
