//! The format of the Firefox Profiler and samply: tables stored by column, in each thread or shared by all.

use std::borrow::Cow;

use fulcrum_model::call_tree::ValueType;
use fulcrum_model::text::shorten;
use serde::Deserialize;
use serde_json::Value;

use super::common::Cpu;
use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::parents::Parents;
use crate::collect::stacks::{FrameId, Stacks, check_types};
use crate::collect::symbols::{At, Code, Symbols, bracketed};
use crate::collect::units::{signed, value, whole};
use crate::decode::fault::{Fault, dangling};
use crate::decode::input::Input;
use crate::decode::json::text_or_null;

#[derive(Deserialize)]
struct File {
    threads: Vec<Thread>,
    #[serde(default)]
    shared: Tables,
    #[serde(default)]
    libs: Vec<Lib>,
}

/// An executable or library.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Lib {
    #[serde(default)]
    path: String,
    /// The build id on Linux.
    code_id: Option<String>,
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
    samples: Samples,
    // Older files have the tables in each thread.
    stack_table: Option<StackTable>,
    frame_table: Option<FrameTable>,
    func_table: Option<FuncTable>,
    resource_table: Option<ResourceTable>,
    string_array: Option<Vec<String>>,
    string_table: Option<Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Tables {
    stack_table: Option<StackTable>,
    frame_table: Option<FrameTable>,
    func_table: Option<FuncTable>,
    resource_table: Option<ResourceTable>,
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
#[serde(rename_all = "camelCase")]
struct StackTable {
    prefix: Option<Vec<Option<u32>>>,
    /// Replaces the prefix since version 66: how many rows before this one the caller is; 0 means none.
    prefix_offset: Option<Vec<u32>>,
    frame: Vec<u32>,
}

#[derive(Deserialize)]
struct FrameTable {
    func: Vec<u32>,
    /// Relative to the library's lowest address; -1 means none.
    address: Option<Vec<Option<i64>>>,
    /// The library, since version 70. Before, it is that of the function's resource. -1 means none.
    lib: Option<Vec<Option<i64>>>,
    /// The line that ran.
    line: Option<Vec<Option<u32>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FuncTable {
    name: Vec<u32>,
    file_name: Option<Vec<Option<u32>>>,
    /// Rows of the sources, in newer files.
    source: Option<Vec<Option<u32>>>,
    line_number: Option<Vec<Option<u32>>>,
    /// Rows of the resources; -1 means none.
    resource: Option<Vec<Option<i64>>>,
}

impl StackTable {
    /// The row of each row's caller.
    fn prefixes(&self) -> Result<Cow<'_, [Option<u32>]>, Fault> {
        let missing = || Fault::whole("expected a prefix or a prefixOffset").at_key("stackTable");
        if let Some(prefixes) = &self.prefix {
            return Ok(prefixes.into());
        }
        let offsets = self.prefix_offset.as_ref().ok_or_else(missing)?;
        let rows = offsets.iter().zip(0_u32..);
        let prefix = |(&offset, row): (&u32, u32)| match offset {
            0 => Ok(None),
            offset => row.checked_sub(offset).map(Some).ok_or_else(|| {
                let problem =
                    format!("the caller of stack {row} should be {offset} rows before it");
                let fault = Fault::whole(problem);
                fault
                    .at_item("prefixOffset", row as usize)
                    .at_key("stackTable")
            }),
        };
        rows.map(prefix).collect()
    }
}

/// Where functions come from.
#[derive(Deserialize)]
struct ResourceTable {
    /// Until version 69.
    lib: Option<Vec<Option<i64>>>,
}

#[derive(Deserialize)]
struct Sources {
    filename: Vec<u32>,
}

/// The tables of one thread, its own or shared ones.
struct View<'f> {
    stacks: &'f StackTable,
    frames: &'f FrameTable,
    functions: &'f FuncTable,
    resources: Option<&'f ResourceTable>,
    strings: &'f [String],
    sources: Option<&'f Sources>,
    /// Names for addresses, when the file has only addresses.
    code: Option<(&'f [Lib], &'f dyn Symbols)>,
    /// Whether frames get the line that ran.
    lines: bool,
}

