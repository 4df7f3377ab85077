//! gprof2dot's JSON, which `memray transform gprof2dot` and memtrail write: functions, and stacks with their costs.
//!
//! Libraries: serde_json parses; no crate with the format's types found.

use std::borrow::Cow;

use serde::Deserialize;

use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::stacks::Stacks;
use crate::collect::units::{Decimals, nanoseconds, value, whole};
use crate::decode::fault::{Fault, dangling};
use crate::decode::input::Input;

/// The only version so far.
const VERSION: f64 = 0.0;
/// Stacks between two progress reports.
const PROGRESS_STEP: usize = 1 << 12;

#[derive(Deserialize)]
struct File<'a> {
    version: f64,
    #[serde(borrow)]
    costs: Vec<Cost<'a>>,
    #[serde(borrow)]
    functions: Vec<Function<'a>>,
    events: Vec<Event>,
}

#[derive(Deserialize)]
struct Cost<'a> {
    #[serde(borrow)]
    description: Cow<'a, str>,
    #[serde(borrow)]
    unit: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    /// The executable, library or file of the function.
    #[serde(borrow)]
    module: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Event {
    /// Innermost first.
    callchain: Vec<usize>,
    cost: Vec<f64>,
}

/// Detects the keys that the format's schema requires.
pub(crate) fn detect(input: &Input) -> bool {
    input.has_keys(&["version", "costs", "functions", "events"])
}

/// Reads a profile.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let file: File = input.parse()?;
    if file.version != VERSION {
        let problem = format!(
            "expected version 0 of gprof2dot's JSON, got {}",
            file.version
        );
        return Err(Fault::whole(problem).at_key("version"));
    }
    if file.costs.is_empty() {
        return Err(Fault::whole("the file names no costs").at_key("costs"));
    }
    let mut scales = Vec::with_capacity(file.costs.len());
    let mut types = Vec::with_capacity(file.costs.len());
    for (kind, cost) in file.costs.iter().enumerate() {
        let unit = cost.unit.as_deref().unwrap_or("");
        if let Some(scale) = nanoseconds(unit) {
            scales.push(scale);
            types.push(value(&cost.description, "ns"));
            continue;
        }
        let mut decimals = Decimals::default();
        let costs = file.events.iter().filter_map(|it| it.cost.get(kind));
        costs.for_each(|&cost| decimals.include(cost));
        scales.push(decimals.scale());
        types.push(value(&cost.description, &decimals.unit(unit)));
    }
    let mut stacks = Stacks::new(types, 0)?;
    let mut frames = Vec::with_capacity(file.functions.len());
    for function in &file.functions {
        let module = function.module.as_deref().unwrap_or("");
        frames.push(stacks.frame_in(&function.name, "", 0, module)?);
    }
    let mut stack = Vec::new();
    for (n, event) in file.events.iter().enumerate() {
        if n.is_multiple_of(PROGRESS_STEP) {
            input.progress.at(n as f64 / file.events.len() as f64)?;
        }
        stack.clear();
        for &row in event.callchain.iter().rev() {
            let frame = frames.get(row).copied();
            let missing = || dangling("a stack", row, "function").at_item("events", n);
            stack.push(frame.ok_or_else(missing)?);
        }
        let read = values(event, &scales).and_then(|values| stacks.add(&stack, &values));
        read.map_err(|fault| fault.at_item("events", n))?;
    }
    stacks.finish(Format::Gprof2dot)
}

fn values(event: &Event, scales: &[f64]) -> Result<Vec<i64>, Fault> {
    if event.cost.len() != scales.len() {
        let (found, expected) = (event.cost.len(), scales.len());
        let problem = format!("expected {expected} costs, got {found}");
        return Err(Fault::whole(problem));
    }
    let costs = event.cost.iter().zip(scales);
    costs.map(|(&cost, &scale)| whole(cost, scale)).collect()
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_fault};

    const FILE: &str = r#"{"version":0,"costs":[{"description":"Memory","unit":"bytes"},{"description":"Time","unit":"s"},{"description":"Calls"}],
"functions":[{"name":"main","module":"/app/a.py"},{"name":"load"},{"name":"<listcomp>","module":"/app/b.py"}],"events":[
{"callchain":[2,1,0],"cost":[4096,0.5,1]},{"callchain":[1,0],"cost":[64,0.25,1.5]}]}"#;

    #[test]
    fn stacks_have_every_cost() {
        check(
            FILE,
            "Memory bytes* 4160
             Time ns 750000000
             Calls 0.1 count 25
             main 0 0 0
             main;load 64 250000000 15
             main;load;<listcomp> 4096 500000000 10"
                .replace("0.1 count", "0.1")
                .as_str(),
        );
    }

    #[test]
    fn wrong_stacks_are_errors() {
        check_fault(
            FILE.replace("[2,1,0]", "[9,1,0]"),
            3,
            "a stack names function 9, which the file does not have",
        );
        check_fault(
            FILE.replace("[64,0.25,1.5]", "[64]"),
            3,
            "expected 3 costs, got 1",
        );
        check_fault(
            FILE.replace("[64,0.25,1.5]", "[-64,0.25,1.5]"),
            3,
            "expected a value of at least 0, got -64",
        );
        check_fault(
            FILE.replace("\"version\":0", "\"version\":1"),
            1,
            "expected version 0 of gprof2dot's JSON, got 1",
        );
    }
}
