//! pyinstrument's JSON: a call tree with times (`-r json`), or a session with the stack of every sample (`.pyisession`).
//!
//! Libraries: serde_json parses; no crate with the format's types found.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::parents::{Parents, too_large};
use crate::collect::stacks::{FrameId, Stacks};
use crate::collect::units::{value, whole};
use crate::decode::fault::Fault;
use crate::decode::input::Input;
use crate::decode::nested::{self, Call, Nested, Scalar};

/// The name of the child node with a function's own time.
const OWN: &str = "[self]";
/// Separates the parts of a function's identity: name, file and first line.
const PARTS: char = '\0';
/// Precedes an attribute: `l12` is the line that ran, `cCart` the class.
const ATTRIBUTES: char = '\u{1}';
/// The file of the outermost frame when that is a thread.
const THREAD: &str = "<thread>";
/// Records between two progress reports.
const PROGRESS_STEP: usize = 1 << 12;
/// The rounding error of six decimals of a second, in nanoseconds.
const ROUNDING: i64 = 1000;

/// The file of a tree, without the tree.
#[derive(Deserialize)]
struct Tree {
    #[expect(dead_code, reason = "the key is required")]
    root_frame: IgnoredAny,
}

#[derive(Deserialize)]
struct Session<'a> {
    #[serde(borrow)]
    frame_records: Vec<(Vec<Cow<'a, str>>, f64)>,
}

/// A call in its context.
#[derive(Default)]
struct Node<'a> {
    function: Cow<'a, str>,
    class: Cow<'a, str>,
    file: Cow<'a, str>,
    line: f64,
    /// Seconds, including callees.
    time: f64,
}

impl<'a> Call<'a> for Node<'a> {
    const CHILDREN: &'static str = "children";

    fn set(&mut self, key: &str, value: Scalar<'a>) {
        match key {
            "function" => self.function = value.text(),
            "class_name" => self.class = value.text(),
            "file_path" => self.file = value.text(),
            // Old versions write only this key.
            "file_path_short" if self.file.is_empty() => self.file = value.text(),
            "line_no" => self.line = value.number(),
            "time" => self.time = value.number(),
            _ => {}
        }
    }
}

/// Detects the keys of either file.
pub(crate) fn detect(input: &Input) -> bool {
    input.has_keys(&["root_frame", "duration"]) || input.has_keys(&["frame_records", "duration"])
}

/// Reads a tree or a session.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    match input.has_keys(&["frame_records"]) {
        true => session(input),
        false => tree(input),
    }
}

fn tree(input: &Input) -> Result<Collected, Fault> {
    input.parse::<Tree>()?;
    let nodes = nested::read::<Node>(input, "root_frame")?;
    let mut stacks = Stacks::new(vec![value("time", "ns")], 0)?;
    let (own, exceeding) = own_times(input, &nodes)?;
    let mut parents = Parents::new(1);
    // The row of each call. A node with the caller's own time has the caller's row.
    let mut rows: Vec<u32> = Vec::with_capacity(nodes.len());
    for (node, &own) in nodes.iter().zip(&own) {
        let parent = node.parent.map(|it| rows[it as usize]);
        let row = match parent {
            Some(parent) if node.call.function == OWN => parent,
            _ => {
                let frame = frame(input, &node.call, &mut stacks)?;
                parents.push(frame, parent);
                parents.len() as u32 - 1
            }
        };
        rows.push(row);
        let added = parents.add(row as usize, 0, own);
        added.map_err(|fault| node.at(input, fault))?;
    }
    if exceeding > 0 {
        stacks.note(format!(
            "{exceeding} calls cost less than their callees, which stay as they are."
        ));
    }
    drop(nodes);
    parents.drain_into(None, &mut stacks)?;
    stacks.finish(Format::Pyinstrument)
}

/// The own time of each call in nanoseconds, and how many calls cost less than their callees.
fn own_times(input: &Input, nodes: &[Nested<Node>]) -> Result<(Vec<i64>, u64), Fault> {
    let mut own = Vec::with_capacity(nodes.len());
    let mut inside = vec![0_i64; nodes.len()];
    for node in nodes {
        let time = whole(node.call.time, 1e9).map_err(|fault| node.at(input, fault))?;
        own.push(time);
        if let Some(parent) = node.parent {
            let slot = &mut own[parent as usize];
            *slot = slot.checked_sub(time).ok_or_else(too_large)?;
            inside[parent as usize] += 1;
        }
    }
    let mut exceeding = 0;
    for (own, inside) in own.iter_mut().zip(inside) {
        exceeding += u64::from(*own < -ROUNDING * (inside + 1));
        *own = (*own).max(0);
    }
    Ok((own, exceeding))
}

fn frame(input: &Input, call: &Node, stacks: &mut Stacks) -> Result<FrameId, Fault> {
    // The tree has only the line where the function begins, not the one that ran.
    let line = match input.lines() {
        true => 0,
        false => call.line as u32,
    };
    match &*call.class {
        "" => stacks.frame(&call.function, &call.file, line),
        class => stacks.frame(&format!("{class}.{}", call.function), &call.file, line),
    }
}

fn session(input: &Input) -> Result<Collected, Fault> {
    let session: Session = input.parse()?;
    let mut stacks = Stacks::new(vec![value("samples", "count"), value("time", "ns")], 1)?;
    let records = &session.frame_records;
    let threads: BTreeSet<_> = records
        .iter()
        .filter_map(|(frames, _)| thread(frames))
        .collect();
    let mut stack = Vec::new();
    for (n, (frames, seconds)) in records.iter().enumerate() {
        if n.is_multiple_of(PROGRESS_STEP) {
            input.progress.at(n as f64 / records.len() as f64)?;
        }
        let thread = thread(frames);
        stack.clear();
        for text in &frames[usize::from(thread.is_some())..] {
            stack.push(recorded(input, text, &mut stacks)?);
        }
        let container = match thread.filter(|_| threads.len() > 1) {
            Some((name, id)) => Some(stacks.container(&format!("{name} ({id})"))?),
            None => None,
        };
        let time = whole(*seconds, 1e9);
        let added = time.and_then(|time| stacks.add_in(container, &stack, &[1, time]));
        added.map_err(|fault| fault.at_item("frame_records", n))?;
    }
    stacks.finish(Format::Pyinstrument)
}

