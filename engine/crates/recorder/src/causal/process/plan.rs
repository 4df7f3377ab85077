//! Plans a process's map: from an aim and the memory of the process to the targets in it.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fulcrum_model::{Location, TargetId, TargetKind};
use fulcrum_symbols::{
    FunctionTable, LineTable, Scope, SymbolsError, function_ranges, line_ranges,
};
use fulcrum_wire::{NONE, Node, Range, mode};

use super::map::Plan;
use crate::program::proc::Memory;
use crate::{Aim, TargetChoice};

/// The debug information read so far, which the processes of a run share.
#[derive(Default)]
pub(crate) struct Tables {
    scope: Vec<String>,
    lines: HashMap<PathBuf, Result<Arc<LineTable>, SymbolsError>>,
    functions: HashMap<PathBuf, Result<Arc<FunctionTable>, SymbolsError>>,
}

impl Tables {
    fn lines(&mut self, module: &Path, scope: &Scope) -> Result<Arc<LineTable>, SymbolsError> {
        self.lines
            .entry(module.into())
            .or_insert_with(|| line_ranges(module, scope).map(Arc::new))
            .clone()
    }

    fn functions(
        &mut self,
        module: &Path,
        scope: &Scope,
    ) -> Result<Arc<FunctionTable>, SymbolsError> {
        self.functions
            .entry(module.into())
            .or_insert_with(|| function_ranges(module, scope).map(Arc::new))
            .clone()
    }

    fn reset_unless(&mut self, source_scope: &[String]) {
        if self.scope != source_scope {
            *self = Tables {
                scope: source_scope.to_vec(),
                ..Tables::default()
            };
        }
    }
}

/// Why a process has no map. `Display` is one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoPlan {
    /// It has nothing in scope.
    Nothing(String),
    /// It was built without debug information.
    NoDebugInfo(String),
    /// It lacks a target that was requested by name.
    Missing(String),
}

impl std::fmt::Display for NoPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoPlan::Nothing(text) | NoPlan::NoDebugInfo(text) | NoPlan::Missing(text) => {
                f.write_str(text)
            }
        }
    }
}

/// Plans the map of a process.
pub(crate) fn plan(
    tables: &mut Tables,
    memory: &Memory,
    aim: &Aim,
    fixed: Option<&str>,
) -> Result<Plan, NoPlan> {
    tables.reset_unless(&aim.source_scope);
    let scope = Scope::new(aim.source_scope.iter().map(String::as_str));
    let mut plan = Plan {
        mode: match aim.target {
            TargetChoice::Line => mode::LINE,
            TargetChoice::Function => mode::FUNCTION,
            TargetChoice::Inclusive => mode::INCLUSIVE,
            TargetChoice::Path(_) => mode::PATH,
            TargetChoice::Blocked => mode::BLOCKED,
        },
        ..Plan::default()
    };
    let mut names = Names::new(&aim.target);
    let mut why = None;
    for module in memory.in_scope(&aim.binary_scope) {
        let part = ModuleInScope {
            memory,
            path: &module,
            scope: &scope,
        };
        let added = match plan.mode {
            mode::LINE | mode::BLOCKED => add_lines(&mut plan, tables, part),
            _ => add_functions(&mut plan, &mut names, tables, part),
        };
        if let Err(reason) = added {
            // When many libraries are in scope, some without debug information are to be expected.
            if module == memory.main() || reason.is_unexpected {
                why.get_or_insert(if reason.is_unexpected {
                    NoPlan::Nothing(reason.sentence)
                } else {
                    NoPlan::NoDebugInfo(reason.sentence)
                });
            }
        }
    }
    if plan.ranges.is_empty() {
        return Err(why.unwrap_or_else(|| NoPlan::Nothing(nothing_in_scope(memory, aim))));
    }
    plan.ranges.sort_unstable_by_key(|range| range.start);
    names.finish(&mut plan).map_err(NoPlan::Missing)?;
    let fixed = fixed.map(|text| find(text, &plan.targets)).transpose();
    plan.fixed = fixed.map_err(NoPlan::Missing)?;
    Ok(plan)
}

struct Reason {
    sentence: String,
    is_unexpected: bool,
}

impl From<SymbolsError> for Reason {
    fn from(error: SymbolsError) -> Reason {
        Reason {
            sentence: format!("{error}."),
            is_unexpected: !matches!(error, SymbolsError::NoDebugInfo(_)),
        }
    }
}

/// A module of a process, and the source files that are in scope.
#[derive(Clone, Copy)]
struct ModuleInScope<'a> {
    memory: &'a Memory,
    path: &'a Path,
    scope: &'a Scope,
}

impl ModuleInScope<'_> {
    fn bias(&self) -> Result<u64, Reason> {
        self.memory.bias(self.path).ok_or_else(|| Reason {
            sentence: format!("{} is not mapped as its file says.", self.path.display()),
            is_unexpected: true,
        })
    }
}

