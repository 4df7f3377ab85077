//! V8's CPU profiles, in `.cpuprofile` files and Chrome traces: a call tree, and the node of each sample.
//!
//! Libraries: serde_json parses. The types of the crate profile-inspect have whole numbers as times, and `children` but not
//! `parent`, so they do not fit the profiles in traces.

use std::borrow::Cow;
use std::collections::HashSet;

use fulcrum_model::call_tree::ValueType;
use serde::Deserialize;

use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::ids::Ids;
use crate::collect::parents::{Parents, too_large};
use crate::collect::stacks::{FrameId, Stacks};
use crate::collect::units::value;
use crate::decode::fault::{Fault, dangling};
use crate::decode::input::Input;
use crate::decode::json::text_or_null;

/// Nodes and samples of one thread.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct CpuProfile {
    pub(crate) nodes: Vec<Node>,
    pub(crate) samples: Option<Vec<u64>>,
    /// Microseconds between samples. The first one is from the start.
    pub(crate) time_deltas: Option<Vec<f64>>,
    pub(crate) start_time: Option<f64>,
    pub(crate) end_time: Option<f64>,
}

/// A call in its context.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Node {
    id: u64,
    call_frame: CallFrame,
    #[serde(default)]
    hit_count: u64,
    children: Option<Vec<u64>>,
    /// Replaces the children in traces.
    parent: Option<u64>,
    /// The number of samples in each line.
    position_ticks: Option<Vec<Ticks>>,
}

impl Node {
    /// A call with its id and its caller's.
    pub(crate) fn new(id: u64, call_frame: CallFrame, hit_count: u64, parent: Option<u64>) -> Self {
        Node {
            id,
            call_frame,
            hit_count,
            children: None,
            parent,
            position_ticks: None,
        }
    }
}

#[derive(Deserialize)]
struct Ticks {
    /// From 1.
    line: u32,
    ticks: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
pub(crate) struct CallFrame {
    #[serde(deserialize_with = "text_or_null")]
    pub(crate) function_name: String,
    #[serde(deserialize_with = "text_or_null")]
    pub(crate) url: String,
    /// 0-based; -1 means none.
    pub(crate) line_number: Option<i64>,
    /// 0-based; -1 means none.
    pub(crate) column_number: Option<i64>,
}

/// The value types of these profiles. Time is shown first.
pub(crate) fn values() -> Vec<ValueType> {
    vec![value("samples", "count"), value("time", "ns")]
}

/// Detects the keys of a `.cpuprofile`.
pub(crate) fn detect(input: &Input) -> bool {
    input.has_keys(&["nodes"]) && (input.has_keys(&["startTime"]) || input.has_keys(&["samples"]))
}

/// Reads a `.cpuprofile`.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let profile: CpuProfile = input.parse()?;
    let mut stacks = match profile.time_deltas {
        Some(_) => Stacks::new(values(), 1)?,
        None => Stacks::new(values()[..1].to_vec(), 0)?,
    };
    match input.lines() {
        true => profile.add_lines(&mut stacks)?,
        false => profile.add(None, &mut stacks)?,
    }
    stacks.finish(Format::CpuProfile)
}

/// The name of lost nodes.
const TRUNCATED: &str = "[truncated]";

impl CpuProfile {
    /// Puts nodes and samples that name a missing node below one node for all lost ones. Returns how many nodes and samples
    /// these are.
    pub(crate) fn repair(&mut self) -> (usize, usize) {
        let ids: HashSet<u64> = self.nodes.iter().map(|it| it.id).collect();
        let Some(lost) = (0..=u64::MAX).rev().find(|id| !ids.contains(id)) else {
            return (0, 0);
        };
        let (mut nodes, mut samples) = (0, 0);
        // A missing child has nothing to show. Its samples are handled below.
        for children in self.nodes.iter_mut().filter_map(|it| it.children.as_mut()) {
            children.retain(|child| ids.contains(child));
        }
        for parent in self.nodes.iter_mut().filter_map(|it| it.parent.as_mut()) {
            if !ids.contains(parent) {
                *parent = lost;
                nodes += 1;
            }
        }
        for id in self.samples.iter_mut().flatten() {
            if !ids.contains(id) {
                *id = lost;
                samples += 1;
            }
        }
        if nodes + samples > 0 {
            let frame = CallFrame {
                function_name: TRUNCATED.to_owned(),
                ..CallFrame::default()
            };
            self.nodes.push(Node::new(lost, frame, 0, None));
        }
        (nodes, samples)
    }

