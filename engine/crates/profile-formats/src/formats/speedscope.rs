//! speedscope's own JSON: evented and sampled profiles with shared frames.
//!
//! Libraries: serde_json parses. No crate that reads the format found; profilers such as rbspy have types of their own to
//! write it.

use std::collections::HashMap;

use fulcrum_model::call_tree::ValueType;
use serde::Deserialize;

use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::stacks::{FrameId, Stacks, check_types};
use crate::collect::units::{Decimals, nanoseconds, signed, value, whole};
use crate::decode::fault::{Fault, dangling, quote};
use crate::decode::input::Input;
use crate::decode::json::text_or_null;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    shared: Shared,
    profiles: Vec<OneProfile>,
    active_profile_index: Option<usize>,
}

#[derive(Deserialize)]
struct Shared {
    frames: Vec<Frame>,
}

#[derive(Deserialize)]
struct Frame {
    #[serde(default, deserialize_with = "text_or_null")]
    name: String,
    file: Option<String>,
    line: Option<f64>,
}

impl Shared {
    /// Whether lines are those that ran. The format does not define it; where they are declarations, each function has only
    /// one.
    fn has_lines_that_ran(&self) -> bool {
        let mut lines = HashMap::new();
        self.frames.iter().any(|it| {
            let line = it.line.map(f64::to_bits);
            *lines.entry((&it.name, &it.file)).or_insert(line) != line
        })
    }
}

/// One profile, evented or sampled.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OneProfile {
    r#type: String,
    #[serde(default, deserialize_with = "text_or_null")]
    name: String,
    #[serde(default, deserialize_with = "text_or_null")]
    unit: String,
    start_value: Option<f64>,
    end_value: Option<f64>,
    events: Option<Vec<Event>>,
    samples: Option<Vec<Vec<usize>>>,
    weights: Option<Vec<f64>>,
}

#[derive(Deserialize)]
struct Event {
    r#type: String,
    at: f64,
    frame: usize,
}

/// Detects the keys of shared frames and profiles.
pub(crate) fn detect(input: &Input) -> bool {
    input.has_keys(&["shared", "profiles"]) && !input.has_keys(&["meta"])
}

/// Reads all profiles of a file. Each unit becomes a value type.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let file: File = input.parse()?;
    let mut units: Vec<Unit> = Vec::new();
    for one in &file.profiles {
        if !units.iter().any(|unit| unit.is_of(one)) {
            units.push(Unit::new(&one.unit, &file.profiles));
            check_types(units.len())?;
        }
    }
    let row = |one: &OneProfile| units.iter().position(|unit| unit.is_of(one));
    let active = file.profiles.get(file.active_profile_index.unwrap_or(0));
    let default = active.or(file.profiles.first()).and_then(row);
    let Some(default) = default else {
        return Err(Fault::whole("the file has no profiles"));
    };
    let types = units.iter().map(Unit::value_type).collect();
    let mut stacks = Stacks::signed(types, default)?;
    let mut frames = Vec::with_capacity(file.shared.frames.len());
    let has_lines = !input.lines() || file.shared.has_lines_that_ran();
    for frame in &file.shared.frames {
        let line = match has_lines {
            true => frame.line.unwrap_or(0.0) as u32,
            false => 0,
        };
        frames.push(stacks.frame(&frame.name, frame.file.as_deref().unwrap_or(""), line)?);
    }
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for one in &file.profiles {
        *uses.entry(&one.name).or_default() += 1;
    }
    for (number, one) in file.profiles.iter().enumerate() {
        let row = row(one).expect("every unit has a row");
        let mut writer = Writer {
            container: None,
            frames: &frames,
            scale: nanoseconds(&one.unit).unwrap_or(units[row].scale),
            values: vec![0; units.len()],
            row,
            stacks: &mut stacks,
        };
        if file.profiles.len() > 1 {
            let name = match uses[&*one.name] {
                1 => one.name.clone(),
                _ => format!("{} ({})", one.name, number + 1),
            };
            writer.container = Some(writer.stacks.container(&name)?);
        }
        writer.profile(one).map_err(|fault| Fault {
            problem: format!("in profile {}: {}", number + 1, fault.problem),
            ..fault.at_item("profiles", number)
        })?;
    }
    stacks.finish(Format::Speedscope)
}

/// The unit of some profiles' weights.
struct Unit {
    name: String,
    /// The factor to whole numbers. For times, each profile's unit has its own.
    scale: f64,
    short: String,
}