fn add_lines(
    plan: &mut Plan,
    tables: &mut Tables,
    module: ModuleInScope<'_>,
) -> Result<(), Reason> {
    let table = tables.lines(module.path, module.scope)?;
    let bias = module.bias()?;
    let first = plan.targets.len() as u32;
    plan.targets
        .extend(table.lines.iter().cloned().map(TargetId::line));
    plan.ranges.extend(table.ranges.iter().map(|range| Range {
        start: range.start.wrapping_add(bias),
        end: range.end.wrapping_add(bias),
        index: first + range.line,
        unused: 0,
    }));
    Ok(())
}

/// Numbers functions, for nodes and paths to refer to.
enum Names<'a> {
    /// Every function is a target. A function that several compilation units contain is one target.
    Targets(HashMap<TargetId, u32>),
    /// Only functions in these paths have numbers, in the order of their first mention.
    Paths {
        paths: &'a [Vec<String>],
        functions: Vec<&'a str>,
        found: Vec<Option<Location>>,
    },
}

impl<'a> Names<'a> {
    fn new(target: &'a TargetChoice) -> Names<'a> {
        let TargetChoice::Path(paths) = target else {
            return Names::Targets(HashMap::new());
        };
        let mut functions: Vec<&str> = Vec::new();
        for name in paths.iter().flatten() {
            if !functions.contains(&name.as_str()) {
                functions.push(name);
            }
        }
        let found = vec![None; functions.len()];
        Names::Paths {
            paths,
            functions,
            found,
        }
    }

    /// The number of a function, or [`NONE`] when no path needs it.
    fn number(&mut self, plan: &mut Plan, function: &fulcrum_symbols::Function) -> u32 {
        match self {
            Names::Targets(numbers) => {
                let target = TargetId {
                    kind: if plan.mode == mode::INCLUSIVE {
                        TargetKind::Inclusive
                    } else {
                        TargetKind::Function
                    },
                    name: function.name.replace('@', "_"),
                    location: function.location.clone(),
                };
                *numbers.entry(target).or_insert_with_key(|target| {
                    plan.targets.push(target.clone());
                    plan.targets.len() as u32 - 1
                })
            }
            Names::Paths {
                functions, found, ..
            } => {
                let number = functions
                    .iter()
                    .position(|name| is_named(&function.name, name));
                number.map_or(NONE, |number| {
                    found[number].get_or_insert_with(|| function.location.clone());
                    number as u32
                })
            }
        }
    }

    /// Turns paths into targets, once every function is known.
    fn finish(self, plan: &mut Plan) -> Result<(), String> {
        let Names::Paths {
            paths,
            functions,
            found,
        } = self
        else {
            return Ok(());
        };
        if let Some(missing) = found.iter().position(Option::is_none) {
            return Err(format!(
                "--target path: the program has no function {} in scope; write it as it is named in the source, or \
                 widen --source-scope.",
                functions[missing]
            ));
        }
        for path in paths {
            let numbers: Vec<usize> = path
                .iter()
                .filter_map(|name| functions.iter().position(|it| it == name))
                .collect();
            let last = numbers.last().and_then(|number| found[*number].clone());
            let Some(location) = last.filter(|_| numbers.len() <= LONGEST_PATH) else {
                return Err(format!(
                    "--target path: a path has 1 to {LONGEST_PATH} functions, written A > B > C."
                ));
            };
            plan.steps
                .extend(numbers.iter().map(|number| *number as u32));
            plan.steps.push(NONE);
            plan.targets.push(TargetId {
                kind: TargetKind::Path,
                name: path.join(" > ").replace('@', "_"),
                location,
            });
        }
        Ok(())
    }
}

/// The longest path that the runtime can follow.
const LONGEST_PATH: usize = 63;

/// Whether this is the name of a function: the whole name, or its last part (`pop` for `ns::Queue<int>::pop`).
fn is_named(function: &str, name: &str) -> bool {
    function == name
        || function
            .strip_suffix(name)
            .is_some_and(|front| front.ends_with("::"))
}

fn add_functions(
    plan: &mut Plan,
    names: &mut Names<'_>,
    tables: &mut Tables,
    module: ModuleInScope<'_>,
) -> Result<(), Reason> {
    let table = tables.functions(module.path, module.scope)?;
    let bias = module.bias()?;
    let numbers: Vec<u32> = table
        .functions
        .iter()
        .map(|function| names.number(plan, function))
        .collect();
    let first = plan.nodes.len() as u32;
    plan.nodes.extend(table.nodes.iter().map(|node| Node {
        function: numbers[node.function as usize],
        parent: if node.parent == u32::MAX {
            NONE
        } else {
            first + node.parent
        },
    }));
    plan.ranges.extend(table.ranges.iter().map(|range| Range {
        start: range.start.wrapping_add(bias),
        end: range.end.wrapping_add(bias),
        index: first + range.node,
        unused: 0,
    }));
    for (kept, folded) in table.folded.iter().take(3) {
        plan.notes.push(format!(
            "{folded} has the same code as {kept}, so samples of both count for {kept}."
        ));
    }
    Ok(())
}

fn nothing_in_scope(memory: &Memory, aim: &Aim) -> String {
    let program = memory.main().display();
    if aim.source_scope.is_empty() && aim.binary_scope.is_empty() {
        format!(
            "No line of {program} is in scope: build it with -g from sources outside the system folders."
        )
    } else {
        format!(
            "No line of {program} is in the given scope: widen --source-scope or --binary-scope."
        )
    }
}

/// The index of the target that `--fixed-line` names: a line, by the whole path of its file or by trailing components, or the
/// whole text of a target.
fn find(text: &str, targets: &[TargetId]) -> Result<u32, String> {
    let exact = targets.iter().position(|it| it.to_string() == text);
    let location: Option<Location> = text.parse().ok();
    let place = || {
        let location = location.as_ref()?;
        targets
            .iter()
            .position(|it| it.location.line == location.line && is_in(it, location))
    };
    match exact.or_else(place) {
        Some(index) => Ok(index as u32),
        None => Err(format!(
            "--fixed-line {text}: {}.",
            why_not_found(location.as_ref(), targets)
        )),
    }
}

/// Whether a target is in the file that a location names, by its whole path or by trailing components.
fn is_in(target: &TargetId, location: &Location) -> bool {
    Path::new(&target.location.file).ends_with(&location.file)
}

fn why_not_found(location: Option<&Location>, targets: &[TargetId]) -> String {
    let Some(location) = location else {
        return "it is neither FILE:LINE nor a target as a result names it; write FILE:LINE".into();
    };
    let lines: BTreeSet<u32> = targets
        .iter()
        .filter(|it| is_in(it, location))
        .map(|it| it.location.line)
        .collect();
    let before = lines.range(..location.line).next_back();
    let after = lines.range(location.line..).next();
    match (before, after) {
        (Some(before), Some(after)) => {
            format!("no code is there; the nearest lines with code are {before} and {after}")
        }
        (Some(line), None) | (None, Some(line)) => {
            format!("no code is there; the nearest line with code is {line}")
        }
        (None, None) => {
            "no code in scope is from that file; check its path, that it was compiled with -g, and \
                         --source-scope and --binary-scope"
                .into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_has_its_whole_name_or_the_last_part_of_it() {
        for (function, name, expected) in [
            ("ns::Queue<int>::pop", "ns::Queue<int>::pop", true),
            ("ns::Queue<int>::pop", "pop", true),
            ("ns::Queue<int>::pop", "Queue<int>::pop", true),
            ("ns::Queue<int>::pop", "op", false),
            ("pop", "ns::pop", false),
        ] {
            assert_eq!(is_named(function, name), expected, "{function} {name}");
        }
    }

    #[test]
    fn a_path_is_a_target_made_of_its_functions() {
        let names_in = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let choice = TargetChoice::Path(vec![names_in("main work"), names_in("work work leaf")]);
        let function = |name: &str, line| fulcrum_symbols::Function {
            name: name.into(),
            location: Location {
                file: "/p/a.c".into(),
                line,
            },
        };
        let all = [("main", 9), ("other", 5), ("p::work", 3), ("leaf", 1)];
        let number = |names: &mut Names<'_>| {
            let mut plan = Plan::default();
            let numbered = all.map(|(name, line)| names.number(&mut plan, &function(name, line)));
            (plan, numbered)
        };
        let mut names = Names::new(&choice);
        let (mut plan, numbered) = number(&mut names);
        assert_eq!(numbered, [0, NONE, 1, 2]);
        names.finish(&mut plan).unwrap();
        assert_eq!(plan.steps, [0, 1, NONE, 1, 1, 2, NONE]);
        let targets: Vec<String> = plan.targets.iter().map(TargetId::to_string).collect();
        assert_eq!(
            targets,
            [
                "path:main > work@/p/a.c:3",
                "path:work > work > leaf@/p/a.c:1"
            ]
        );

        let missing = TargetChoice::Path(vec![names_in("main nowhere")]);
        let mut names = Names::new(&missing);
        let (mut plan, _) = number(&mut names);
        let why = names.finish(&mut plan).unwrap_err();
        assert!(why.contains("no function nowhere"), "{why}");
    }

    #[test]
    fn a_fixed_target_is_found_by_trailing_components_or_whole() {
        let target = |text: &str| text.parse::<TargetId>().unwrap();
        let targets = [
            target("/p/src/a.c:3"),
            target("/p/src/b.c:3"),
            target("function:f(int)@/p/src/b.c:4"),
        ];
        for (text, index) in [
            ("b.c:4", 2),
            ("src/a.c:3", 0),
            ("function:f(int)@/p/src/b.c:4", 2),
        ] {
            assert_eq!(find(text, &targets), Ok(index), "{text}");
        }
        for bad in ["a.c:4", "c:3", "a.c", "function:g@/p/src/b.c:4"] {
            assert!(find(bad, &targets).is_err(), "{bad}");
        }
    }
}