/// The stacks of a table as nodes.
struct Nodes {
    parents: Parents,
    /// The innermost node of each row. A row has several nodes when functions were inlined.
    innermost: Vec<u32>,
}

/// Whether the file has names for addresses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Addresses {
    Named,
    Unnamed,
}

/// Reads a profile.
pub(crate) fn read(input: &Input, cpu: Cpu, addresses: Addresses) -> Result<Collected, Fault> {
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
    let mut stacks = Stacks::signed(types, 0)?;
    // Shared tables are read once.
    let mut shared: Option<Nodes> = None;
    let view = |thread| file.view(thread, input, addresses);
    for (row, thread) in file.threads.iter().enumerate() {
        let label = label(&thread.name, &thread.pid, &thread.tid);
        let mut read = || {
            let container = match file.threads.len() {
                1 => None,
                _ => Some(stacks.container(&label)?),
            };
            let mut own;
            let nodes = match (&thread.stack_table, &mut shared) {
                (None, Some(nodes)) => nodes,
                (None, none) => {
                    let nodes = view(thread)?.nodes(&mut stacks);
                    none.insert(nodes.map_err(|fault| fault.at_key("shared"))?)
                }
                (Some(_), _) => {
                    let nodes = view(thread)?.nodes(&mut stacks);
                    own = nodes.map_err(|fault| fault.at_item("threads", row))?;
                    &mut own
                }
            };
            let kind = kinds.iter().position(|&it| it == thread.samples.kind());
            let cpu = has_cpu.then_some((cpu, kinds.len()));
            let added = thread.samples.add(nodes, kind.unwrap_or(0), cpu);
            added.map_err(|fault| fault.at_key("samples").at_item("threads", row))?;
            nodes.parents.drain_into(container, &mut stacks)
        };
        if !thread.samples.stack.is_empty() {
            read().map_err(|fault| in_thread(fault, &label))?;
        }
    }
    stacks.finish(Format::Firefox)
}

/// The container's name for a thread.
pub(crate) fn label(name: &str, pid: &Value, tid: &Value) -> String {
    let text = |id: &Value| id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    format!("{name} ({}/{})", text(pid), text(tid))
}

/// Adds the thread to a fault's problem.
pub(crate) fn in_thread(fault: Fault, label: &str) -> Fault {
    let label: String = label.chars().filter(|it| !it.is_control()).collect();
    Fault {
        problem: format!("in thread {}: {}", shorten(&label), fault.problem),
        ..fault
    }
}

/// Decodes hexadecimal digits.
fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = digits.chars().map(|it| it.to_digit(16)).collect();
    let pairs = digits?;
    let pairs = pairs.chunks_exact(2);
    pairs
        .remainder()
        .is_empty()
        .then(|| pairs.map(|it| (it[0] << 4 | it[1]) as u8).collect())
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

    /// Adds the weights as values of type `kind`, and the CPU time as values of its own type.
    fn add(
        &self,
        Nodes { parents, innermost }: &mut Nodes,
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
            let Some(&stack) = innermost.get(stack) else {
                return Err(dangling("a sample", stack, "stack").at_item("stack", n));
            };
            let stack = stack as usize;
            let weight = match &self.weight {
                None => 1.0,
                Some(weights) => weights.get(n).copied().flatten().unwrap_or(0.0),
            };
            // In a comparison, weights are those of one profile minus those of the other.
            let weight = signed(weight, scale);
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
    fn view<'f>(
        &'f self,
        thread: &'f Thread,
        input: &'f Input,
        addresses: Addresses,
    ) -> Result<View<'f>, Fault> {
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
            resources: thread
                .resource_table
                .as_ref()
                .or(shared.resource_table.as_ref()),
            sources: shared.sources.as_ref(),
            code: (addresses == Addresses::Unnamed).then_some((&self.libs, input.symbols)),
            lines: input.lines(),
        })
    }
}

