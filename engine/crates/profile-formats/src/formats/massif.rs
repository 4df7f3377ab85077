//! Massif's output: snapshots of the heap. The detailed ones are trees, from the allocator to its callers.
//!
//! Libraries: none found in Rust (Python has msparser).

use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::stacks::{FrameId, Stacks};
use crate::collect::units::value;
use crate::decode::fault::{Fault, quote};
use crate::decode::input::{Input, lines};
use crate::formats::valgrind;

/// Lines between two progress reports.
const PROGRESS_STEP: usize = 1 << 12;
/// The most snapshots that become value types.
const MAX_SNAPSHOTS: usize = 200;
/// The most values of all snapshots together, most of which are 0.
const MAX_VALUES: usize = 10_000_000;
/// The frame of all places below Massif's threshold, which the file adds up.
const BELOW: &str = "[below threshold]";

/// Detects the first lines of every file.
pub(crate) fn detect(input: &Input) -> bool {
    let mut lines = input.first_lines().map(|(_, line)| line);
    ["desc:", "cmd:", "time_unit:"]
        .iter()
        .all(|key| lines.next().is_some_and(|line| line.starts_with(key)))
}

/// A snapshot with a tree.
#[derive(Debug, Default)]
struct Snapshot {
    number: u64,
    /// Whether this is the peak.
    peak: bool,
    /// Bytes of the heap, of its bookkeeping, and of stacks.
    heap: i64,
    extra: i64,
    stacks: i64,
    nodes: Vec<Node>,
}

/// A line of a tree.
#[derive(Debug)]
struct Node {
    line: usize,
    depth: usize,
    /// The number of nested lines that follow.
    children: usize,
    bytes: i64,
    text: String,
}

/// Reads all detailed snapshots, each as a value type.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let mut snapshots = snapshots(input)?;
    let all = snapshots.len();
    // The peak matters most, so it is kept.
    let places: usize = snapshots.iter().map(|it| it.nodes.len()).sum();
    let most = (MAX_VALUES / places.max(1)).clamp(1, MAX_SNAPSHOTS);
    while snapshots.len() > most {
        let last = snapshots.iter().rposition(|it| !it.peak).unwrap_or(0);
        snapshots.remove(last);
    }
    let types = snapshots.iter().map(|it| {
        let name = match it.peak {
            true => "peak".to_owned(),
            false => format!("snapshot {}", it.number),
        };
        value(&name, "bytes")
    });
    let types: Vec<_> = types.collect();
    let shown = snapshots.iter().position(|it| it.peak);
    let shown = shown.or(snapshots.len().checked_sub(1)).ok_or_else(|| {
        let fault = Fault::whole("the file has no detailed snapshot, and only these have stacks");
        fault.advise("record again with --detailed-freq=1")
    })?;
    let mut stacks = Stacks::new(types, shown)?;
    for (row, snapshot) in snapshots.iter().enumerate() {
        add_snapshot(input, snapshot, row, &mut stacks)?;
    }
    if all > snapshots.len() {
        let left = all - snapshots.len();
        stacks.note(format!(
            "{left} detailed snapshots are left out: there are more than {most}."
        ));
    }
    let shown = &snapshots[shown];
    if shown.extra + shown.stacks > 0 {
        stacks.note(format!(
            "In the snapshot shown first, {} bytes of the heap's bookkeeping and {} bytes of stacks belong to no function.",
            shown.extra, shown.stacks
        ));
    }
    stacks.finish(Format::Massif)
}

