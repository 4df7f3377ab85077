//! `<pid>-<n>.<generation>.map`: what may be sped up, and the addresses that belong to each target.

use core::mem::size_of;
use core::sync::atomic::AtomicU32;

/// First word of [`MapHeader`].
pub const MAP_MAGIC: u64 = u64::from_le_bytes(*b"FULCMAPS");
/// [`MapHeader::lock`] that stands for every lock.
pub const ANY_LOCK: u64 = 1;

/// What experiments speed up.
pub mod mode {
    /// Lines: a sample belongs to the innermost line in scope.
    pub const LINE: u32 = 0;
    /// Functions without what they call: to the innermost function in scope.
    pub const FUNCTION: u32 = 1;
    /// Functions with what they call: to every function in the call chain.
    pub const INCLUSIVE: u32 = 2;
    /// Call sequences: to every sequence that the call chain contains.
    pub const PATH: u32 = 3;
    /// Blocked calls: the time that a thread waits, at the innermost line in scope.
    pub const BLOCKED: u32 = 4;
}

/// Head of a map file; the arrays follow at the offsets it names.
#[repr(C)]
pub struct MapHeader {
    /// [`MAP_MAGIC`].
    pub magic: u64,
    /// [`VERSION`](crate::VERSION).
    pub version: u32,
    /// One of [`mode`].
    pub mode: u32,
    /// Number of targets.
    pub target_count: u32,
    /// Number of [`Range`]s.
    pub range_count: u32,
    /// Number of [`Node`]s; 0 when ranges name targets themselves.
    pub node_count: u32,
    /// Number of entries in all paths together ([`mode::PATH`]).
    pub step_count: u32,
    /// Index of the only target that may be selected, or [`NONE`](crate::NONE).
    pub fixed: u32,
    /// Keeps the layout the same everywhere.
    pub unused: u32,
    /// Byte offset of `[Range; range_count]`, sorted by start, disjoint.
    pub ranges_at: u64,
    /// Byte offset of `[Node; node_count]`.
    pub nodes_at: u64,
    /// Byte offset of `[Text; target_count]`: each target's name (`FILE:LINE`, `function:NAME@FILE:LINE`…), UTF-8,
    /// JSON-escaped already.
    pub names_at: u64,
    /// Byte offset of `[Steering; target_count]`.
    pub steering_at: u64,
    /// Byte offset of `[u32; step_count]`: the paths one after another, each a target, outermost function first, each
    /// ended by [`NONE`](crate::NONE).
    pub steps_at: u64,
    /// Length of the whole file.
    pub length: u64,
    /// Only samples of threads that hold the lock at this address count, or any lock ([`ANY_LOCK`]); 0 for all samples.
    pub lock: u64,
    /// The type of the requests that are progress points; empty when none are.
    pub request: Text,
}

/// How the engine steers the experiments on one target. It changes during the run.
#[repr(C)]
#[derive(Debug)]
pub struct Steering {
    /// How likely a sample is accepted as the choice of what to speed up, 1 to [`FULL_WEIGHT`].
    pub weight: AtomicU32,
    /// Experiments warm up at least this long, milliseconds, if that is longer than [`crate::ControlBlock::warmup_ns`].
    pub warmup_ms: AtomicU32,
    /// The speedups that its experiments draw from, a bit for each of [`crate::ControlBlock::levels`]; 0 for all.
    pub levels: AtomicU32,
    /// Keeps the layout the same everywhere.
    pub unused: u32,
}

/// The weight of a target that is always accepted.
pub const FULL_WEIGHT: u32 = 65_536;

/// In sample counters of [`mode::BLOCKED`], the call is kept above this bit (index + 1), the count below.
pub const CALL_SHIFT: u32 = 56;

/// The calls that [`mode::BLOCKED`] distinguishes, by their index.
pub const CALLS: [&str; 16] = [
    "read",
    "write",
    "recv",
    "accept",
    "poll",
    "select",
    "epoll_wait",
    "nanosleep",
    "futex",
    "pthread_cond_wait",
    "pthread_mutex_lock",
    "pthread_rwlock_lock",
    "sem_wait",
    "pthread_barrier_wait",
    "pthread_join",
    "sigwait",
];

/// Addresses that belong to one target or node, as they are in the running process.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// First address.
    pub start: u64,
    /// One past the last address.
    pub end: u64,
    /// Index of the node; of the target when the map has no nodes.
    pub index: u32,
    /// Keeps the layout the same everywhere.
    pub unused: u32,
}

/// A function's activation, possibly inlined into another.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Index of the function: a target, or a step of paths. [`NONE`](crate::NONE) when nobody asks for it.
    pub function: u32,
    /// The node it is inlined into, or [`NONE`](crate::NONE).
    pub parent: u32,
}

/// A text elsewhere in the map file.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    /// Byte offset in the file.
    pub at: u64,
    /// Length in bytes.
    pub length: u64,
}

/// How many of each a map holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MapSizes {
    /// Targets.
    pub targets: usize,
    /// Ranges.
    pub ranges: usize,
    /// Nodes.
    pub nodes: usize,
    /// Steps of paths.
    pub steps: usize,
    /// Bytes of names.
    pub text: usize,
}

/// Byte offsets of a map file's parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapLayout {
    /// [`MapHeader::ranges_at`].
    pub ranges_at: usize,
    /// [`MapHeader::nodes_at`].
    pub nodes_at: usize,
    /// [`MapHeader::names_at`].
    pub names_at: usize,
    /// [`MapHeader::steering_at`].
    pub steering_at: usize,
    /// [`MapHeader::steps_at`].
    pub steps_at: usize,
    /// Where the names' bytes begin.
    pub text_at: usize,
    /// Length of the file.
    pub length: usize,
}

impl MapLayout {
    /// Lays the parts out one after another, each aligned to 8 bytes.
    pub const fn new(sizes: MapSizes) -> MapLayout {
        let ranges_at = size_of::<MapHeader>().next_multiple_of(8);
        let nodes_at = ranges_at + sizes.ranges * size_of::<Range>();
        let names_at = nodes_at + sizes.nodes * size_of::<Node>();
        let steering_at = names_at + sizes.targets * size_of::<Text>();
        let steps_at = steering_at + sizes.targets * size_of::<Steering>();
        let text_at = steps_at + (sizes.steps * size_of::<u32>()).next_multiple_of(8);
        MapLayout {
            ranges_at,
            nodes_at,
            names_at,
            steering_at,
            steps_at,
            text_at,
            length: text_at + sizes.text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_keeps_every_part_aligned() {
        for (targets, ranges, nodes, steps, text) in
            [(0, 0, 0, 0, 0), (1, 1, 1, 1, 5), (7, 13, 3, 9, 101)]
        {
            let layout = MapLayout::new(MapSizes {
                targets,
                ranges,
                nodes,
                steps,
                text,
            });
            for at in [
                layout.ranges_at,
                layout.nodes_at,
                layout.names_at,
                layout.steering_at,
                layout.steps_at,
                layout.text_at,
            ] {
                assert_eq!(at % 8, 0);
            }
            assert_eq!(layout.text_at + text, layout.length);
            assert!(layout.steps_at - layout.steering_at >= targets * 8);
        }
    }
}
