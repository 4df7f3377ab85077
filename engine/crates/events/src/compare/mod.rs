//! Compares two traces (JPMT §7): aligns threads by role, and calls by path.

mod common;

use std::collections::{BTreeMap, HashMap};

use fulcrum_model::{Cancelled, Progress};

use self::common::common;
use crate::reader::open::Trace;
use crate::reader::selection::Selection;
use crate::tree::stack::Node;
use crate::tree::walk::{Passed, Walk, parking};

/// The changes from trace B, the base, to trace A.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The roles, by name.
    pub roles: Vec<Role>,
    /// The paths, those whose own time changed most first.
    pub rows: Vec<Difference>,
    /// What a reader should know, in whole sentences.
    pub notes: Vec<String>,
}

/// Threads that do the same work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// The threads' names, with `#` for numbers.
    pub name: String,
    /// The number of threads in A.
    pub a: u32,
    /// The number of threads in B.
    pub b: u32,
}

/// A path of a role, in both traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The role of the threads.
    pub role: String,
    /// The path, outermost call first.
    pub path: Vec<String>,
    /// The kind of change.
    pub change: Change,
    /// The sums in A. `None` if A does not have the path.
    pub a: Option<PathSums>,
    /// The sums in B.
    pub b: Option<PathSums>,
}

/// The sums of all calls of a path, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathSums {
    /// The number of calls.
    pub count: u64,
    /// Wall time.
    pub wall_ns: u64,
    /// CPU time. `None` if the log does not have it.
    pub cpu_ns: Option<u64>,
    /// Wall time minus that of children.
    pub self_wall_ns: u64,
    /// Thread and node of one call to look at: the first that ended.
    pub first: (u32, u64),
}

/// How a path changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// Only in A.
    Appeared,
    /// Only in B.
    Vanished,
    /// The mean wall time of a call grew by more than a tenth and 1 µs.
    Slower,
    /// The mean wall time of a call fell by as much.
    Faster,
    /// Neither, but the number of calls changed.
    Count,
    /// None of these.
    Same,
}

impl Change {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Change::Appeared => "appeared",
            Change::Vanished => "vanished",
            Change::Slower => "slower",
            Change::Faster => "faster",
            Change::Count => "count",
            Change::Same => "same",
        }
    }
}

impl Difference {
    /// The own wall time in A minus that in B, in nanoseconds.
    pub fn self_wall_ns(&self) -> i64 {
        let own = |side: Option<PathSums>| {
            side.map_or(0, |it| i64::try_from(it.self_wall_ns).unwrap_or(i64::MAX))
        };
        own(self.a).saturating_sub(own(self.b))
    }
}

/// The most paths on a side. Deeper calls then count for the last path on their way.
const MOST_PATHS: usize = 1 << 20;

/// A mean counts as changed if it differs by more than this part, and by more than this duration.
const LEAST_PART: f64 = 0.1;
const LEAST_NS: f64 = 1000.0;

/// Compares two traces.
///
/// # Errors
/// [`Cancelled`] when `progress` was cancelled.
pub fn compare(a: &Trace, b: &Trace, progress: &Progress) -> Result<Comparison, Cancelled> {
    let mut names = Names::default();
    let roles = Roles::new([a, b]);
    let middle = a.bytes() as f64 / (a.bytes() + b.bytes()).max(1) as f64;
    let (seen, notes) = common(a, b);
    let [in_a, in_b] = seen.each_ref().map(Option::as_ref);
    let of_a = Paths::read(a, in_a, &roles, &mut names, &progress.part(0.0, middle))?;
    let of_b = Paths::read(b, in_b, &roles, &mut names, &progress.part(middle, 1.0))?;
    let mut comparison = Comparison {
        roles: roles.count(a, b),
        notes,
        ..Comparison::default()
    };
    for (paths, side) in [(&of_a, "A"), (&of_b, "B")] {
        if paths.full {
            comparison.notes.push(format!(
                "{side} has more than {MOST_PATHS} call paths: calls on further paths are counted for their nearest listed \
                 caller."
            ));
        }
        comparison
            .notes
            .extend(paths.problems.iter().map(|it| format!("{side}: {it}")));
    }
    if a.has_cpu() != b.has_cpu() {
        comparison
            .notes
            .push("Only one of the traces tells CPU times.".into());
    }
    comparison.rows = align(&of_a, &of_b, &names);
    Ok(comparison)
}

