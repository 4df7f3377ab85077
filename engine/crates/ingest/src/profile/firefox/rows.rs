//! What Firefox itself writes: tables as rows, each with a schema, and other processes inside.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use super::{Cpu, location};
use crate::profile::fault::{Fault, dangling};
use crate::profile::input::Input;
use crate::profile::parents::Parents;
use crate::profile::stacks::Stacks;
use crate::profile::units::{value, whole};
use crate::profile::{Format, Profile};

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
    #[serde(default)]
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

/// Rows whose cells the schema names. Cells at the end may be missing.
#[derive(Deserialize)]
struct Table {
    schema: HashMap<String, usize>,
    data: Vec<Vec<Value>>,
}

impl Table {
    /// The cells of one column; `None` for missing ones and `null`.
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
        self.column(name).map(move |cell| {
            let Some(cell) = cell else {
                return Ok(None);
            };
            let number = cell.as_u64().and_then(|number| u32::try_from(number).ok());
            number.map(Some).ok_or_else(|| Fault::whole(&*problem))
        })
    }
}

/// Reads a profile.
pub fn read(input: &Input, wrapped: bool, cpu: Cpu) -> Result<Profile, Fault> {
    let file = match wrapped {
        true => input.parse::<Wrapped>()?.profile,
        false => input.parse()?,
    };
    let (mut threads, mut processes) = (Vec::new(), vec![file]);
    while let Some(mut process) = processes.pop() {
        threads.append(&mut process.threads);
        processes.append(&mut process.processes);
    }
    let has_cpu = threads
        .iter()
        .any(|thread| thread.samples.schema.contains_key("threadCPUDelta"));
    let mut types = vec![value("samples", "count")];
    if has_cpu {
        types.push(value("cpu", cpu.unit));
    }
    let mut stacks = Stacks::new(types, 0)?;
    for thread in &threads {
        let label = super::columns::label(&thread.name, &thread.pid, &thread.tid);
        let container = match threads.len() {
            1 => None,
            _ => Some(stacks.container(&label)?),
        };
        let result = thread.parents(&mut stacks, has_cpu.then_some(cpu));
        let result = result.and_then(|mut parents| parents.pour(container, &mut stacks));
        result.map_err(|fault| super::columns::in_thread(fault, &label))?;
    }
    stacks.finish(Format::Firefox)
}

impl Thread {
    /// The stacks of this thread with their values.
    fn parents(&self, stacks: &mut Stacks, cpu: Option<Cpu>) -> Result<Parents, Fault> {
        let mut frames = Vec::with_capacity(self.frame_table.data.len());
        for text in self.frame_table.numbers("location") {
            let index = text?.unwrap_or(u32::MAX);
            let text = self.string_table.get(index as usize);
            let text = text.ok_or_else(|| dangling("a frame", index, "string"))?;
            let (name, file, line) = location(text);
            frames.push(stacks.frame(name, file, line)?);
        }
        let mut parents = Parents::new(stacks.width());
        let table = &self.stack_table;
        for (prefix, frame) in table.numbers("prefix").zip(table.numbers("frame")) {
            let index = frame?.unwrap_or(u32::MAX);
            let frame = frames.get(index as usize).copied();
            let frame = frame.ok_or_else(|| dangling("a stack", index, "frame"))?;
            parents.push(frame, prefix?);
        }
        parents.check()?;
        let deltas = self.samples.column("threadCPUDelta");
        for (stack, delta) in self.samples.numbers("stack").zip(deltas) {
            let Some(stack) = stack?.map(|stack| stack as usize) else {
                continue;
            };
            if stack >= parents.len() {
                return Err(dangling("a sample", stack, "stack"));
            }
            parents.add(stack, 0, 1)?;
            if let (Some(cpu), Some(delta)) = (cpu, delta.and_then(Value::as_f64)) {
                parents.add(stack, 1, whole(delta, cpu.scale)?)?;
            }
        }
        Ok(parents)
    }
}
