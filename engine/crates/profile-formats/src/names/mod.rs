//! Rules that unify names: a function has the same name in every run and every build, so that profiles can be compared and
//! labels kept.
//!
//! The profile keeps the raw names too, with the rules that changed them.

mod renamed;
mod rules;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use fulcrum_model::call_tree::{CallTreeError, Frame, FrameKind};
use fulcrum_model::{CallGraph, both};

use crate::decode::fault::quote;
use crate::{Calls, Format, Profile};
pub use renamed::Renamed;
pub(crate) use rules::is_address;
pub use rules::{ALL, Placed, Rule, placed};

/// The version of the rules. It grows whenever a rule gives a name another result: labels saved under another version may not
/// find their paths.
pub const VERSION: u32 = 1;

/// The rules that are applied unless the user says otherwise.
pub fn default_rules() -> Vec<Rule> {
    ALL.into_iter().filter(|rule| rule.is_default()).collect()
}

/// Applies rules to one name, in the order of [`ALL`]. Returns `None` when no rule changes it.
pub fn rename(raw: &str, format: Format, rules: &[Rule]) -> Option<Renamed> {
    let mut renamed: Option<Renamed> = None;
    for rule in ALL.into_iter().filter(|rule| rules.contains(rule)) {
        // In other formats a quote is part of the name.
        if rule == Rule::RecursionLevel && format != Format::Callgrind {
            continue;
        }
        let name = renamed.as_ref().map_or(raw, |it| &it.name);
        if let Some(name) = rule.apply(name) {
            let renamed = renamed.get_or_insert_with(|| Renamed {
                raw: raw.to_owned(),
                name: String::new(),
                rules: Vec::new(),
            });
            renamed.name = name;
            renamed.rules.push(rule);
        }
    }
    renamed
}

/// Applies rules to a profile. Siblings with the same new name become one node, and functions of a call graph one function.
/// [`Profile::renamed`] lists the changes, sorted by raw name.
///
/// # Errors
/// When the new tree exceeds its limits.
pub fn normalise(profile: Profile, rules: &[Rule]) -> Result<Profile, CallTreeError> {
    let rename = |raw: &str| rename(raw, profile.format, rules);
    let mut renamed: HashMap<String, Renamed> = HashMap::new();
    let mut note = |found: Renamed| {
        let name = found.name.clone();
        renamed.insert(found.raw.clone(), found);
        name
    };
    let calls = match profile.calls {
        Calls::Tree(tree) => {
            let mut names = renames(tree.frames(), rename).into_iter();
            Calls::Tree(tree.rename(|_| names.next()?.map(&mut note))?)
        }
        Calls::Graphs(graphs) => {
            Calls::Graphs(rename_graphs(graphs, |raw| rename(raw).map(&mut note)))
        }
    };
    let mut renamed: Vec<_> = renamed.into_values().collect();
    renamed.sort_by(|a, b| a.raw.cmp(&b.raw));
    let mut notes = profile.notes;
    if let Calls::Tree(tree) = &calls
        && let Some(name) = first_with_lines(tree.frames())
    {
        notes.push(format!(
            "Names include the line that ran, as in {}, so one function can have several entries: the rule {} merges them.",
            quote(name),
            Rule::SourceLine.name()
        ));
    }
    Ok(Profile {
        calls,
        renamed,
        notes,
        ..profile
    })
}

/// With at least this many frames, a second thread is worth starting.
const MANY: usize = 4096;

/// The new name of each frame, if it gets one.
fn renames(
    frames: &[Frame],
    rename: impl Fn(&str) -> Option<Renamed> + Sync,
) -> Vec<Option<Renamed>> {
    let all = |frames: &[Frame]| -> Vec<_> {
        let each = frames.iter().map(|frame| match frame.kind {
            FrameKind::Function => rename(&frame.name),
            FrameKind::Container => None,
        });
        each.collect()
    };
    if frames.len() < MANY {
        return all(frames);
    }
    let (first, second) = frames.split_at(frames.len() / 2);
    let (second, mut first) = both(|| all(second), || all(first));
    first.extend(second);
    first
}

/// The first name of a function that the profile has with several lines.
fn first_with_lines(frames: &[Frame]) -> Option<&str> {
    let mut lines = HashMap::new();
    let mut names = frames.iter().map(|frame| frame.name.as_str());
    names.find(|name| {
        placed(name).is_some_and(|it| *lines.entry(it.without_line()).or_insert(it.line) != it.line)
    })
}

/// Renames the functions of all graphs. They have the same functions, so each name is looked up once.
fn rename_graphs(
    graphs: Vec<CallGraph>,
    mut name: impl FnMut(&str) -> Option<String>,
) -> Vec<CallGraph> {
    let Some(first) = graphs.first() else {
        return graphs;
    };
    let new: Vec<Option<String>> = first.functions.iter().map(|it| name(&it.name)).collect();
    // Functions with the same name in different files stay apart, unless a rule gives another function their name. No function
    // joins one that was renamed.
    let mut rows: HashMap<&str, u32> = HashMap::new();
    for ((row, function), new) in (0..).zip(&first.functions).zip(&new) {
        if new.is_none() {
            rows.entry(&function.name).or_insert(row);
        }
    }
    let mut target: Vec<u32> = (0..new.len() as u32).collect();
    for (row, name) in new.iter().enumerate() {
        if let Some(name) = name {
            let to = *rows.entry(name).or_insert(row as u32);
            target[row] = to;
        }
    }
    let targets = Targets::new(&target);
    let to: Vec<u32> = (0..target.len() as u32)
        .map(|row| targets.of(row))
        .collect();
    let mut names = vec![String::new(); targets.count];
    // The first function of a target gives it its name.
    for ((function, new), &to) in first.functions.iter().zip(&new).zip(&to).rev() {
        names[to as usize] = new.clone().unwrap_or_else(|| function.name.clone());
    }
    let graph = |graph: CallGraph| graph.joined(&to, names.clone());
    graphs.into_iter().map(graph).collect()
}

/// The new number of each function.
struct Targets<'t> {
    target: &'t [u32],
    /// The new number of each function that is a target.
    number: Vec<u32>,
    /// The number of targets.
    count: usize,
}

impl<'t> Targets<'t> {
    fn new(target: &'t [u32]) -> Self {
        // In the order of first use, also by functions before them.
        let mut number = vec![u32::MAX; target.len()];
        let mut next = 0;
        for &to in target {
            if number[to as usize] == u32::MAX {
                number[to as usize] = next;
                next += 1;
            }
        }
        let count = next as usize;
        Targets {
            target,
            number,
            count,
        }
    }

    fn of(&self, function: u32) -> u32 {
        self.number[self.target[function as usize] as usize]
    }
}