/// The detailed snapshots.
fn snapshots(input: &Input) -> Result<Vec<Snapshot>, Fault> {
    let mut found: Vec<Snapshot> = Vec::new();
    let mut current = Snapshot::default();
    let mut detailed = false;
    for (number, line) in lines(input.text()) {
        if number.is_multiple_of(PROGRESS_STEP) {
            input.read_until_line(line)?;
        }
        let text = line.trim();
        if detailed && text.starts_with('n') {
            current.nodes.push(node(line, number)?);
            continue;
        }
        let Some((key, value)) = text.split_once('=') else {
            continue;
        };
        let bytes = || {
            let bytes = value.parse::<i64>().ok().filter(|&it| it >= 0);
            bytes.ok_or_else(|| {
                Fault::line(number, format!("expected a number, got {}", quote(value)))
            })
        };
        match key {
            "snapshot" => {
                keep(&mut found, std::mem::take(&mut current), detailed);
                current.number = bytes()?.unsigned_abs();
                detailed = false;
            }
            "mem_heap_B" => current.heap = bytes()?,
            "mem_heap_extra_B" => current.extra = bytes()?,
            "mem_stacks_B" => current.stacks = bytes()?,
            "heap_tree" => {
                detailed = value != "empty";
                current.peak = value == "peak";
            }
            _ => {}
        }
    }
    keep(&mut found, current, detailed);
    Ok(found)
}

fn keep(found: &mut Vec<Snapshot>, snapshot: Snapshot, detailed: bool) {
    if detailed && !snapshot.nodes.is_empty() {
        found.push(snapshot);
    }
}

/// Parses `  n2: 400000 0x1091C9: leaf(int) (h.cpp:4)`. The indentation is the depth.
fn node(line: &str, number: usize) -> Result<Node, Fault> {
    let rest = line.trim_start_matches(' ');
    let depth = line.len() - rest.len();
    let parts = rest.strip_prefix('n').and_then(|rest| {
        let (children, rest) = rest.split_once(": ")?;
        let (bytes, text) = rest.split_once(' ')?;
        let bytes = bytes.parse::<i64>().ok().filter(|&it| it >= 0)?;
        Some((children.parse().ok()?, bytes, text))
    });
    let (children, bytes, text) = parts.ok_or_else(|| {
        let problem = format!(
            "expected a line such as n1: 32 0x1091C9: f (a.c:4), got {}",
            quote(rest)
        );
        Fault::line(number, problem)
    })?;
    Ok(Node {
        line: number,
        depth,
        children,
        bytes,
        text: text.to_owned(),
    })
}

/// A node whose nested lines are not all read.
struct Open {
    frame: Option<FrameId>,
    line: usize,
    children: usize,
    /// Bytes that belong to no nested node.
    left: i64,
}

/// Closes the nodes from a depth on: adds the bytes of each that belong to no nested node.
fn close(open: &mut Vec<Open>, depth: usize, row: usize, stacks: &mut Stacks) -> Result<(), Fault> {
    while open.len() > depth {
        let stack: Vec<_> = open.iter().rev().filter_map(|it| it.frame).collect();
        let Some(node) = open.pop() else {
            break;
        };
        if node.children > 0 {
            let problem = format!("{} places below this one are missing", node.children);
            return Err(Fault::line(node.line, problem));
        }
        if node.left < 0 {
            let problem = "the places below this one have more bytes than it has";
            return Err(Fault::line(node.line, problem));
        }
        if node.left > 0 {
            let mut values = vec![0; stacks.width()];
            values[row] = node.left;
            stacks.add(&stack, &values)?;
        }
    }
    Ok(())
}