/// A thread's role: its name with one `#` for each number.
pub fn role(name: &str) -> String {
    let mut role = String::new();
    for c in name.chars() {
        match c.is_ascii_digit() {
            true if role.ends_with('#') => {}
            true => role.push('#'),
            false => role.push(c),
        }
    }
    match role.is_empty() {
        true => "(no name)".into(),
        false => role,
    }
}

/// The roles of threads. Ambiguous ones are distinguished by the role of the thread that started them.
struct Roles {
    /// The roles whose threads have parents of different roles.
    several: Vec<String>,
}

impl Roles {
    fn new(traces: [&Trace; 2]) -> Roles {
        let mut parents: BTreeMap<String, Option<String>> = BTreeMap::new();
        let mut several = Vec::new();
        for trace in traces {
            for thread in &trace.threads {
                let role = role(&thread.name);
                let parent = Self::parent(trace, thread.parent);
                let Some(parent) = parent else { continue };
                let known = parents
                    .entry(role.clone())
                    .or_insert_with(|| Some(parent.clone()));
                if known.as_ref() != Some(&parent) && !several.contains(&role) {
                    several.push(role);
                }
            }
        }
        Roles { several }
    }

    fn parent(trace: &Trace, parent: u32) -> Option<String> {
        trace.thread(parent).map(|it| role(&it.name))
    }

    fn of(&self, trace: &Trace, thread: u32) -> String {
        let Some(thread) = trace.thread(thread) else {
            return role("");
        };
        let name = role(&thread.name);
        match Self::parent(trace, thread.parent) {
            Some(parent) if self.several.contains(&name) => format!("{name} from {parent}"),
            _ => name,
        }
    }

    fn count(&self, a: &Trace, b: &Trace) -> Vec<Role> {
        let mut counts: BTreeMap<String, [u32; 2]> = BTreeMap::new();
        for (side, trace) in [a, b].into_iter().enumerate() {
            for thread in &trace.threads {
                counts.entry(self.of(trace, thread.id)).or_default()[side] += 1;
            }
        }
        let roles = counts.into_iter();
        roles.map(|(name, [a, b])| Role { name, a, b }).collect()
    }
}

/// Numbers for texts, shared by both sides.
#[derive(Default)]
struct Names {
    texts: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Names {
    fn number(&mut self, text: String) -> u32 {
        if let Some(number) = self.numbers.get(&text) {
            return *number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.clone());
        self.numbers.insert(text, number);
        number
    }
}

/// The paths of a trace. The roots are roles.
#[derive(Default)]
struct Paths {
    /// Parent, name and sums of each node. Parents come before children.
    nodes: Vec<(Option<u32>, u32, PathSums)>,
    children: HashMap<(Option<u32>, u32), u32>,
    full: bool,
    problems: Vec<String>,
}

impl Paths {
    fn child(&mut self, parent: Option<u32>, name: u32) -> u32 {
        if let Some(node) = self.children.get(&(parent, name)) {
            return *node;
        }
        if let (true, Some(parent)) = (self.nodes.len() >= MOST_PATHS, parent) {
            self.full = true;
            return parent;
        }
        let node = self.nodes.len() as u32;
        self.nodes.push((parent, name, PathSums::default()));
        self.children.insert((parent, name), node);
        node
    }

    fn read(
        trace: &Trace,
        selection: Option<&Selection>,
        roles: &Roles,
        names: &mut Names,
        progress: &Progress,
    ) -> Result<Paths, Cancelled> {
        let mut paths = Paths::default();
        let mut known: HashMap<(u8, u32), u32> = HashMap::new();
        let parking = parking(trace);
        let mut passed = Passed::new(progress, trace.threads.iter());
        for thread in &trace.threads {
            passed.enter(thread);
            let root = names.number(roles.of(trace, thread.id));
            let root = paths.child(None, root);
            let mut walk = Walk::selected(trace, thread.id, &parking, selection);
            let mut open: Vec<u32> = Vec::new();
            loop {
                let event = walk.step_with(&passed)?;
                for (outcome, inside) in &walk.ended {
                    let Some(node) = open.pop() else { continue };
                    let sums = &mut paths.nodes[node as usize].2;
                    if sums.count == 0 {
                        sums.first = (thread.id, inside.node);
                    }
                    sums.count += 1;
                    sums.wall_ns = sums.wall_ns.saturating_add(outcome.times.wall_ns);
                    sums.self_wall_ns =
                        sums.self_wall_ns.saturating_add(outcome.times.self_wall_ns);
                    if let Some(cpu) = outcome.times.cpu_ns {
                        sums.cpu_ns = Some(sums.cpu_ns.unwrap_or(0).saturating_add(cpu));
                    }
                }
                if event.is_none() {
                    break;
                }
                if walk.began {
                    let what = walk.open.last().expect("it was opened just now").what;
                    let name = *known
                        .entry(key(what))
                        .or_insert_with(|| names.number(name(trace, what)));
                    let parent = open.last().copied().unwrap_or(root);
                    open.push(paths.child(Some(parent), name));
                }
            }
            paths.problems.extend_from_slice(walk.problems());
        }
        passed.finish()?;
        Ok(paths)
    }