    /// Adds every sample.
    pub(crate) fn add(&self, container: Option<FrameId>, stacks: &mut Stacks) -> Result<(), Fault> {
        let ids = Ids::new(self.nodes.iter().map(|it| it.id), "node");
        let ids = ids.map_err(|fault| fault.at_key("nodes"))?;
        let mut parents = Parents::new(stacks.width());
        for (at, node) in self.nodes.iter().enumerate() {
            let parent = match node.parent {
                Some(id) => {
                    Some(row(&ids, id, "a node").map_err(|it| it.at_item("nodes", at))? as u32)
                }
                None => None,
            };
            parents.push(frame(&node.call_frame, stacks)?, parent);
        }
        for (node, at) in self.nodes.iter().zip(0_u32..) {
            for &child in node.children.iter().flatten() {
                let adopted =
                    row(&ids, child, "a node").and_then(|row| parents.set_parent(row, at));
                adopted.map_err(|fault| fault.at_item("nodes", at as usize))?;
            }
        }
        parents.check("nodes")?;
        match &self.samples {
            Some(samples) => {
                let durations = self.durations(samples.len())?;
                for (n, &id) in samples.iter().enumerate() {
                    let node = row(&ids, id, "a sample");
                    let node = node.map_err(|fault| fault.at_item("samples", n))?;
                    parents.add(node, 0, 1)?;
                    if let Some(&duration) = durations.get(n) {
                        parents.add(node, 1, duration)?;
                    }
                }
            }
            None => {
                for (at, node) in self.nodes.iter().enumerate() {
                    let hits = i64::try_from(node.hit_count);
                    let hits = hits.map_err(|_| too_large().at_item("nodes", at))?;
                    parents.add(at, 0, hits)?;
                }
            }
        }
        parents.drain_into(container, stacks)
    }

    /// Adds each line's own cost, without callers, because the format has no lines of callers. V8 counts samples by line,
    /// so a node's time is divided among its lines in proportion to their samples.
    fn add_lines(&self, stacks: &mut Stacks) -> Result<(), Fault> {
        let ids = Ids::new(self.nodes.iter().map(|it| it.id), "node")?;
        let mut sums = vec![[0_i64; 2]; self.nodes.len()];
        let samples = self.samples.as_deref().unwrap_or(&[]);
        let durations = self.durations(samples.len())?;
        for (n, &id) in samples.iter().enumerate() {
            let sum = &mut sums[row(&ids, id, "a sample")?];
            sum[0] += 1;
            let duration = durations.get(n).copied().unwrap_or(0);
            sum[1] = sum[1].checked_add(duration).ok_or_else(too_large)?;
        }
        for (node, mut left) in self.nodes.iter().zip(sums) {
            if self.samples.is_none() {
                left[0] = i64::try_from(node.hit_count).map_err(|_| too_large())?;
            }
            let ticks = node.position_ticks.as_deref().unwrap_or(&[]);
            let mut all: u64 = ticks.iter().fold(0, |sum, it| sum.saturating_add(it.ticks));
            let url = local(&node.call_frame.url);
            for it in ticks.iter().filter(|it| it.ticks > 0) {
                // The last line gets the rest, so that nothing is lost.
                let share = |value: i64| {
                    (i128::from(value) * i128::from(it.ticks) / i128::from(all)) as i64
                };
                let values = left.map(share);
                let frame = stacks.frame(&name(&node.call_frame), url, it.line)?;
                stacks.add(&[frame], &values[..stacks.width()])?;
                all -= it.ticks;
                left = [left[0] - values[0], left[1] - values[1]];
            }
            if left != [0, 0] {
                let frame = stacks.frame(&name(&node.call_frame), "", 0)?;
                stacks.add(&[frame], &left[..stacks.width()])?;
            }
        }
        Ok(())
    }

    /// The duration of each sample in nanoseconds, in the order of the file. V8 writes some samples late.
    fn durations(&self, count: usize) -> Result<Vec<i64>, Fault> {
        let Some(deltas) = &self.time_deltas else {
            return Ok(Vec::new());
        };
        if deltas.len() != count {
            let found = deltas.len();
            let problem = format!("there are {found} time deltas for {count} samples");
            return Err(Fault::whole(problem).at_key("timeDeltas"));
        }
        let mut at = 0.0;
        let mut times = Vec::with_capacity(count);
        for (n, delta) in deltas.iter().enumerate() {
            at += delta;
            times.push((at, n));
        }
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        let end = match (self.start_time, self.end_time) {
            (Some(start), Some(end)) => end - start,
            _ => f64::NEG_INFINITY,
        };
        let mut durations = vec![0; count];
        for (place, &(time, n)) in times.iter().enumerate() {
            let next = times.get(place + 1).map_or(end, |&(next, _)| next);
            let next = if next.is_finite() {
                next.max(time)
            } else {
                time
            };
            let duration = crate::collect::units::whole(next - time, 1e3);
            durations[n] = duration.map_err(|fault| fault.at_item("timeDeltas", n))?;
        }
        Ok(durations)
    }
}

fn row(ids: &Ids, id: u64, what: &str) -> Result<usize, Fault> {
    ids.get(id).ok_or_else(|| dangling(what, id, "node"))
}

/// The function of a call.
pub(crate) fn frame(call: &CallFrame, stacks: &mut Stacks) -> Result<FrameId, Fault> {
    let line = from_one(call.line_number).unwrap_or(0);
    stacks.frame(&name(call), local(&call.url), line)
}