/// The name and number of the thread at the beginning of a stack: `MainThread\0<thread>\0140605409631104`.
fn thread<'s>(frames: &'s [Cow<str>]) -> Option<(&'s str, &'s str)> {
    let mut parts = frames.first()?.split([PARTS, ATTRIBUTES]);
    let (name, file, number) = (parts.next()?, parts.next()?, parts.next()?);
    (file == THREAD).then_some((name, number))
}

/// Parses a frame of a session: `total\0/app/cart.py\012\x01l14\x01cCart`.
fn recorded(input: &Input, text: &str, stacks: &mut Stacks) -> Result<FrameId, Fault> {
    let mut attributes = text.split(ATTRIBUTES);
    let mut parts = attributes.next().unwrap_or_default().split(PARTS);
    let (name, file) = (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    );
    let mut line = parts.next().and_then(|it| it.parse().ok()).unwrap_or(0);
    let mut class = "";
    for attribute in attributes {
        if let Some(name) = attribute.strip_prefix('c') {
            class = name;
        } else if let Some(ran) = attribute.strip_prefix('l').filter(|_| input.lines()) {
            line = ran.parse().unwrap_or(0);
        }
    }
    match class {
        "" => stacks.frame(name, file, line),
        class => stacks.frame(&format!("{class}.{name}"), file, line),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_fault, text};
    use crate::{Limits, NoSymbols, read_lines};

    const TREE: &str = r#"{"start_time":1.5,"duration":0.9,"sample_count":9,"target_description":"Program: a.py","cpu_time":0.8,
"root_frame":{"function":"<module>","file_path_short":"a.py","file_path":"/app/a.py","line_no":1,"time":0.900000,"await_time":0.0,
"is_application_code":true,"children":[{"function":"total","file_path_short":"cart.py","file_path":"/app/cart.py","line_no":12,
"time":0.700001,"await_time":0.0,"is_application_code":true,"children":[{"function":"[self]","file_path_short":"","file_path":"",
"line_no":0,"time":0.300001,"children":[]},{"function":"sleep","file_path_short":"","file_path":"<built-in>","line_no":0,
"time":0.400000,"children":[]}],"group_id":"g","class_name":"Cart"},{"function":"[self]","file_path":"","line_no":0,"time":0.2,"children":[]}]}}"#;

    #[test]
    fn times_of_calls_become_own_times() {
        check(
            TREE,
            "time ns* 900001000
             <module> 200000000
             <module>;Cart.total 300001000
             <module>;Cart.total;sleep 400000000",
        );
    }

    #[test]
    fn calls_that_cost_more_than_their_caller_are_told() {
        check(
            TREE.replace("\"time\":0.900000", "\"time\":0.5"),
            "time ns* 900001000
             <module> 200000000
             <module>;Cart.total 300001000
             <module>;Cart.total;sleep 400000000
             note: 1 calls cost less than their callees, which stay as they are.",
        );
        check_fault(
            TREE.replace("0.400000", "-0.4"),
            5,
            "expected a value of at least 0, got -0.4",
        );
    }

    const SESSION: &str = r#"{"start_time":1.5,"duration":0.9,"min_interval":0.001,"max_interval":0.001,"sample_count":2,
"start_call_stack":["<module>\u0000/app/a.py\u00001"],"target_description":"Program: a.py","cpu_time":0.8,"sys_path":[],"sys_prefixes":[],
"frame_records":[[["MainThread\u0000<thread>\u0000140605409631104","<module>\u0000/app/a.py\u00001\u0001l30","total\u0000/app/cart.py\u000012\u0001l14\u0001cCart"],0.25],
[["<module>\u0000/app/a.py\u00001\u0001l31","total\u0000/app/cart.py\u000012\u0001l15\u0001cCart"],0.5],
[["<module>\u0000/app/a.py\u00001\u0001l31","[await]"],0.125]]}"#;

    #[test]
    fn a_session_has_every_sample_and_its_lines() {
        let functions = "samples 3
             time ns* 875000000
             <module> 0 0
             <module>;Cart.total 2 750000000
             <module>;[await] 1 125000000";
        check(SESSION, functions);
        let lines = read_lines(SESSION, "x", Limits::default(), &NoSymbols).expect("a session");
        let lines = lines.expect("it tells lines");
        assert_eq!(text(&lines).lines().count(), 2 + 5);
        // Of two threads, each is a container.
        check(
            SESSION.replace(
                "[[\"<module>",
                "[[\"Thread-1\\u0000<thread>\\u00007\",\"<module>",
            ),
            "samples 3
             time ns* 875000000
             {MainThread (140605409631104)} 0 0
             {MainThread (140605409631104)};<module> 0 0
             {MainThread (140605409631104)};<module>;Cart.total 1 250000000
             {Thread-1 (7)} 0 0
             {Thread-1 (7)};<module> 0 0
             {Thread-1 (7)};<module>;Cart.total 1 500000000
             {Thread-1 (7)};<module>;[await] 1 125000000",
        );
        check_fault(
            SESSION.replace("0.125", "-1"),
            5,
            "expected a value of at least 0, got -1",
        );
    }
}
