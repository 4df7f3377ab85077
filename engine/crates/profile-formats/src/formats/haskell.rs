//! GHC's cost centre profiles as JSON (`+RTS -pj`): a call tree with ticks, allocation and entries of each call.
//!
//! Libraries: serde_json parses; no crate with the format's types found.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::parents::Parents;
use crate::collect::stacks::{FrameId, Stacks};
use crate::collect::units::{value, whole};
use crate::decode::fault::{Fault, dangling};
use crate::decode::input::Input;
use crate::decode::nested::{self, Call, Nested, Scalar};

/// The fields outside the tree.
#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    cost_centres: Vec<Centre<'a>>,
    /// Microseconds.
    tick_interval: f64,
    total_ticks: f64,
    total_alloc: f64,
    #[expect(dead_code, reason = "the key is required")]
    profile: IgnoredAny,
}

#[derive(Deserialize)]
struct Centre<'a> {
    id: u64,
    #[serde(borrow)]
    label: Cow<'a, str>,
    #[serde(borrow)]
    module: Cow<'a, str>,
    #[serde(borrow, default)]
    src_loc: Cow<'a, str>,
}

/// A cost centre in its context.
#[derive(Default)]
struct Node {
    centre: u64,
    entries: f64,
    ticks: f64,
    /// Bytes.
    alloc: f64,
}

impl<'a> Call<'a> for Node {
    const CHILDREN: &'static str = "children";

    fn set(&mut self, key: &str, value: Scalar<'a>) {
        match key {
            "id" => self.centre = value.number() as u64,
            "entries" => self.entries = value.number(),
            "ticks" => self.ticks = value.number(),
            "alloc" => self.alloc = value.number(),
            _ => {}
        }
    }
}

/// Detects GHC's keys.
pub(crate) fn detect(input: &Input) -> bool {
    input.has_keys(&["cost_centres", "profile", "total_ticks"])
}

/// Reads a profile.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let file: File = input.parse()?;
    let nodes = nested::read::<Node>(input, "profile")?;
    let types = vec![
        value("ticks", "count"),
        value("time", "ns"),
        value("alloc", "bytes"),
        value("entries", "count"),
    ];
    let mut stacks = Stacks::new(types, 1)?;
    let mut frames = HashMap::with_capacity(file.cost_centres.len());
    for centre in &file.cost_centres {
        frames.insert(centre.id, frame(centre, &mut stacks)?);
    }
    let mut parents = Parents::new(stacks.width());
    for (row, node) in nodes.iter().enumerate() {
        let added = add(node, row, &frames, file.tick_interval, &mut parents);
        added.map_err(|fault| node.at(input, fault))?;
    }
    let sum = |of: fn(&Node) -> f64| nodes.iter().map(|it| of(&it.call)).sum::<f64>();
    for (what, sum, total) in [
        ("ticks", sum(|it| it.ticks), file.total_ticks),
        ("bytes", sum(|it| it.alloc), file.total_alloc),
    ] {
        if sum != total {
            stacks.note(format!(
                "The {what} of all cost centres add up to {sum}, but the file's own total is {total}."
            ));
        }
    }
    drop(nodes);
    parents.drain_into(None, &mut stacks)?;
    stacks.finish(Format::Haskell)
}

fn add(
    node: &Nested<Node>,
    row: usize,
    frames: &HashMap<u64, FrameId>,
    interval: f64,
    parents: &mut Parents,
) -> Result<(), Fault> {
    let call = &node.call;
    let frame = frames.get(&call.centre).copied();
    let frame = frame.ok_or_else(|| dangling("a call", call.centre, "cost centre"))?;
    parents.push(frame, node.parent);
    let time = call.ticks * interval;
    let values = [
        (call.ticks, 1.0),
        (time, 1e3),
        (call.alloc, 1.0),
        (call.entries, 1.0),
    ];
    for (kind, (value, scale)) in values.into_iter().enumerate() {
        parents.add(row, kind, whole(value, scale)?)?;
    }
    Ok(())
}

/// The frame of a cost centre: `Main.check`, declared at `src/Main.hs:(56,1)-(57,42)` or `src/Main.hs:21:1-4`.
fn frame(centre: &Centre, stacks: &mut Stacks) -> Result<FrameId, Fault> {
    let name = format!("{}.{}", centre.module, centre.label);
    let place = centre
        .src_loc
        .split_once(".hs:")
        .or_else(|| centre.src_loc.split_once(".lhs:"));
    let Some((path, rest)) = place else {
        return stacks.frame(&name, "", 0);
    };
    let file = &centre.src_loc[..centre.src_loc.len() - rest.len() - 1];
    debug_assert!(file.starts_with(path));
    let digits = rest.trim_start_matches('(');
    let end = digits
        .find(|it: char| !it.is_ascii_digit())
        .unwrap_or(digits.len());
    stacks.frame(&name, file, digits[..end].parse().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_fault};

    const FILE: &str = r#"{"program":"trees","arguments":["trees"],"rts_arguments":["-pj"],"end_time":"Thu Oct 25 10:51 2018",
"initial_capabilities":0,"total_time":0.80,"total_ticks":9,"tick_interval":1000,"total_alloc":960,"cost_centres":[
{"id":1,"label":"MAIN","module":"MAIN","src_loc":"<built-in>","is_caf":false},
{"id":2,"label":"check","module":"Main","src_loc":"src/Main.hs:(56,1)-(57,42)","is_caf":false},
{"id":3,"label":"main","module":"Main","src_loc":"src/Main.hs:21:1-4","is_caf":false}],
"profile":{"id":1,"entries":0,"alloc":640,"ticks":0,"children":[
{"id":3,"entries":1,"alloc":0,"ticks":2,"children":[{"id":2,"entries":131071,"alloc":320,"ticks":7,"children":[]}]}]}}"#;

    #[test]
    fn cost_centres_have_ticks_time_allocation_and_entries() {
        check(
            FILE,
            "ticks 9
             time ns* 9000000
             alloc bytes 960
             entries 131072
             MAIN.MAIN 0 0 640 0
             MAIN.MAIN;Main.main 2 2000000 0 1
             MAIN.MAIN;Main.main;Main.check 7 7000000 320 131071",
        );
        let profile = crate::read(FILE.as_bytes(), "x").expect("a profile");
        let crate::Calls::Tree(tree) = &profile.calls else {
            panic!("a tree");
        };
        let places: Vec<_> = (0..tree.len())
            .map(|node| (tree.frame(node).file.as_deref(), tree.frame(node).line))
            .collect();
        let file = Some("src/Main.hs");
        assert_eq!(places, [(None, None), (file, Some(21)), (file, Some(56))]);
    }

    #[test]
    fn a_file_is_held_to_its_totals_and_its_centres() {
        let expect = "ticks 9
             time ns* 9000000
             alloc bytes 960
             entries 131072
             MAIN.MAIN 0 0 640 0
             MAIN.MAIN;Main.main 2 2000000 0 1
             MAIN.MAIN;Main.main;Main.check 7 7000000 320 131071
             note: The ticks of all cost centres add up to 9, but the file's own total is 10.";
        check(
            FILE.replace("\"total_ticks\":9", "\"total_ticks\":10"),
            expect,
        );
        let wrong = FILE.replace("{\"id\":2,\"entries\"", "{\"id\":7,\"entries\"");
        check_fault(
            wrong,
            7,
            "a call names cost centre 7, which the file does not have",
        );
    }
}
