//! The samples of a trace (`samples`, `stackFrames`), which Hermes writes. Their stacks share frames.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::Value;

use super::common::{Key, id_text, label, moment};
use crate::collect::parents::{Parents, too_large};
use crate::collect::stacks::{FrameId, Stacks};
use crate::collect::units::{Decimals, value, whole};
use crate::decode::fault::Fault;
use crate::decode::json::{Step, number_or_text, text_or_null};

/// A sample in the trace.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Sample {
    /// Microseconds.
    #[serde(deserialize_with = "number_or_text")]
    ts: Option<f64>,
    pid: Value,
    tid: Value,
    #[serde(deserialize_with = "number_or_text")]
    weight: Option<f64>,
    /// The innermost frame.
    sf: Value,
}

/// A call in its context.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct StackFrame {
    #[serde(deserialize_with = "text_or_null")]
    name: String,
    parent: Value,
}

/// Replaces frames that the trace lost.
const TRUNCATED: &str = "[truncated]";

/// All samples of a trace.
#[derive(Default)]
pub(crate) struct Samples {
    frames: Vec<Called>,
    /// Rows of frames by their ids.
    ids: HashMap<String, u32>,
    threads: BTreeMap<Key, Vec<Taken>>,
}

struct Called {
    name: String,
    /// The caller's id; empty when there is none.
    parent: String,
}

/// A sample. Its frame may come later in the file.
struct Taken {
    /// Nanoseconds.
    at: i64,
    frame: String,
    weight: f64,
}

impl Samples {
    /// Whether there are no samples.
    pub(crate) fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    /// Adds a sample. The error says what is wrong with it.
    pub(crate) fn add(&mut self, sample: &Sample) -> Result<(), String> {
        let thread = (id_text(&sample.pid), id_text(&sample.tid));
        let taken = Taken {
            at: moment(sample.ts)?,
            frame: id_text(&sample.sf),
            weight: sample.weight.unwrap_or(1.0),
        };
        self.threads.entry(thread).or_default().push(taken);
        Ok(())
    }

    /// Adds a frame. The last frame with an id counts.
    pub(crate) fn frame(&mut self, id: String, frame: StackFrame) {
        self.ids.insert(id, self.frames.len() as u32);
        self.frames.push(Called {
            name: frame.name,
            parent: id_text(&frame.parent),
        });
    }

    /// The stacks of all samples. A sample lasts until the next one of its thread.
    pub(crate) fn into_stacks(self, names: &BTreeMap<Key, String>) -> Result<Stacks, Fault> {
        let mut decimals = Decimals::default();
        let weights = || self.threads.values().flatten().map(|it| it.weight);
        weights().for_each(|weight| decimals.include(weight));
        let mut types = vec![value("samples", "count"), value("time", "ns")];
        if weights().any(|weight| weight != 1.0) {
            types.push(value("weight", &decimals.unit("count")));
        }
        let mut stacks = Stacks::new(types, 1)?;
        let (mut parents, mut lost) = self.nodes(&mut stacks)?;
        let truncated = self.frames.len();
        let several = self.threads.len() > 1;
        for (thread, mut samples) in self.threads {
            let container = match several {
                true => Some(stacks.container(&label(&thread, names))?),
                false => None,
            };
            // Samples of the same time keep the order of the file.
            samples.sort_by_key(|sample| sample.at);
            let ends = samples.iter().skip(1).map(|next| next.at);
            let ends: Vec<i64> = ends.chain(samples.last().map(|last| last.at)).collect();
            for (sample, end) in samples.iter().zip(ends) {
                let node = self.ids.get(&sample.frame).map(|&row| row as usize);
                lost += u64::from(node.is_none());
                let node = node.unwrap_or(truncated);
                parents.add(node, 0, 1)?;
                parents.add(node, 1, end.checked_sub(sample.at).ok_or_else(too_large)?)?;
                if stacks.width() > 2 {
                    parents.add(node, 2, whole(sample.weight, decimals.scale())?)?;
                }
            }
            parents.drain_into(container, &mut stacks)?;
        }
        if lost > 0 {
            stacks.note(format!(
                "{lost} samples and callers name stack frames that are not in the trace, and stand below {TRUNCATED}."
            ));
        }
        Ok(stacks)
    }

    /// The frames as nodes, followed by one for lost frames; and how many frames have a lost caller.
    fn nodes(&self, stacks: &mut Stacks) -> Result<(Parents, u64), Fault> {
        let mut parents = Parents::new(stacks.width());
        let (truncated, mut lost) = (self.frames.len() as u32, 0);
        for called in &self.frames {
            let parent = match (&*called.parent, self.ids.get(&called.parent)) {
                (_, Some(&row)) => Some(row),
                ("", None) => None,
                (_, None) => {
                    lost += 1;
                    Some(truncated)
                }
            };
            parents.push(stacks.frame(&called.name, "", 0)?, parent);
        }
        let frame: FrameId = stacks.frame(TRUNCATED, "", 0)?;
        parents.push(frame, None);
        // Frames have keys instead of positions.
        let checked = parents.check("stackFrames");
        checked.map_err(|fault| Fault {
            path: vec![Step::Key("stackFrames".into())],
            ..fault
        })?;
        Ok((parents, lost))
    }
}
