//! From an aim and a process's memory map to what may be sped up in it.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fulcrum_model::{Location, TargetId, TargetKind};
use fulcrum_symbols::{
    FunctionTable, LineTable, Scope, SymbolsError, function_ranges, line_ranges, load_bias,
};
use fulcrum_wire::{NONE, Node, Range, mode};

use crate::map::Plan;
use crate::{Aim, TargetChoice};

/// Debug information that has been read: processes of one run share it.
#[derive(Default)]
pub struct Tables {
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

/// Where a process's modules are: `/proc/PID/maps` and the program itself.
pub struct Memory {
    /// The text of `/proc/PID/maps`.
    pub maps: String,
    main: PathBuf,
}

impl Memory {
    /// Reads them.
    pub fn of(pid: u32) -> Result<Memory, String> {
        let gone = |error: std::io::Error| format!("Process {pid} is gone ({error}).");
        Ok(Memory {
            maps: fs::read_to_string(format!("/proc/{pid}/maps")).map_err(gone)?,
            main: fs::read_link(format!("/proc/{pid}/exe")).map_err(gone)?,
        })
    }

    /// Every file that is mapped with executable code, in the order of addresses, each once.
    pub fn code(&self) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = Vec::new();
        for line in self.maps.lines() {
            let executable = line.split(' ').nth(1).is_some_and(|it| it.contains('x'));
            if let Some(at) = line.find('/').filter(|_| executable)
                && !found.iter().any(|it| it.as_os_str() == &line[at..])
            {
                found.push(line[at..].into());
            }
        }
        found
    }

    /// The program itself.
    pub fn main(&self) -> &Path {
        &self.main
    }

    /// Every mapping of a file's code, in the order of addresses.
    pub fn mapped_code(&self) -> impl Iterator<Item = MappedCode<'_>> {
        self.maps.lines().filter_map(MappedCode::of)
    }

    /// What to add to a module's file addresses.
    pub fn bias(&self, module: &Path) -> Option<u64> {
        // The program headers are at the beginning.
        let mut head = vec![0; 1 << 16];
        let mut file = fs::File::open(module).ok()?;
        let mut length = 0;
        while length < head.len() {
            match std::io::Read::read(&mut file, &mut head[length..]) {
                Ok(0) => break,
                Ok(more) => length += more,
                Err(_) => return None,
            }
        }
        load_bias(&self.maps, module, &head[..length])
    }

    /// The files that the binary scope names; the program itself when it names none.
    pub fn in_scope(&self, scope: &[String]) -> Vec<PathBuf> {
        if scope.is_empty() {
            return vec![self.main.clone()];
        }
        let named = |path: &PathBuf| {
            let text = path.to_string_lossy();
            scope.iter().any(|pattern| {
                (pattern == "MAIN" && *path == self.main)
                    || fulcrum_symbols::matches_path(pattern, &text)
            })
        };
        self.code().into_iter().filter(named).collect()
    }
}

/// A part of a file that is mapped with executable code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappedCode<'a> {
    /// Address of its first byte.
    pub start: u64,
    /// Address behind its last byte.
    pub end: u64,
    /// Its place in the file.
    pub offset: u64,
    /// The file.
    pub file: &'a str,
}

impl<'a> MappedCode<'a> {
    /// Of a line of `/proc/PID/maps`; `None` of one that is no file's code.
    fn of(line: &'a str) -> Option<MappedCode<'a>> {
        let file = &line[line.find('/')?..];
        let mut columns = line.split(' ');
        let (start, end) = columns.next()?.split_once('-')?;
        columns.next().filter(|it| it.contains('x'))?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        Some(MappedCode {
            start: number(start)?,
            end: number(end)?,
            offset: number(columns.next()?)?,
            file,
        })
    }
}

/// Why a process has no map. `Display` is one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPlan {
    /// It has nothing in scope.
    Nothing(String),
    /// It was built without debug information.
    Bare(String),
    /// A target that was asked for by name is not in it.
    Missing(String),
}

impl std::fmt::Display for NoPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoPlan::Nothing(text) | NoPlan::Bare(text) | NoPlan::Missing(text) => f.write_str(text),
        }
    }
}

