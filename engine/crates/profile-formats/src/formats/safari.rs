//! Timelines exported from Safari's Web Inspector: the stacks that were sampled while it recorded.
//!
//! Libraries: serde_json parses; no crate with the format's types found.

use serde::Deserialize;

use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::stacks::{FrameId, Stacks};
use crate::collect::units::whole;
use crate::decode::fault::Fault;
use crate::decode::input::Input;
use crate::decode::json::text_or_null;
use crate::formats::v8::{CallFrame, frame, local, name, values};

#[derive(Deserialize)]
struct File {
    recording: Recording,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Recording {
    #[serde(default)]
    sample_stack_traces: Vec<Trace>,
    /// The duration of each sample in seconds.
    #[serde(default)]
    sample_durations: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Trace {
    /// Innermost first.
    stack_frames: Vec<Place>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    #[serde(default, deserialize_with = "text_or_null")]
    name: String,
    #[serde(default, deserialize_with = "text_or_null")]
    url: String,
    /// Where the function is declared, from 1.
    line: Option<i64>,
    column: Option<i64>,
    expression_location: Option<Expression>,
}

/// The expression that ran.
#[derive(Deserialize)]
struct Expression {
    /// From 1.
    line: Option<u32>,
}

/// Detects the keys of an export.
pub(crate) fn detect(input: &Input) -> bool {
    input.has_keys(&["version", "recording", "overview"])
}

/// Reads a profile.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let Recording {
        sample_stack_traces: samples,
        sample_durations: durations,
    } = input.parse::<File>()?.recording;
    if samples.len() != durations.len() {
        let (samples, found) = (samples.len(), durations.len());
        let problem = format!("there are {found} durations for {samples} samples");
        let fault = Fault::whole(problem).at_key("sampleDurations");
        return Err(fault.at_key("recording"));
    }
    let mut stacks = Stacks::new(values(), 1)?;
    let mut stack = Vec::new();
    for (n, (sample, &duration)) in samples.iter().zip(&durations).enumerate() {
        stack.clear();
        for place in sample.stack_frames.iter().rev() {
            stack.push(place.frame(input, &mut stacks)?);
        }
        let added = whole(duration, 1e9).and_then(|time| stacks.add(&stack, &[1, time]));
        added.map_err(|fault| fault.at_item("sampleDurations", n).at_key("recording"))?;
    }
    stacks.finish(Format::Safari)
}

impl Place {
    fn frame(&self, input: &Input, stacks: &mut Stacks) -> Result<FrameId, Fault> {
        // As in V8, but counted from 1.
        let call = CallFrame {
            function_name: self.name.clone(),
            url: self.url.clone(),
            line_number: self.line.and_then(|it| it.checked_sub(1)),
            column_number: self.column.and_then(|it| it.checked_sub(1)),
        };
        let ran = self.expression_location.as_ref().and_then(|it| it.line);
        match ran.filter(|_| input.lines()) {
            Some(line) => stacks.frame(&name(&call), local(&call.url), line),
            None => frame(&call, stacks),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_fault};

    const FILE: &str = r#"{"version":1,"overview":{},"recording":{"displayName":"x","startTime":4.1,
"records":[{"type":"timeline-record-type-cpu"}],"sampleStackTraces":[
{"timestamp":4.2,"stackFrames":[{"name":"f","line":20,"column":3,"url":"file:///a/x.js","expressionLocation":{"line":22,"column":1}},
{"name":"","line":1,"column":5,"url":"file:///a/x.js"}]},
{"timestamp":4.3,"stackFrames":[{"name":"","line":1,"column":5,"url":"file:///a/x.js"}]},
{"timestamp":4.4,"stackFrames":[{"name":"(program)","line":0,"column":0,"url":""}]}],
"sampleDurations":[0.001,0.0025,0.001]}}"#;

    #[test]
    fn samples_have_their_durations() {
        check(
            FILE,
            "samples 3
             time ns* 4500000
             (anonymous) x.js:1:5 1 2500000
             (anonymous) x.js:1:5;f 1 1000000
             (program) 1 1000000",
        );
    }

    #[test]
    fn wrong_durations_are_errors_at_their_lines() {
        check_fault(
            FILE.replace("[0.001,0.0025", "[0.0025"),
            7,
            "there are 2 durations for 3 samples",
        );
        check_fault(
            FILE.replace("0.0025", "-1"),
            7,
            "expected a value of at least 0, got -1",
        );
    }
}