impl Unit {
    fn new(name: &str, profiles: &[OneProfile]) -> Self {
        if let Some(scale) = nanoseconds(name) {
            return Unit {
                name: name.to_owned(),
                scale,
                short: "ns".to_owned(),
            };
        }
        let mut decimals = Decimals::default();
        for one in profiles.iter().filter(|one| one.unit == name) {
            let weights = one.weights.iter().flatten().copied();
            let times = one.events.iter().flatten().map(|event| event.at);
            let ends = one.start_value.into_iter().chain(one.end_value);
            weights
                .chain(times)
                .chain(ends)
                .for_each(|it| decimals.include(it));
        }
        Unit {
            name: name.to_owned(),
            scale: decimals.scale(),
            short: decimals.unit(match name {
                "none" => "count",
                name => name,
            }),
        }
    }

    /// Whether a profile's weights are in this unit. All units of time become nanoseconds.
    fn is_of(&self, one: &OneProfile) -> bool {
        self.name == one.unit || self.short == "ns" && nanoseconds(&one.unit).is_some()
    }

    fn value_type(&self) -> ValueType {
        let name = match &*self.short {
            "ns" => "time",
            "bytes" => "space",
            _ => "weight",
        };
        value(name, &self.short)
    }
}

/// Adds one profile's stacks.
struct Writer<'s> {
    container: Option<FrameId>,
    frames: &'s [FrameId],
    scale: f64,
    values: Vec<i64>,
    row: usize,
    stacks: &'s mut Stacks,
}