/// Converts a 0-based number to a 1-based one.
fn from_one(number: Option<i64>) -> Option<u32> {
    let number = number.filter(|&number| number >= 0)?.checked_add(1)?;
    u32::try_from(number).ok()
}

/// The function's name. A function without a name gets its location, as in V8's stack traces: `(anonymous) app.js:5:12`.
pub(crate) fn name(call: &CallFrame) -> Cow<'_, str> {
    if !call.function_name.is_empty() {
        return Cow::Borrowed(&call.function_name);
    }
    let file = local(&call.url);
    let file = file.rsplit('/').next().unwrap_or(file);
    let place = |number| from_one(number).map_or(String::new(), |number| format!(":{number}"));
    match (file, place(call.line_number)) {
        ("", _) => "(anonymous)".into(),
        (file, line) if line.is_empty() => format!("(anonymous) {file}").into(),
        (file, line) => format!("(anonymous) {file}{line}{}", place(call.column_number)).into(),
    }
}

/// A local file without its scheme.
pub(crate) fn local(url: &str) -> &str {
    url.strip_prefix("file://").unwrap_or(url)
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_fault};

    fn profile(nodes: &str, rest: &str) -> String {
        format!("{{\"nodes\":[{nodes}],\"startTime\":1000,\"endTime\":1100{rest}}}\n")
    }

    fn node(id: u64, name: &str, more: &str) -> String {
        format!(
            "{{\"id\":{id},\"callFrame\":{{\"functionName\":\"{name}\",\"lineNumber\":4,\"url\":\"file:///a.js\"}}{more}}}"
        )
    }

    fn tree() -> String {
        [
            node(1, "(root)", ",\"children\":[2]"),
            node(2, "", ",\"hitCount\":1,\"children\":[3]"),
            node(3, "f", ",\"hitCount\":2"),
        ]
        .join(",")
    }

    #[test]
    fn time_lasts_until_the_next_sample_in_time() {
        // The third was written late: it was taken at 20, between the first (at 10) and the second (at 50).
        let rest = ",\"samples\":[2,3,3],\"timeDeltas\":[10,40,-30]";
        check(
            profile(&tree(), rest),
            "samples 3
             time ns* 90000
             (root) 0 0
             (root);(anonymous) a.js:5 1 10000
             (root);(anonymous) a.js:5;f 2 80000",
        );
    }

    #[test]
    fn functions_without_a_name_are_told_apart_by_their_places() {
        let node = |id: u64, place: &str, children: &str| {
            format!(
                "{{\"id\":{id},\"callFrame\":{{\"functionName\":\"\",{place}}},\"hitCount\":{id}{children}}}"
            )
        };
        let nodes = [
            node(1, "\"url\":\"\",\"lineNumber\":-1", ",\"children\":[2,3,4]"),
            node(
                2,
                "\"url\":\"file:///lib/b.js\",\"lineNumber\":0,\"columnNumber\":99",
                "",
            ),
            node(
                3,
                "\"url\":\"file:///lib/b.js\",\"lineNumber\":0,\"columnNumber\":7",
                "",
            ),
            node(
                4,
                "\"url\":\"https://a.b/c.js\",\"lineNumber\":-1,\"columnNumber\":-1",
                "",
            ),
        ];
        check(
            profile(&nodes.join(","), ""),
            "samples* 10
             (anonymous) 1
             (anonymous);(anonymous) b.js:1:100 2
             (anonymous);(anonymous) b.js:1:8 3
             (anonymous);(anonymous) c.js 4",
        );
    }

    #[test]
    fn without_samples_hits_are_counted() {
        check(
            profile(&tree(), ""),
            "samples* 3
             (root) 0
             (root);(anonymous) a.js:5 1
             (root);(anonymous) a.js:5;f 2",
        );
    }

    #[test]
    fn wrong_references_are_errors() {
        for (nodes, rest, expect) in [
            (
                node(1, "a", ",\"children\":[2]"),
                "",
                "a node names node 2, which the file does not have",
            ),
            (
                [
                    node(1, "a", ",\"children\":[2]"),
                    node(2, "b", ",\"children\":[1]"),
                ]
                .join(","),
                "",
                "node 0 is its own ancestor",
            ),
            (
                [node(1, "a", ""), node(1, "b", "")].join(","),
                "",
                "node 1 occurs twice",
            ),
            (
                [
                    node(1, "a", ",\"children\":[3]"),
                    node(2, "b", ",\"children\":[3]"),
                    node(3, "c", ""),
                ]
                .join(","),
                "",
                "a node of the call tree has two parents",
            ),
            (
                node(1, "a", ""),
                ",\"samples\":[9],\"timeDeltas\":[1]",
                "a sample names node 9, which the file does not have",
            ),
            (
                node(1, "a", ""),
                ",\"samples\":[1],\"timeDeltas\":[]",
                "there are 0 time deltas for 1 samples",
            ),
        ] {
            check_fault(profile(&nodes, rest), 1, expect);
        }
    }
}