    /// The names from the role to a node.
    fn path(&self, node: u32) -> Vec<u32> {
        let mut path = Vec::new();
        let mut next = Some(node);
        while let Some(node) = next {
            let (parent, name, _) = self.nodes[node as usize];
            path.push(name);
            next = parent;
        }
        path.reverse();
        path
    }
}

fn key(node: Node) -> (u8, u32) {
    match node {
        Node::Call { method } => (0, method),
        Node::Contended { class, .. } => (1, class),
        Node::Waiting { class, .. } => (2, class),
        Node::Collection => (3, 0),
    }
}

fn name(trace: &Trace, node: Node) -> String {
    match node {
        Node::Call { method } => trace.method_name(method),
        Node::Contended { class, .. } => format!("contended {}", trace.class_name(class)),
        Node::Waiting { class, .. } => format!("wait {}", trace.class_name(class)),
        Node::Collection => "garbage collection".into(),
    }
}

fn align(a: &Paths, b: &Paths, names: &Names) -> Vec<Difference> {
    let mut rows = Vec::new();
    let row = |paths: &Paths, node: u32, sides: [Option<PathSums>; 2]| {
        let mut path = paths
            .path(node)
            .into_iter()
            .map(|it| names.texts[it as usize].clone());
        let role = path.next().unwrap_or_default();
        let [a, b] = sides;
        Difference {
            role,
            path: path.collect(),
            change: change(a, b),
            a,
            b,
        }
    };
    // For each node of B the same node of A, parents first.
    let mut of_a: HashMap<u32, u32> = HashMap::new();
    let mut of_b: Vec<Option<u32>> = Vec::with_capacity(b.nodes.len());
    for (node, (parent, name, sums)) in b.nodes.iter().enumerate() {
        let same = match parent {
            None => a.children.get(&(None, *name)),
            Some(parent) => {
                of_b[*parent as usize].and_then(|parent| a.children.get(&(Some(parent), *name)))
            }
        };
        of_b.push(same.copied());
        match same {
            Some(same) => {
                of_a.insert(*same, node as u32);
            }
            None if sums.count > 0 => rows.push(row(b, node as u32, [None, Some(*sums)])),
            None => {}
        }
    }
    for (node, (parent, _, sums)) in a.nodes.iter().enumerate() {
        let other = of_a.get(&(node as u32)).map(|it| b.nodes[*it as usize].2);
        let there = |sums: PathSums| (sums.count > 0).then_some(sums);
        if parent.is_some() {
            let sides = [there(*sums), other.and_then(there)];
            if sides != [None, None] {
                rows.push(row(a, node as u32, sides));
            }
        }
    }
    rows.sort_by(|a, b| {
        let most = b
            .self_wall_ns()
            .unsigned_abs()
            .cmp(&a.self_wall_ns().unsigned_abs());
        most.then_with(|| (&a.role, &a.path).cmp(&(&b.role, &b.path)))
    });
    rows
}

fn change(a: Option<PathSums>, b: Option<PathSums>) -> Change {
    let (a, b) = match (a, b) {
        (Some(a), Some(b)) => (a, b),
        (Some(_), None) => return Change::Appeared,
        _ => return Change::Vanished,
    };
    let mean = |sums: PathSums| sums.wall_ns as f64 / sums.count.max(1) as f64;
    let (now, before) = (mean(a), mean(b));
    let much = (now - before).abs() > (before * LEAST_PART).max(LEAST_NS);
    match (much, now > before) {
        (true, true) => Change::Slower,
        (true, false) => Change::Faster,
        _ if a.count != b.count => Change::Count,
        _ => Change::Same,
    }
}