impl Writer<'_> {
    fn profile(&mut self, one: &OneProfile) -> Result<(), Fault> {
        match &*one.r#type {
            "evented" => self.evented(one),
            "sampled" => self.sampled(one),
            other => Err(Fault::whole(format!(
                "expected an evented or a sampled profile, got {}",
                quote(other)
            ))),
        }
    }

    fn add(&mut self, stack: &[FrameId], value: i64) -> Result<(), Fault> {
        self.values[self.row] = value;
        self.stacks.add_call(self.container, stack, &self.values)
    }

    fn frame(&self, index: usize) -> Result<FrameId, Fault> {
        let frame = self.frames.get(index).copied();
        frame.ok_or_else(|| dangling("a stack", index, "frame"))
    }

    fn sampled(&mut self, one: &OneProfile) -> Result<(), Fault> {
        let (Some(samples), Some(weights)) = (&one.samples, &one.weights) else {
            return Err(Fault::whole("expected samples and weights"));
        };
        if samples.len() != weights.len() {
            let (samples, weights) = (samples.len(), weights.len());
            let problem = format!("there are {weights} weights for {samples} samples");
            return Err(Fault::whole(problem).at_key("weights"));
        }
        let mut stack = Vec::new();
        for (row, (sample, &weight)) in samples.iter().zip(weights).enumerate() {
            stack.clear();
            for &index in sample {
                let frame = self.frame(index);
                stack.push(frame.map_err(|fault| fault.at_item("samples", row))?);
            }
            let weight = signed(weight, self.scale);
            let added = weight.and_then(|weight| self.add(&stack, weight));
            added.map_err(|fault| fault.at_item("weights", row))?;
        }
        Ok(())
    }

    fn evented(&mut self, one: &OneProfile) -> Result<(), Fault> {
        let Some(events) = &one.events else {
            return Err(Fault::whole("expected events"));
        };
        let (mut stack, mut open) = (Vec::new(), Vec::new());
        let mut last: Option<f64> = None;
        for (number, event) in events.iter().enumerate() {
            let taken = self.event(event, last, &mut stack, &mut open);
            taken.map_err(|fault| Fault {
                problem: format!("event {number} {}", fault.problem),
                ..fault.at_item("events", number)
            })?;
            last = Some(event.at);
        }
        match open.len() {
            0 => Ok(()),
            open => {
                let fault = Fault::whole(format!("{open} frames are never closed"));
                Err(fault.at_key("events"))
            }
        }
    }

    /// Adds the time before an event, then opens or closes a frame. A fault's problem continues the sentence "event N".
    fn event(
        &mut self,
        event: &Event,
        last: Option<f64>,
        stack: &mut Vec<FrameId>,
        open: &mut Vec<usize>,
    ) -> Result<(), Fault> {
        let since = event.at - last.unwrap_or(event.at);
        if since.is_nan() || since < 0.0 {
            return Err(Fault::whole("is earlier than the one before it"));
        }
        // Time before the first call and between calls belongs to no call.
        if !stack.is_empty() && since > 0.0 {
            let added = whole(since, self.scale).and_then(|since| self.add(stack, since));
            added.map_err(|fault| Fault {
                problem: format!("ends a time that cannot be added: {}", fault.problem),
                ..fault
            })?;
        }
        match &*event.r#type {
            "O" => {
                let frame = self.frames.get(event.frame);
                let missing = || {
                    let number = event.frame;
                    Fault::whole(format!(
                        "opens frame {number}, which the file does not have"
                    ))
                };
                stack.push(*frame.ok_or_else(missing)?);
                open.push(event.frame);
            }
            "C" if open.last() == Some(&event.frame) => {
                stack.pop();
                open.pop();
            }
            "C" => {
                let problem = "closes a frame that is not the innermost open one";
                return Err(Fault::whole(problem));
            }
            _ => return Err(Fault::whole("is neither O nor C")),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_fault};

    fn file(profiles: &str, more: &str) -> String {
        let frames = r#"{"name":"a"},{"name":"b","file":"b.rs","line":3},{"name":"c"}"#;
        format!("{{\"shared\":{{\"frames\":[{frames}]}},\"profiles\":[{profiles}]{more}}}")
    }

    fn evented(events: &[(&str, u32, f64)]) -> String {
        let events = events.iter().map(|(kind, frame, at)| {
            format!("{{\"type\":\"{kind}\",\"frame\":{frame},\"at\":{at}}}")
        });
        let events: Vec<_> = events.collect();
        format!(
            "{{\"type\":\"evented\",\"name\":\"e\",\"unit\":\"none\",\"startValue\":0,\"endValue\":9,\"events\":[{}]}}",
            events.join(",")
        )
    }

    const SAMPLED: &str = r#"{"type":"sampled","name":"s","unit":"milliseconds","startValue":0,"endValue":2,
        "samples":[[0,1],[0]],"weights":[1.5,0.25]}"#;

    #[test]
    fn weights_may_be_of_a_difference() {
        check(
            file(&SAMPLED.replace("1.5", "-1.5"), ""),
            "time ns* -1250000
             a 250000
             a;b -1500000
             note: Some values of \"time\" are negative, as in the difference of two profiles.",
        );
    }

    #[test]
    fn events_open_and_close_calls() {
        check(
            file(
                &evented(&[("O", 0, 0.0), ("O", 1, 2.0), ("C", 1, 4.5), ("C", 0, 5.0)]),
                "",
            ),
            "weight 0.1 count* 50
             a 25
             a;b 25",
        );
    }

    #[test]
    fn profiles_stand_side_by_side_and_units_are_value_types() {
        let both = format!("{},{SAMPLED}", evented(&[("O", 2, 0.0), ("C", 2, 9.0)]));
        check(
            file(&both, ",\"activeProfileIndex\":1"),
            "weight 9
             time ns* 1750000
             {e} 0 0
             {e};c 9 0
             {s} 0 0
             {s};a 0 250000
             {s};a;b 0 1500000",
        );
    }

    #[test]
    fn units_of_time_are_one_value_type() {
        let seconds = SAMPLED
            .replace("milliseconds", "seconds")
            .replace("\"s\"", "\"t\"");
        check(
            file(&format!("{SAMPLED},{seconds}"), ""),
            "time ns* 1751750000
             {s} 0
             {s};a 250000
             {s};a;b 1500000
             {t} 0
             {t};a 250000000
             {t};a;b 1500000000",
        );
    }

    #[test]
    fn a_file_without_profiles_is_an_error() {
        check_fault(file("", ""), 0, "the file has no profiles");
    }

    #[test]
    fn wrong_events_and_references_are_errors_at_their_lines() {
        for (profile, expect) in [
            (
                evented(&[("O", 0, 0.0)]),
                "in profile 1: 1 frames are never closed",
            ),
            (
                evented(&[("O", 0, 0.0), ("O", 1, 1.0), ("C", 0, 2.0)]),
                "in profile 1: event 2 closes a frame that is not the innermost open one",
            ),
            (
                evented(&[("O", 0, 5.0), ("C", 0, 2.0)]),
                "in profile 1: event 1 is earlier than the one before it",
            ),
            (
                evented(&[("O", 7, 0.0)]),
                "in profile 1: event 0 opens frame 7, which the file does not have",
            ),
            (
                SAMPLED.replace("1.5,", ""),
                "in profile 1: there are 1 weights for 2 samples",
            ),
        ] {
            let line = if profile.contains('\n') { 2 } else { 1 };
            check_fault(file(&profile, ""), line, expect);
        }
    }
}
