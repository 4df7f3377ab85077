//! What the Firefox Profiler and samply write: tables as columns, in each thread or shared by all.

use fulcrum_model::call_tree::ValueType;
use serde::Deserialize;
use serde_json::Value;

use super::Cpu;
use crate::profile::Format;
use crate::profile::collected::Collected;
use crate::profile::fault::{Fault, dangling};
use crate::profile::input::Input;
use crate::profile::parents::Parents;
use crate::profile::stacks::{Stacks, check_types};
use crate::profile::units::{value, whole};

#[derive(Deserialize)]
struct File {
    threads: Vec<Thread>,
    #[serde(default)]
    shared: Tables,
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
    samples: Samples,
    // Older files have their tables here.
    stack_table: Option<StackTable>,
    frame_table: Option<FrameTable>,
    func_table: Option<FuncTable>,
    string_array: Option<Vec<String>>,
    string_table: Option<Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Tables {
    stack_table: Option<StackTable>,
    frame_table: Option<FrameTable>,
    func_table: Option<FuncTable>,
    string_array: Option<Vec<String>>,
    sources: Option<Sources>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Samples {
    stack: Vec<Option<u32>>,
    weight: Option<Vec<Option<f64>>>,
    weight_type: Option<String>,
    #[serde(rename = "threadCPUDelta")]
    cpu: Option<Vec<Option<f64>>>,
}

#[derive(Deserialize)]
struct StackTable {
    prefix: Vec<Option<u32>>,
    frame: Vec<u32>,
}

#[derive(Deserialize)]
struct FrameTable {
    func: Vec<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FuncTable {
    name: Vec<u32>,
    file_name: Option<Vec<Option<u32>>>,
    /// In newer files, rows of the sources.
    source: Option<Vec<Option<u32>>>,
    line_number: Option<Vec<Option<u32>>>,
}

#[derive(Deserialize)]
struct Sources {
    filename: Vec<u32>,
}

/// The tables of one thread, wherever they are.
struct View<'f> {
    stacks: &'f StackTable,
    frames: &'f FrameTable,
    functions: &'f FuncTable,
    strings: &'f [String],
    sources: Option<&'f Sources>,
}

/// Reads a profile.
pub fn read(input: &Input, cpu: Cpu) -> Result<Collected, Fault> {
    let file: File = input.parse()?;
    let mut kinds: Vec<&str> = Vec::new();
    for thread in &file.threads {
        let kind = thread.samples.kind();
        if !kinds.contains(&kind) && !thread.samples.stack.is_empty() {
            kinds.push(kind);
            check_types(kinds.len())?;
        }
    }
    let mut types = kinds
        .iter()
        .map(|kind| value_type(kind))
        .collect::<Vec<_>>();
    let has_cpu = file
        .threads
        .iter()
        .any(|thread| thread.samples.cpu.is_some());
    if has_cpu {
        types.push(value("cpu", cpu.unit));
    }
    if kinds.is_empty() {
        return Err(Fault::whole("the profile has no samples"));
    }
    let mut stacks = Stacks::new(types, 0)?;
    // Tables that all threads share are read once.
    let mut shared: Option<Parents> = None;
    for (row, thread) in file.threads.iter().enumerate() {
        let label = label(&thread.name, &thread.pid, &thread.tid);
        let mut read = || {
            let container = match file.threads.len() {
                1 => None,
                _ => Some(stacks.container(&label)?),
            };
            let mut own;
            let parents = match (&thread.stack_table, &mut shared) {
                (None, Some(parents)) => parents,
                (None, none) => {
                    let parents = file.view(thread)?.parents(&mut stacks);
                    none.insert(parents.map_err(|fault| fault.at_key("shared"))?)
                }
                (Some(_), _) => {
                    let parents = file.view(thread)?.parents(&mut stacks);
                    own = parents.map_err(|fault| fault.at_item("threads", row))?;
                    &mut own
                }
            };
            let kind = kinds.iter().position(|&it| it == thread.samples.kind());
            let cpu = has_cpu.then_some((cpu, kinds.len()));
            let added = thread.samples.add(parents, kind.unwrap_or(0), cpu);
            added.map_err(|fault| fault.at_key("samples").at_item("threads", row))?;
            parents.pour(container, &mut stacks)
        };
        if !thread.samples.stack.is_empty() {
            read().map_err(|fault| in_thread(fault, &label))?;
        }
    }
    stacks.finish(Format::Firefox)
}

/// A thread's name and numbers.
pub fn label(name: &str, pid: &Value, tid: &Value) -> String {
    let text = |id: &Value| id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    format!("{name} ({}/{})", text(pid), text(tid))
}

/// The same fault, and the thread that has it.
pub fn in_thread(fault: Fault, label: &str) -> Fault {
    let label: String = label.chars().filter(|it| !it.is_control()).collect();
    Fault {
        problem: format!("in thread {label}: {}", fault.problem),
        ..fault
    }
}

fn value_type(kind: &str) -> ValueType {
    match kind {
        "tracing-ms" => value("time", "ns"),
        "bytes" => value("space", "bytes"),
        kind => value(kind, "count"),
    }
}

impl Samples {
    fn kind(&self) -> &str {
        self.weight_type.as_deref().unwrap_or("samples")
    }

    /// Adds the weights as values of type `kind`, and the processor time as that of its own type.
    fn add(
        &self,
        parents: &mut Parents,
        kind: usize,
        cpu: Option<(Cpu, usize)>,
    ) -> Result<(), Fault> {
        let scale = if self.kind() == "tracing-ms" {
            1e6
        } else {
            1.0
        };
        for (n, stack) in self.stack.iter().enumerate() {
            let Some(stack) = stack.map(|stack| stack as usize) else {
                continue;
            };
            if stack >= parents.len() {
                return Err(dangling("a sample", stack, "stack").at_item("stack", n));
            }
            let weight = match &self.weight {
                None => 1.0,
                Some(weights) => weights.get(n).copied().flatten().unwrap_or(0.0),
            };
            let weight = whole(weight, scale);
            let added = weight.and_then(|weight| parents.add(stack, kind, weight));
            added.map_err(|fault| fault.at_item("weight", n))?;
            let delta = self
                .cpu
                .as_ref()
                .and_then(|it| it.get(n).copied().flatten());
            if let (Some((cpu, row)), Some(delta)) = (cpu, delta) {
                let delta = whole(delta, cpu.scale);
                let added = delta.and_then(|delta| parents.add(stack, row, delta));
                added.map_err(|fault| fault.at_item("threadCPUDelta", n))?;
            }
        }
        Ok(())
    }
}

impl File {
    fn view<'f>(&'f self, thread: &'f Thread) -> Result<View<'f>, Fault> {
        let shared = &self.shared;
        let missing = |what: &str| {
            let version = "this version of the format is not known";
            Fault::whole(format!("expected a {what}, {version}"))
        };
        let stacks = thread.stack_table.as_ref().or(shared.stack_table.as_ref());
        let frames = thread.frame_table.as_ref().or(shared.frame_table.as_ref());
        let functions = thread.func_table.as_ref().or(shared.func_table.as_ref());
        let strings = thread
            .string_array
            .as_ref()
            .or(thread.string_table.as_ref());
        let strings = strings.or(shared.string_array.as_ref());
        Ok(View {
            stacks: stacks.ok_or_else(|| missing("stackTable"))?,
            frames: frames.ok_or_else(|| missing("frameTable"))?,
            functions: functions.ok_or_else(|| missing("funcTable"))?,
            strings: strings.ok_or_else(|| missing("stringArray"))?,
            sources: shared.sources.as_ref(),
        })
    }
}

impl View<'_> {
    fn parents(&self, stacks: &mut Stacks) -> Result<Parents, Fault> {
        let mut functions = Vec::with_capacity(self.functions.name.len());
        for (row, &name) in self.functions.name.iter().enumerate() {
            let at = |fault: Fault| fault.at_item("name", row).at_key("funcTable");
            let (file, line) = self.place(row).map_err(at)?;
            functions.push(stacks.frame(self.string(name).map_err(at)?, file, line)?);
        }
        let (frames, prefixes) = (&self.stacks.frame, &self.stacks.prefix);
        if frames.len() != prefixes.len() {
            let (frames, prefixes) = (frames.len(), prefixes.len());
            let problem = format!("there are {frames} frames for {prefixes} prefixes");
            return Err(Fault::whole(problem).at_key("stackTable"));
        }
        let mut parents = Parents::new(stacks.width());
        for (row, (&frame, &prefix)) in frames.iter().zip(prefixes).enumerate() {
            let function = self.frames.func.get(frame as usize);
            let &function = function.ok_or_else(|| {
                let fault = dangling("a stack", frame, "frame");
                fault.at_item("frame", row).at_key("stackTable")
            })?;
            let named = functions.get(function as usize);
            let &named = named.ok_or_else(|| {
                let fault = dangling("a frame", function, "function");
                fault.at_item("func", frame as usize).at_key("frameTable")
            })?;
            parents.push(named, prefix);
        }
        let checked = parents.check("prefix");
        checked.map_err(|fault| fault.at_key("stackTable"))?;
        Ok(parents)
    }

    /// A function's file and line.
    fn place(&self, row: usize) -> Result<(&str, u32), Fault> {
        let cell = |column: &Option<Vec<Option<u32>>>| {
            column.as_ref().and_then(|column| *column.get(row)?)
        };
        let line = cell(&self.functions.line_number).unwrap_or(0);
        let mut file = cell(&self.functions.file_name);
        if let (Some(source), Some(sources)) = (cell(&self.functions.source), self.sources) {
            let name = sources.filename.get(source as usize).copied();
            file = Some(name.ok_or_else(|| dangling("a function", source, "source"))?);
        }
        match file {
            Some(file) => Ok((self.string(file)?, line)),
            None => Ok(("", line)),
        }
    }

    fn string(&self, index: u32) -> Result<&str, Fault> {
        let string = self.strings.get(index as usize);
        let string = string.ok_or_else(|| dangling("a table", index, "string"))?;
        Ok(string)
    }
}