/// What a process's map says.
pub fn plan(
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
        let added = match plan.mode {
            mode::LINE | mode::BLOCKED => add_lines(&mut plan, tables, memory, &module, &scope),
            _ => add_functions(&mut plan, &mut names, tables, memory, &module, &scope),
        };
        if let Err(reason) = added {
            // A library without debug information is no news where many are in scope.
            if module == memory.main || reason.is_news {
                why.get_or_insert(if reason.is_news {
                    NoPlan::Nothing(reason.sentence)
                } else {
                    NoPlan::Bare(reason.sentence)
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
    is_news: bool,
}

impl From<SymbolsError> for Reason {
    fn from(error: SymbolsError) -> Reason {
        Reason {
            sentence: format!("{error}."),
            is_news: !matches!(error, SymbolsError::NoDebugInfo(_)),
        }
    }
}

fn bias(memory: &Memory, module: &Path) -> Result<u64, Reason> {
    memory.bias(module).ok_or_else(|| Reason {
        sentence: format!("{} is not mapped as its file says.", module.display()),
        is_news: true,
    })
}

fn add_lines(
    plan: &mut Plan,
    tables: &mut Tables,
    memory: &Memory,
    module: &Path,
    scope: &Scope,
) -> Result<(), Reason> {
    let table = tables.lines(module, scope)?;
    let bias = bias(memory, module)?;
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

/// From functions to the numbers that nodes and paths know them by.
enum Names<'a> {
    /// Every function is a target; the same function in several units of a program is one.
    Targets(HashMap<TargetId, u32>),
    /// Only the functions of these paths have numbers, in the order in which they are first named.
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

    /// The number of a function, or [`NONE`] when nobody asks for it.
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
                    .position(|wanted| is_named(&function.name, wanted));
                number.map_or(NONE, |number| {
                    found[number].get_or_insert_with(|| function.location.clone());
                    number as u32
                })
            }
        }
    }

    /// Paths become targets once every function is known.
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

/// Longest path that the runtime can follow.
const LONGEST_PATH: usize = 63;

/// Whether a function goes by this name: its whole one, or the last part of it (`pop` for `ns::Queue<int>::pop`).
fn is_named(function: &str, wanted: &str) -> bool {
    function == wanted
        || function
            .strip_suffix(wanted)
            .is_some_and(|front| front.ends_with("::"))
}

fn add_functions(
    plan: &mut Plan,
    names: &mut Names<'_>,
    tables: &mut Tables,
    memory: &Memory,
    module: &Path,
    scope: &Scope,
) -> Result<(), Reason> {
    let table = tables.functions(module, scope)?;
    let bias = bias(memory, module)?;
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
    let program = memory.main.display();
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

/// The index of `--fixed-line`: a place by its whole path or by trailing components, or a whole target's text.
fn find(text: &str, targets: &[TargetId]) -> Result<u32, String> {
    let exact = targets.iter().position(|it| it.to_string() == text);
    let wanted: Option<Location> = text.parse().ok();
    let place = || {
        let wanted = wanted.as_ref()?;
        targets
            .iter()
            .position(|it| it.location.line == wanted.line && is_in(it, wanted))
    };
    match exact.or_else(place) {
        Some(index) => Ok(index as u32),
        None => Err(format!(
            "--fixed-line {text}: {}.",
            why_not_found(wanted.as_ref(), targets)
        )),
    }
}

/// Whether a target is in the file that a location names, by its whole path or by trailing components.
fn is_in(target: &TargetId, wanted: &Location) -> bool {
    Path::new(&target.location.file).ends_with(&wanted.file)
}

fn why_not_found(wanted: Option<&Location>, targets: &[TargetId]) -> String {
    let Some(wanted) = wanted else {
        return "it is neither FILE:LINE nor a target as a result names it; write FILE:LINE".into();
    };
    let lines: BTreeSet<u32> = targets
        .iter()
        .filter(|it| is_in(it, wanted))
        .map(|it| it.location.line)
        .collect();
    let before = lines.range(..wanted.line).next_back();
    let after = lines.range(wanted.line..).next();
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

    const MAPS: &str = "\
55e0-55e1 r--p 00000000 08:01 1 /opt/a b/prog
55e1-55e2 r-xp 00001000 08:01 1 /opt/a b/prog
7f00-7f01 r-xp 00000000 08:01 2 /usr/lib/libone.so.1
7f02-7f03 rw-p 00000000 00:00 0
7f04-7f05 r-xp 00000000 00:00 0 [vdso]";

    #[test]
    fn the_binary_scope_names_modules() {
        let memory = Memory {
            maps: MAPS.into(),
            main: "/opt/a b/prog".into(),
        };
        let cases: [(&[&str], &[&str]); 4] = [
            (&[], &["/opt/a b/prog"]),
            (&["MAIN"], &["/opt/a b/prog"]),
            (&["%libone%"], &["/usr/lib/libone.so.1"]),
            (&["%"], &["/opt/a b/prog", "/usr/lib/libone.so.1"]),
        ];
        for (scope, expected) in cases {
            let scope: Vec<String> = scope.iter().map(|it| (*it).to_owned()).collect();
            let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(memory.in_scope(&scope), expected, "{scope:?}");
        }
    }

    #[test]
    fn a_function_goes_by_its_whole_name_or_the_last_part() {
        for (function, wanted, is) in [
            ("ns::Queue<int>::pop", "ns::Queue<int>::pop", true),
            ("ns::Queue<int>::pop", "pop", true),
            ("ns::Queue<int>::pop", "Queue<int>::pop", true),
            ("ns::Queue<int>::pop", "op", false),
            ("pop", "ns::pop", false),
        ] {
            assert_eq!(is_named(function, wanted), is, "{function} {wanted}");
        }
    }

    #[test]
    fn a_path_is_a_target_made_of_its_functions() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let choice = TargetChoice::Path(vec![words("main work"), words("work work leaf")]);
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

        let missing = TargetChoice::Path(vec![words("main nowhere")]);
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
