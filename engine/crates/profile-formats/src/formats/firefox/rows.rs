//! The browser's own format: tables stored by row, each with a schema, and nested processes.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use super::common::{Cpu, location};
use crate::collect::collected::Collected;
use crate::collect::parents::Parents;
use crate::collect::stacks::Stacks;
use crate::collect::units::{value, whole};
use crate::decode::fault::{Fault, dangling};
use crate::decode::input::Input;
use crate::decode::json::{Step, text_or_null};
use crate::{Format, Grain};

#[derive(Deserialize)]
struct Wrapped {
    profile: File,
}

#[derive(Deserialize)]
struct File {
    threads: Vec<Thread>,
    #[serde(default)]
    processes: Vec<File>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Thread {
    #[serde(default, deserialize_with = "text_or_null")]
    name: String,
    #[serde(default)]
    pid: Value,
    #[serde(default)]
    tid: Value,
    string_table: Vec<String>,
    frame_table: Table,
    stack_table: Table,
    samples: Table,
}

/// Rows of cells, which the schema names. Cells at the end may be missing.
#[derive(Deserialize)]
struct Table {
    schema: HashMap<String, usize>,
    data: Vec<Vec<Value>>,
}

impl Table {
    /// The cells of one column. Missing cells and `null` are `None`.
    fn column<'t>(&'t self, name: &str) -> impl Iterator<Item = Option<&'t Value>> + use<'t> {
        let column = self.schema.get(name).copied();
        self.data.iter().map(move |row| {
            let cell = row.get(column?)?;
            (!cell.is_null()).then_some(cell)
        })
    }

    /// A column of row numbers.
    fn numbers(&self, name: &str) -> impl Iterator<Item = Result<Option<u32>, Fault>> {
        let problem = format!("expected a row number for {name}");
        self.column(name).enumerate().map(move |(row, cell)| {
            let Some(cell) = cell else {
                return Ok(None);
            };
            let number = cell.as_u64().and_then(|number| u32::try_from(number).ok());
            let wrong = || Fault::whole(&*problem).at_item("data", row);
            number.map(Some).ok_or_else(wrong)
        })
    }
}

/// Where in the JSON the profile is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nesting {
    TopLevel,
    /// Under the key `profile`.
    InProfile,
}

/// Reads a profile.
pub(crate) fn read(input: &Input, nesting: Nesting, cpu: Cpu) -> Result<Collected, Fault> {
    let (file, outside) = match nesting {
        Nesting::TopLevel => (input.parse()?, Vec::new()),
        Nesting::InProfile => {
            let file = input.parse::<Wrapped>()?.profile;
            (file, vec![Step::Key("profile".into())])
        }
    };
    // Threads and processes, each with its path in the JSON.
    let (mut threads, mut processes) = (Vec::new(), vec![(outside, file)]);
    while let Some((path, process)) = processes.pop() {
        let inside = |key: &'static str, row| {
            [&path[..], &[Step::Key(key.into()), Step::Item(row)]].concat()
        };
        for (row, thread) in process.threads.into_iter().enumerate() {
            threads.push((inside("threads", row), thread));
        }
        for (row, inner) in process.processes.into_iter().enumerate() {
            processes.push((inside("processes", row), inner));
        }
    }
    let has_cpu = threads
        .iter()
        .any(|(_, thread)| thread.samples.schema.contains_key("threadCPUDelta"));
    let mut types = vec![value("samples", "count")];
    if has_cpu {
        types.push(value("cpu", cpu.unit));
    }
    let mut stacks = Stacks::new(types, 0)?;
    for (path, thread) in &threads {
        let label = super::columns::label(&thread.name, &thread.pid, &thread.tid);
        let container = match threads.len() {
            1 => None,
            _ => Some(stacks.container(&label)?),
        };
        let cpu = has_cpu.then_some(cpu);
        let result = thread.parents(&mut stacks, cpu, input.grain);
        let result = result.and_then(|mut parents| parents.drain_into(container, &mut stacks));
        result.map_err(|fault| {
            let fault = path.iter().rev().cloned().fold(fault, Fault::at_step);
            super::columns::in_thread(fault, &label)
        })?;
    }
    stacks.finish(Format::Firefox)
}

impl Thread {
    /// The stacks of this thread with their values.
    fn parents(
        &self,
        stacks: &mut Stacks,
        cpu: Option<Cpu>,
        grain: Grain,
    ) -> Result<Parents, Fault> {
        let mut frames = Vec::with_capacity(self.frame_table.data.len());
        let in_frames = |fault: Fault| fault.at_key("frameTable");
        let cells = self.frame_table.numbers("location");
        for (row, (text, line)) in cells.zip(self.frame_table.numbers("line")).enumerate() {
            let index = text.map_err(in_frames)?.unwrap_or(u32::MAX);
            let text = self.string_table.get(index as usize);
            let missing = || in_frames(dangling("a frame", index, "string").at_item("data", row));
            let text = text.ok_or_else(missing)?;
            let (name, file, declared) = location(text);
            let line = match grain {
                Grain::Lines => line.map_err(in_frames)?.unwrap_or(0),
                Grain::Functions => declared,
            };
            frames.push(stacks.frame(name, file, line)?);
        }
        let mut parents = Parents::new(stacks.width());
        let table = &self.stack_table;
        let in_stacks = |fault: Fault| fault.at_key("stackTable");
        let cells = table.numbers("prefix").zip(table.numbers("frame"));
        for (row, (prefix, frame)) in cells.enumerate() {
            let index = frame.map_err(in_stacks)?.unwrap_or(u32::MAX);
            let frame = frames.get(index as usize).copied();
            let missing = || in_stacks(dangling("a stack", index, "frame").at_item("data", row));
            parents.push(frame.ok_or_else(missing)?, prefix.map_err(in_stacks)?);
        }
        parents.check("data").map_err(in_stacks)?;
        let deltas = self.samples.column("threadCPUDelta");
        for (row, (stack, delta)) in self.samples.numbers("stack").zip(deltas).enumerate() {
            let in_samples = |fault: Fault| fault.at_item("data", row).at_key("samples");
            let stack = stack.map_err(|fault| fault.at_key("samples"))?;
            let Some(stack) = stack.map(|stack| stack as usize) else {
                continue;
            };
            if stack >= parents.len() {
                return Err(in_samples(dangling("a sample", stack, "stack")));
            }
            parents.add(stack, 0, 1).map_err(in_samples)?;
            if let (Some(cpu), Some(delta)) = (cpu, delta.and_then(Value::as_f64)) {
                let added = whole(delta, cpu.scale).and_then(|it| parents.add(stack, 1, it));
                added.map_err(in_samples)?;
            }
        }
        Ok(parents)
    }
}
