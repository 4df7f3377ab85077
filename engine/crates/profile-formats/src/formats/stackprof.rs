//! Ruby's stackprof as JSON. `raw` has the stacks, outermost frame first, each with its length before and its count after it.
//!
//! Libraries: serde_json parses; no crate with the format's types found.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::stacks::{FrameId, Stacks};
use crate::collect::units::{value, whole};
use crate::decode::fault::{Fault, dangling};
use crate::decode::input::Input;
use crate::decode::json::{Step, text_or_null};

#[derive(Deserialize)]
struct File {
    mode: String,
    /// Microseconds or allocations between samples.
    interval: Option<f64>,
    frames: BTreeMap<String, Frame>,
    raw: Option<Vec<u64>>,
    #[serde(default)]
    missed_samples: f64,
}

#[derive(Deserialize)]
struct Frame {
    /// Functions of libraries may have no name.
    #[serde(default, deserialize_with = "text_or_null")]
    name: String,
    file: Option<String>,
    line: Option<u32>,
}

/// Detects the keys that every version has.
pub(crate) fn detect(input: &Input) -> bool {
    input.has_keys(&["mode", "interval", "frames"])
}

/// Reads a profile.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let file: File = input.parse()?;
    let Some(raw) = &file.raw else {
        return Err(Fault::whole("the profile has no stacks")
            .advise("record it with the option `raw: true`"));
    };
    let timed = file.interval.filter(|_| file.mode != "object");
    let mut types = vec![value("samples", "count")];
    let mut interval = 0;
    if let Some(micros) = timed {
        types.push(value(&file.mode, "ns"));
        interval = whole(micros, 1e3).map_err(|fault| fault.at_key("interval"))?;
    }
    let mut stacks = Stacks::new(types, usize::from(timed.is_some()))?;
    let mut frames = HashMap::with_capacity(file.frames.len());
    for (id, frame) in &file.frames {
        let wrong = || {
            let fault = Fault::whole("expected the numbers of frames as their keys");
            fault.at_step(Step::Key(id.clone().into())).at_key("frames")
        };
        let id: u64 = id.parse().map_err(|_| wrong())?;
        let path = frame.file.as_deref().unwrap_or("");
        let row = stacks.frame(&frame.name, path, frame.line.unwrap_or(0))?;
        frames.insert(id, row);
    }
    let mut rest = &raw[..];
    let mut stack: Vec<FrameId> = Vec::new();
    while let Some((&length, after)) = rest.split_first() {
        let at = raw.len() - rest.len();
        let (ids, count, after) = split(length, after).ok_or_else(|| {
            let left = after.len();
            let problem = format!(
                "entry {at} of raw claims a stack of {length} frames, but {left} entries are left"
            );
            Fault::whole(problem).at_item("raw", at)
        })?;
        stack.clear();
        for (n, id) in ids.iter().enumerate() {
            let frame = frames.get(id).copied();
            let missing = || dangling("a stack", id, "frame").at_item("raw", at + 1 + n);
            stack.push(frame.ok_or_else(missing)?);
        }
        let large = || crate::collect::parents::too_large().at_item("raw", at + 1 + ids.len());
        let count = i64::try_from(count).map_err(|_| large())?;
        let mut values = vec![count];
        if timed.is_some() {
            values.push(count.checked_mul(interval).ok_or_else(large)?);
        }
        let added = stacks.add(&stack, &values);
        added.map_err(|fault| fault.at_item("raw", at))?;
        rest = after;
    }
    if file.missed_samples > 0.0 {
        stacks.note(format!("stackprof missed {} samples.", file.missed_samples));
    }
    stacks.finish(Format::Stackprof)
}

/// The stack at the beginning of `rest`, its count, and what follows.
fn split(length: u64, rest: &[u64]) -> Option<(&[u64], u64, &[u64])> {
    let length = usize::try_from(length).ok()?;
    let (ids, after) = rest.split_at_checked(length)?;
    let (&count, after) = after.split_first()?;
    Some((ids, count, after))
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_fault};

    fn file(raw: &str) -> String {
        format!(
            r#"{{"version":1.2,"mode":"wall","interval":500,"samples":4,"missed_samples":3,"frames":{{
            "70":{{"name":"<main>","file":"a.rb","line":1,"samples":1}},"71":{{"name":"(garbage collection)","file":""}}}}{raw}}}"#
        )
    }

    #[test]
    fn stacks_are_repeated_by_their_counts() {
        check(
            file(",\"raw\":[1,70,3,2,70,71,1,1,70,2]"),
            "samples 6
             wall ns* 3000000
             <main> 5 2500000
             <main>;(garbage collection) 1 500000
             note: stackprof missed 3 samples.",
        );
    }

    #[test]
    fn functions_need_no_names() {
        let named = file(",\"raw\":[2,70,71,3]");
        for (name, without) in [
            ("\"name\":\"<main>\",", ""),
            ("\"name\":\"<main>\"", "\"name\":null"),
        ] {
            check(
                named.replace(name, without),
                "samples 3
                 wall ns* 1500000
                 [unknown] 0 0
                 [unknown];(garbage collection) 3 1500000
                 note: stackprof missed 3 samples.",
            );
        }
    }

    #[test]
    fn wrong_stacks_are_errors() {
        check_fault(file(""), 0, "the profile has no stacks");
        for (raw, expect) in [
            (
                ",\"raw\":[1,72,1]",
                "a stack names frame 72, which the file does not have",
            ),
            (
                ",\"raw\":[1,70,3,1000000000,70]",
                "entry 3 of raw claims a stack of 1000000000 frames, but 1 entries are left",
            ),
            (
                ",\"raw\":[1,70]",
                "entry 0 of raw claims a stack of 1 frames, but 1 entries are left",
            ),
        ] {
            check_fault(file(raw), 2, expect);
        }
    }
}
