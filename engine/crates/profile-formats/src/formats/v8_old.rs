//! `.cpuprofile` files before 2017 (up to Chrome 57, and recorders of that time): calls nested in their callers, and the
//! timestamps of samples. Without timestamps, calls have only the number of their samples.
//!
//! Libraries: serde_json parses the file and `decode::nested` the tree; no crate with the types of this old format found.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::stacks::Stacks;
use crate::decode::fault::Fault;
use crate::decode::input::Input;
use crate::decode::nested::{self, Call, Nested, Scalar};
use crate::formats::v8::{CallFrame, CpuProfile, Node, values};

/// The fields outside the tree.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    #[expect(dead_code, reason = "the key is required")]
    head: IgnoredAny,
    samples: Option<Vec<u64>>,
    /// Microseconds.
    timestamps: Option<Vec<f64>>,
    /// Seconds of the same clock, often without a fraction.
    end_time: Option<f64>,
}

/// A call in its context.
#[derive(Default)]
struct Old {
    id: u64,
    hits: u64,
    frame: CallFrame,
}

impl<'a> Call<'a> for Old {
    const CHILDREN: &'static str = "children";

    fn set(&mut self, key: &str, value: Scalar<'a>) {
        match key {
            "id" => self.id = value.number() as u64,
            "hitCount" => self.hits = value.number() as u64,
            "functionName" => self.frame.function_name = value.text().into_owned(),
            "url" => self.frame.url = value.text().into_owned(),
            "lineNumber" => self.frame.line_number = Some(value.number() as i64),
            "columnNumber" => self.frame.column_number = Some(value.number() as i64),
            _ => {}
        }
    }
}

/// Detects a tree as in `.heapprofile` files, with timestamps or numbers of samples.
pub(crate) fn detect(input: &Input) -> bool {
    let has_hits = || memchr::memmem::find(input.text().as_bytes(), b"\"hitCount\":").is_some();
    input.has_keys(&["head"]) && (input.has_keys(&["samples", "timestamps"]) || has_hits())
}

/// Reads a profile.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let file: File = input.parse()?;
    let old = nested::read::<Old>(input, "head")?;
    if file.timestamps.is_none() {
        return without_times(old);
    }
    let ids: Vec<u64> = old.iter().map(|node| node.call.id).collect();
    let nodes = old.into_iter().map(|node| {
        let parent = node.parent.map(|row| ids[row as usize]);
        Node::new(node.call.id, node.call.frame, node.call.hits, parent)
    });
    let mut times = file.timestamps.unwrap_or_default();
    let count = file.samples.as_ref().map_or(0, Vec::len);
    // Some files have the end time as the last timestamp.
    let ended = (times.len() == count + 1).then(|| times.pop()).flatten();
    let (first, last) = (times.first().copied(), times.last().copied());
    let deltas = times.iter().zip(times.iter().skip(1));
    let deltas = first
        .map(|_| 0.0)
        .into_iter()
        .chain(deltas.map(|(a, b)| b - a));
    let deltas: Vec<f64> = deltas.collect();
    // Whole seconds may be before the last sample, and another clock's time far after it.
    let end = ended.or(file.end_time.map(|seconds| seconds * 1e6));
    let end = end.filter(|end| match (first, last) {
        (Some(first), Some(last)) => (0.0..=last - first).contains(&(end - last)),
        _ => false,
    });
    let profile = CpuProfile {
        nodes: nodes.collect(),
        samples: file.samples,
        time_deltas: Some(deltas),
        start_time: first,
        end_time: end,
    };
    let mut stacks = Stacks::new(values(), 1)?;
    profile.add(None, &mut stacks)?;
    stacks.finish(Format::CpuProfile)
}

/// Reads a profile without timestamps. Recorders of that time gave several calls one id, which only samples need.
fn without_times(old: Vec<Nested<Old>>) -> Result<Collected, Fault> {
    let nodes = old.into_iter().zip(0..).map(|(node, row)| {
        let Old { hits, frame, .. } = node.call;
        Node::new(row, frame, hits, node.parent.map(u64::from))
    });
    let profile = CpuProfile {
        nodes: nodes.collect(),
        ..CpuProfile::default()
    };
    let mut stacks = Stacks::new(values()[..1].to_vec(), 0)?;
    profile.add(None, &mut stacks)?;
    stacks.finish(Format::CpuProfile)
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_fault};

    const FILE: &str = r#"{"head":{"functionName":"(root)","url":"","lineNumber":-1,"id":1,"hitCount":0,"children":[
{"functionName":"","url":"file:///a.js","lineNumber":4,"id":2,"hitCount":1,"children":[
{"functionName":"f","url":"file:///a.js","lineNumber":9,"id":3,"hitCount":2,"children":[]}]}]},
"startTime":7,"endTime":7,"samples":[2,3,3],"timestamps":[7000010,7000050,7000090]}"#;

    #[test]
    fn samples_last_until_the_next() {
        check(
            FILE,
            "samples 3
             time ns* 80000
             (root) 0 0
             (root);(anonymous) a.js:5 1 40000
             (root);(anonymous) a.js:5;f 2 40000",
        );
    }

    #[test]
    fn the_end_counts_where_it_is_of_the_same_clock() {
        let ended = |end: &str| FILE.replace("\"endTime\":7", &format!("\"endTime\":{end}"));
        check(
            ended("7.00012"),
            "samples 3
             time ns* 110000
             (root) 0 0
             (root);(anonymous) a.js:5 1 40000
             (root);(anonymous) a.js:5;f 2 70000",
        );
        check(
            FILE.replace("7000090]", "7000090,7000095]"),
            "samples 3
             time ns* 85000
             (root) 0 0
             (root);(anonymous) a.js:5 1 40000
             (root);(anonymous) a.js:5;f 2 45000",
        );
        check(
            ended("9000"),
            "samples 3
             time ns* 80000
             (root) 0 0
             (root);(anonymous) a.js:5 1 40000
             (root);(anonymous) a.js:5;f 2 40000",
        );
    }

    #[test]
    fn without_times_calls_have_their_hits() {
        let (tree, _) = FILE.split_once("\"startTime\"").expect("a tree");
        let expect = "samples* 3
             (root) 0
             (root);(anonymous) a.js:5 1
             (root);(anonymous) a.js:5;f 2";
        // Some recorders give the root and its first call the same id.
        let same = tree.replace("\"id\":2", "\"id\":1");
        for tree in [tree, &same] {
            check(
                format!("{tree}\"startTime\":7,\"endTime\":8,\"samples\":[1,3,3]}}"),
                expect,
            );
            check(format!("{tree}\"uid\":1}}"), expect);
        }
    }

    #[test]
    fn wrong_samples_are_errors() {
        check_fault(
            FILE.replace("[2,3,3]", "[2,9,3]"),
            4,
            "a sample names node 9, which the file does not have",
        );
        check_fault(
            FILE.replace("[2,3,3]", "[2]"),
            4,
            "there are 3 time deltas for 1 samples",
        );
    }
}
