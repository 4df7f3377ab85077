//! What each source line cost, for profiles that know which lines ran.
//!
//! The file is read once more, with a frame for each line instead of for each function. A call tree of lines takes more memory
//! than the one that is searched, so only its sums are kept.

use std::collections::HashMap;
use std::path::Path;

use fulcrum_model::CallTree;
use fulcrum_model::call_tree::{FrameKind, ValueType};
use fulcrum_profile_formats::names::{Rule, normalise};
use fulcrum_profile_formats::{Calls, Format, Limits, read_lines};

use crate::error::Error;
use crate::symbols::Files;

/// What the samples in one line cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineCost {
    /// As the profile spells it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// The functions that the line belongs to, by their names in the profile, the most costly first.
    pub functions: Vec<String>,
    /// The cost of samples in the line itself, in the profile's unit.
    pub base: i64,
    /// The base with what was called from the line, recursion once. The base alone for formats without lines of callers.
    pub cum: i64,
}

/// The lines of a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// Sorted by file and line.
    pub lines: Vec<LineCost>,
    /// Whether [`LineCost::cum`] includes what was called.
    pub callers: bool,
}

/// The lines of a file, by one of its value types; `None` when it does not know which lines ran. `digest` is what the file
/// must still have, see [`Read::digest`](crate::Read::digest).
///
/// # Errors
/// When it cannot be read, or has changed.
pub fn lines(
    path: &Path,
    digest: &str,
    value: &ValueType,
    rules: &[Rule],
    limits: Limits,
) -> Result<Option<Lines>, Error> {
    let bytes =
        crate::read::contents(path, limits).map_err(|error| Error::io("read", path, &error))?;
    let name = path.display();
    if fulcrum_paths::digest(&bytes) != digest {
        let problem = format!("{name} has changed since it was opened; open it again");
        return Err(Error::File(problem));
    }
    let text = name.to_string();
    let read = read_lines(bytes, &text, limits, &Files::default());
    let Some(profile) = read.map_err(|error| Error::File(error.to_string()))? else {
        return Ok(None);
    };
    let callers = !matches!(profile.format, Format::CpuProfile | Format::Scalene);
    let profile = normalise(profile, rules);
    let profile = profile.map_err(|error| Error::File(format!("{name}: {error}")))?;
    let Calls::Tree(tree) = profile.calls else {
        return Ok(None);
    };
    let row = tree.value_types().iter().position(|it| it == value);
    let lines = row.map_or(Vec::new(), |row| costs(&tree, row));
    Ok((!lines.is_empty()).then_some(Lines { lines, callers }))
}

/// The lines of a tree that has a frame for each line of a function and its callers, by the value type in this row.
pub(crate) fn lines_of(tree: &CallTree, value: usize) -> Lines {
    Lines {
        lines: costs(tree, value),
        callers: true,
    }
}

/// The row of a frame that is not a line.
const NO_ROW: usize = usize::MAX;

/// Base and cum by line.
fn costs(tree: &CallTree, value: usize) -> Vec<LineCost> {
    let (mut all, row_of) = rows(tree);
    let by_frame = add_costs(tree, value, &row_of, &mut all);
    // The most costly functions of a line come first.
    let mut frames: Vec<usize> = (0..row_of.len())
        .filter(|&it| row_of[it] != NO_ROW)
        .collect();
    frames.sort_by(|&a, &b| {
        let name = |it: usize| &tree.frames()[it].name;
        by_frame[b]
            .cmp(&by_frame[a])
            .then_with(|| name(a).cmp(name(b)))
    });
    for frame in frames {
        let (row, name) = (row_of[frame], &tree.frames()[frame].name);
        if !all[row].functions.contains(name) {
            all[row].functions.push(name.clone());
        }
    }
    all.retain(|it| it.base != 0 || it.cum != 0);
    all.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    all
}

/// A row for each line, without costs, and the row of each frame, or [`NO_ROW`].
fn rows(tree: &CallTree) -> (Vec<LineCost>, Vec<usize>) {
    let mut rows: HashMap<(&str, u32), usize> = HashMap::new();
    let mut all: Vec<LineCost> = Vec::new();
    let row_of: Vec<usize> = tree
        .frames()
        .iter()
        .map(|frame| match (&frame.file, frame.line, frame.kind) {
            (Some(file), Some(line), FrameKind::Function) => {
                *rows.entry((file, line)).or_insert_with(|| {
                    all.push(LineCost {
                        file: file.clone(),
                        line,
                        functions: Vec::new(),
                        base: 0,
                        cum: 0,
                    });
                    all.len() - 1
                })
            }
            _ => NO_ROW,
        })
        .collect();
    (all, row_of)
}

/// Adds the costs of all nodes to the rows of their frames. Returns each frame's own base and cum.
fn add_costs(
    tree: &CallTree,
    value: usize,
    row_of: &[usize],
    all: &mut [LineCost],
) -> Vec<(i64, i64)> {
    let values = tree.values(value);
    let mut prefix = Vec::with_capacity(values.len() + 1);
    prefix.push(0);
    for value in values {
        prefix.push(prefix.last().expect("the first is there") + value);
    }
    let mut by_frame = vec![(0_i64, 0_i64); tree.frames().len()];
    // How many calls of each line are open: recursion counts once.
    let mut active = vec![0_u32; all.len()];
    let mut open: Vec<(u32, usize)> = Vec::new();
    for node in 0..tree.len() {
        while let Some(&(end, row)) = open.last()
            && end <= node
        {
            active[row] -= 1;
            open.pop();
        }
        let frame = tree.frame_ids()[node as usize] as usize;
        let row = row_of[frame];
        if row == NO_ROW {
            continue;
        }
        let end = tree.ends()[node as usize];
        let cum = prefix[end as usize] - prefix[node as usize];
        let of_frame = &mut by_frame[frame];
        *of_frame = (
            of_frame.0 + values[node as usize],
            of_frame.1.saturating_add(cum),
        );
        all[row].base += values[node as usize];
        if active[row] == 0 {
            all[row].cum += cum;
        }
        active[row] += 1;
        open.push((end, row));
    }
    by_frame
}