/// Adds a snapshot's stacks. Each node is a caller of the node above it, and the top one is the allocator.
fn add_snapshot(
    input: &Input,
    snapshot: &Snapshot,
    row: usize,
    stacks: &mut Stacks,
) -> Result<(), Fault> {
    let mut open: Vec<Open> = Vec::new();
    for node in &snapshot.nodes {
        close(&mut open, node.depth, row, stacks)?;
        if let Some(outer) = open.last_mut() {
            outer.left = outer.left.saturating_sub(node.bytes);
            outer.children = outer.children.saturating_sub(1);
        }
        if open.len() < node.depth || open.is_empty() && node.depth > 0 {
            return Err(Fault::line(
                node.line,
                "expected the place above this one before it",
            ));
        }
        let frame = match node.depth {
            0 => None,
            _ if node.text.starts_with("in ")
                && node.text.contains(" below massif's threshold") =>
            {
                Some(stacks.frame(BELOW, "", 0)?)
            }
            _ => Some(valgrind::frame(&node.text, input, stacks)?),
        };
        open.push(Open {
            frame,
            line: node.line,
            children: node.children,
            left: node.bytes,
        });
    }
    close(&mut open, 0, row, stacks)?;
    let total = snapshot.nodes.first().map_or(0, |it| it.bytes);
    if total != snapshot.heap {
        stacks.note(format!(
            "The stacks of snapshot {} add up to {total} bytes, but the file says that the heap had {}.",
            snapshot.number, snapshot.heap
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_fault};

    const FILE: &str = "desc: --detailed-freq=5\ncmd: ./h\ntime_unit: i\n#-----------\nsnapshot=0\n#-----------\ntime=0\n\
mem_heap_B=0\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=empty\n#-----------\nsnapshot=5\n#-----------\ntime=1859884\n\
mem_heap_B=381800\nmem_heap_extra_B=4848\nmem_stacks_B=0\nheap_tree=detailed\n\
n2: 381800 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n n1: 381000 0x1091C9: leaf(int) (h.cpp:4)\n\
\x20 n0: 381000 0x10924F: keep(std::vector<int>&, int) (h.cpp:5)\n n0: 800 in 2 places, all below massif's threshold (1.00%)\n\
#-----------\nsnapshot=6\n#-----------\ntime=2000000\nmem_heap_B=476800\nmem_heap_extra_B=7448\nmem_stacks_B=96\nheap_tree=peak\n\
n3: 476800 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n n2: 400000 0x1091C9: leaf(int) (h.cpp:4)\n\
\x20 n0: 300000 0x10924F: keep(std::vector<int>&, int) (h.cpp:5)\n  n0: 0 in 1 place, below massif's threshold (1.00%)\n\
\x20n0: 72704 0x48F87B9: ??? (in /usr/lib/libstdc++.so.6)\n n0: 4096 in 1 place, below massif's threshold (1.00%)\n";

    #[test]
    fn detailed_snapshots_are_values_and_the_peak_is_shown() {
        check(
            FILE,
            "snapshot 5 bytes 381800
             peak bytes* 476800
             0x48F87B9 (libstdc++.so.6) 0 72704
             [below threshold] 800 4096
             keep(std::vector<int>&, int) 0 0
             keep(std::vector<int>&, int);leaf(int) 381000 300000
             leaf(int) 0 100000
             note: In the snapshot shown first, 7448 bytes of the heap's bookkeeping and 96 bytes of stacks belong to no function.",
        );
    }

    #[test]
    fn a_cut_or_damaged_tree_is_an_error() {
        let at = FILE.find("\n n0: 4096").expect("the last line");
        check_fault(&FILE[..at], 32, "1 places below this one are missing");
        let wrong = FILE.replace("n0: 300000", "n0: 400001");
        check_fault(
            wrong,
            33,
            "the places below this one have more bytes than it has",
        );
        let wrong = FILE.replace("\n  n0: 300000", "\n    n0: 300000");
        check_fault(wrong, 34, "expected the place above this one before it");
        let wrong = FILE.replace("n0: 300000 ", "n0: x ");
        let problem = "expected a line such as n1: 32 0x1091C9: f (a.c:4), got \"n0: x 0x10924F: keep(std::vector<int>&, …\"";
        check_fault(wrong, 34, problem);
        let empty = FILE
            .replace("=detailed", "=empty")
            .replace("=peak", "=empty");
        check_fault(
            empty,
            0,
            "the file has no detailed snapshot, and only these have stacks",
        );
    }
}