impl View<'_> {
    fn nodes(&self, stacks: &mut Stacks) -> Result<Nodes, Fault> {
        let mut functions = Vec::with_capacity(self.functions.name.len());
        for (row, &name) in self.functions.name.iter().enumerate() {
            let at = |fault: Fault| fault.at_item("name", row).at_key("funcTable");
            let (file, line) = self.place(row).map_err(at)?;
            let line = if self.lines { 0 } else { line };
            functions.push(stacks.frame(self.string(name).map_err(at)?, file, line)?);
        }
        let mut frames = Vec::with_capacity(self.frames.func.len());
        for (frame, &function) in self.frames.func.iter().enumerate() {
            let named = functions.get(function as usize);
            let &named = named.ok_or_else(|| {
                let fault = dangling("a frame", function, "function");
                fault.at_item("func", frame).at_key("frameTable")
            })?;
            frames.push(self.code(frame, function as usize, named, stacks)?);
        }
        let (rows, prefixes) = (&self.stacks.frame, self.stacks.prefixes()?);
        if rows.len() != prefixes.len() {
            let (frames, prefixes) = (rows.len(), prefixes.len());
            let problem = format!("there are {frames} frames for {prefixes} prefixes");
            return Err(Fault::whole(problem).at_key("stackTable"));
        }
        let mut innermost = Vec::with_capacity(rows.len());
        let mut count = 0;
        for (row, &frame) in rows.iter().enumerate() {
            let functions = frames.get(frame as usize).ok_or_else(|| {
                let fault = dangling("a stack", frame, "frame");
                fault.at_item("frame", row).at_key("stackTable")
            })?;
            count += functions.len() as u32;
            innermost.push(count - 1);
        }
        let mut parents = Parents::new(stacks.width());
        for (row, (&frame, &prefix)) in rows.iter().zip(&*prefixes).enumerate() {
            let inner = |prefix: u32| {
                let found = innermost.get(prefix as usize).copied();
                found.ok_or_else(|| {
                    let fault = dangling("a node", prefix, "node");
                    fault.at_item("prefix", row).at_key("stackTable")
                })
            };
            let mut parent = prefix.map(inner).transpose()?;
            for &function in &frames[frame as usize] {
                parents.push(function, parent);
                parent = Some(parents.len() as u32 - 1);
            }
        }
        let checked = parents.check("prefix");
        checked.map_err(|fault| fault.at_key("stackTable"))?;
        Ok(Nodes { parents, innermost })
    }

    /// The functions of a frame, outermost first. Only an address without a name can have several, see [`Symbols::code`].
    fn code(
        &self,
        frame: usize,
        function: usize,
        named: FrameId,
        stacks: &mut Stacks,
    ) -> Result<Vec<FrameId>, Fault> {
        let cell = |column: &Option<Vec<Option<i64>>>, row: usize| {
            let value = column.as_ref().and_then(|column| *column.get(row)?);
            value.and_then(|value| u64::try_from(value).ok())
        };
        let lib = || {
            let (libs, symbols) = self.code?;
            let lib = match &self.frames.lib {
                Some(_) => cell(&self.frames.lib, frame)?,
                None => {
                    let resource = cell(&self.functions.resource, function)?;
                    cell(&self.resources?.lib, usize::try_from(resource).ok()?)?
                }
            };
            let lib = libs.get(usize::try_from(lib).ok()?)?;
            Some((lib, symbols, cell(&self.frames.address, frame)?))
        };
        let name = self.functions.name[function];
        let is_address = |name: &str| {
            let digits = name.strip_prefix("0x").unwrap_or("");
            !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_hexdigit())
        };
        if is_address(self.string(name).unwrap_or(""))
            && let Some((lib, symbols, address)) = lib()
        {
            let id = lib.code_id.as_deref().and_then(bytes_of);
            let mut code = symbols.code(&lib.path, id.as_deref(), At::Address(address));
            if code.is_empty() {
                code.push(Code {
                    name: bracketed(&lib.path),
                    ..Code::default()
                });
            }
            let frame = |it: &Code| match self.lines {
                true => stacks.frame_in(&it.name, &it.file, it.line, &lib.path),
                false => stacks.frame_in(&it.name, "", 0, &lib.path),
            };
            return code.iter().map(frame).collect();
        }
        let ran = self.frames.line.as_ref();
        if let Some(line) = ran.and_then(|it| *it.get(frame)?).filter(|_| self.lines) {
            let file = self.place(function)?.0;
            return Ok(vec![stacks.frame(self.string(name)?, file, line)?]);
        }
        Ok(vec![named])
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
