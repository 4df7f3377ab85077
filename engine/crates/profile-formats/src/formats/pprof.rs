//! pprof's `profile.proto`: every line of a location is a frame, every value type is kept.
//!
//! Libraries: the crates pprof, ckb-vm-pprof-protos and libdd-profiling-protobuf have generated structs for the messages.
//! These copy every sample, line and label of a file before the first is used, and report errors without the byte.
//! `decode::wire` reads in place.

mod samples;
mod threads;

use std::thread;

use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::ids::Ids;
use crate::collect::stacks::{FrameId, MAX_DEPTH, Stacks};
use crate::collect::units::value;
use crate::decode::fault::{Fault, dangling, quote};
use crate::decode::input::Input;
use crate::decode::json::Step;
use crate::decode::wire::{Field, Message};
use samples::Samples;
use threads::Threads;

/// The label with the thread's name, in our own writer and others.
pub(crate) const LABEL: &str = "thread";

/// Rows of a table that there is room for from the beginning, and frames. A file may declare many that say nothing.
const MANY: usize = 1 << 16;

/// The messages, not yet resolved: strings and ids may be used before they are defined.
#[derive(Default)]
struct Tables<'a> {
    strings: Vec<&'a [u8]>,
    types: Vec<ValueColumn>,
    default_type: u64,
    mappings: Vec<Mapping>,
    locations: Vec<Location>,
    /// The function ids of all locations' lines, innermost first in each.
    lines: Vec<u64>,
    /// Their source lines, when frames need them.
    ran: Option<Vec<u64>>,
    functions: Vec<Function>,
    drop_frames: u64,
    keep_frames: u64,
}

/// A value type, by the rows of its strings.
struct ValueColumn {
    name: u64,
    unit: u64,
    at: usize,
}

/// A mapping, by ids and rows of strings, with its offset in the file. The same holds for the next structs.
#[derive(Default)]
struct Mapping {
    id: u64,
    file: u64,
    at: usize,
}

#[derive(Default)]
struct Location {
    id: u64,
    mapping: u64,
    /// The range in [`Tables::lines`].
    lines: (usize, usize),
    at: usize,
}

#[derive(Default)]
struct Function {
    id: u64,
    name: u64,
    system_name: u64,
    file: u64,
    line: u64,
    at: usize,
}

/// Detects binary data whose first field is one of a profile's.
pub(crate) fn detect(input: &Input) -> bool {
    let mut message = Message::new(input.bytes);
    let first = message.field();
    let known = matches!(first, Ok(Some((1..=7 | 11 | 13, Field::Bytes(_)))))
        || matches!(first, Ok(Some((7..=14, Field::Varint(_)))));
    // A file that is cut short in its first field is recognised by its control characters.
    input.is_binary() && (known || input.bytes.starts_with(b"\x0a"))
}

/// Reads a profile.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let tables = Tables::read(input)?;
    let mut types = Vec::with_capacity(tables.types.len());
    for kind in &tables.types {
        let text = |index| tables.text(index).map_err(|fault| fault.at_byte(kind.at));
        types.push(value(&text(kind.name)?, &text(kind.unit)?));
    }
    let mut stacks = Stacks::signed(types, tables.default_type()?)?;
    let key = tables.row_of(LABEL);
    let threads = Threads::new(input.bytes, key)?;
    let labels = thread::scope(|scope| {
        // Decoded while the frames get their names.
        let mut samples = Samples::of(input.bytes, &threads, scope);
        let names = Names::new(&tables, &mut stacks)?;
        add(&mut samples, input, &tables, &names, &mut stacks)
    })?;
    for (pattern, what) in [
        (tables.drop_frames, "dropped"),
        (tables.keep_frames, "kept"),
    ] {
        let pattern = tables.text(pattern)?;
        if !pattern.is_empty() {
            stacks.note(format!(
                "The profile asks for frames that match {} to be {what}; they are all shown.",
                quote(&pattern)
            ));
        }
    }
    if labels {
        stacks.note("Samples carry labels, which are not read.");
    }
    stacks.finish(Format::Pprof)
}

/// Adds every sample. Returns whether any has labels that are not read.
fn add(
    samples: &mut Samples<'_>,
    input: &Input,
    tables: &Tables,
    names: &Names,
    stacks: &mut Stacks,
) -> Result<bool, Fault> {
    let (mut stack, mut signed) = (Vec::new(), Vec::new());
    let mut labels = false;
    while let Some(mut block) = samples.next() {
        input.read_until(block.end)?;
        labels |= block.labels;
        for sample in block.samples() {
            if sample.values.len() != tables.types.len() {
                let (found, expected) = (sample.values.len(), tables.types.len());
                let problem = format!("a sample has {found} values, expected {expected}");
                return Err(Fault::byte(sample.at, problem));
            }
            let container = match sample.thread {
                Some(thread) => Some(stacks.container(&tables.text(thread)?)?),
                None => None,
            };
            let named = names.stack(sample.locations, &mut stack);
            named.map_err(|fault| fault.at_byte(sample.at))?;
            signed.clear();
            signed.extend(sample.values.iter().map(|value| value.cast_signed()));
            let added = stacks.add_in(container, &stack, &signed);
            added.map_err(|fault| fault.at_byte(sample.at))?;
        }
        if let Some(fault) = block.fault.take() {
            return Err(fault);
        }
        samples.done_with(block);
    }
    Ok(labels)
}

/// The frames of each location.
struct Names {
    /// The rows of `spans` by location id.
    ids: Ids,
    spans: Vec<(usize, usize)>,
    /// Frames, innermost first in each span.
    frames: Vec<FrameId>,
    /// The frame of each location by id, when ids are dense. [`SEVERAL`] when a location has more than one.
    only: Vec<FrameId>,
}

impl Names {
    fn new(tables: &Tables, stacks: &mut Stacks) -> Result<Self, Fault> {
        let functions = ids(&tables.functions, "function", |it| (it.id, it.at))?;
        let mappings = ids(&tables.mappings, "mapping", |it| (it.id, it.at))?;
        let ids = ids(&tables.locations, "location", |it| (it.id, it.at))?;
        let binaries = tables.binaries(&functions, &mappings)?;
        stacks.reserve_frames(tables.functions.len().min(MANY));
        let frame = |stacks: &mut Stacks, row: usize, line: u64| {
            let (function, binary) = (&tables.functions[row], binaries[row]);
            let text = |index| {
                tables
                    .text(index)
                    .map_err(|fault| fault.at_byte(function.at))
            };
            let mut name = text(function.name)?;
            if name.is_empty() {
                name = text(function.system_name)?;
            }
            let file = text(function.file)?;
            let line = u32::try_from(line).unwrap_or(0);
            stacks.frame_in(&name, &file, line, &text(binary)?)
        };
        let declared = tables.functions.iter().map(|it| it.line).enumerate();
        let named = declared.map(|(row, line)| frame(stacks, row, line));
        let named = match &tables.ran {
            None => named.collect::<Result<Vec<_>, _>>()?,
            Some(_) => Vec::new(),
        };
        let mut frames = Vec::new();
        let mut spans = Vec::with_capacity(tables.locations.len());
        for location in &tables.locations {
            let start = frames.len();
            let (from, to) = location.lines;
            for (n, &id) in tables.lines[from..to]
                .iter()
                .enumerate()
                .take(MAX_DEPTH + 1)
            {
                let row = functions.get(id);
                let missing = || dangling("a location", id, "function").at_byte(location.at);
                let row = row.ok_or_else(missing)?;
                frames.push(match &tables.ran {
                    None => named[row],
                    Some(lines) => frame(stacks, row, lines[from + n])?,
                });
            }
            if from == to {
                let name = tables.unnamed(location, &mappings)?;
                frames.push(stacks.frame(&name, "", 0)?);
            }
            spans.push((start, frames.len()));
        }
        let only = only_frames(&tables.locations, &spans, &frames);
        Ok(Names {
            ids,
            spans,
            frames,
            only,
        })
    }

    /// The only frame of a location: the fast path, which finds most. [`SEVERAL`] when it does not.
    fn only(&self, location: u64) -> FrameId {
        let slot = usize::try_from(location).unwrap_or(usize::MAX);
        self.only.get(slot).copied().unwrap_or(SEVERAL)
    }

    /// The frames of a stack of locations, outermost first. One frame more than is kept shows that the stack was deeper.
    fn stack(&self, locations: &[u64], stack: &mut Vec<FrameId>) -> Result<(), Fault> {
        let locations = &locations[..locations.len().min(MAX_DEPTH + 1)];
        stack.clear();
        stack.extend(locations.iter().rev().map(|&id| self.only(id)));
        if !stack.contains(&SEVERAL) {
            return Ok(());
        }
        stack.clear();
        for &id in locations {
            stack.extend_from_slice(self.frames(id)?);
            if stack.len() > MAX_DEPTH {
                break;
            }
        }
        stack.reverse();
        Ok(())
    }

    fn frames(&self, location: u64) -> Result<&[FrameId], Fault> {
        let row = self.ids.get(location);
        let row = row.ok_or_else(|| dangling("a sample", location, "location"))?;
        let (from, to) = self.spans[row];
        Ok(&self.frames[from..to])
    }
}

/// No frame: a location has several, or is not among those of which it is known.
const SEVERAL: FrameId = FrameId(u32::MAX);

/// The frame of each location by id, where ids are dense and a location has exactly one frame.
fn only_frames(
    locations: &[Location],
    spans: &[(usize, usize)],
    frames: &[FrameId],
) -> Vec<FrameId> {
    let mut only = vec![SEVERAL; 2 * locations.len()];
    for (location, &(start, end)) in locations.iter().zip(spans) {
        let slot = usize::try_from(location.id).ok();
        if let Some(slot) = slot.and_then(|id| only.get_mut(id))
            && end - start == 1
        {
            *slot = frames[start];
        }
    }
    only
}

impl<'a> Tables<'a> {
    /// Empty tables, with room for what most files have: growing step by step would leave holes everywhere.
    fn with_room(input: &'a Input) -> Result<Self, Fault> {
        let (mut locations, mut functions, mut strings) = (0, 0, 0);
        let mut message = Message::new(input.bytes);
        while let Some((number, field)) = message.field()? {
            match (number, field) {
                (4, Field::Bytes(_)) => locations += 1,
                (5, Field::Bytes(_)) => functions += 1,
                (6, Field::Bytes(_)) => strings += 1,
                _ => {}
            }
        }
        let [locations, functions, strings] =
            [locations, functions, strings].map(|count: usize| count.min(MANY));
        Ok(Tables {
            strings: Vec::with_capacity(strings),
            locations: Vec::with_capacity(locations),
            lines: Vec::with_capacity(locations),
            ran: input.lines().then(Vec::new),
            functions: Vec::with_capacity(functions),
            ..Tables::default()
        })
    }

    fn read(input: &'a Input) -> Result<Self, Fault> {
        let mut tables = Tables::with_room(input)?;
        let mut message = Message::new(input.bytes);
        loop {
            let at = message.at();
            let Some((number, field)) = message.field()? else {
                return Ok(tables);
            };
            match (number, field) {
                (1, Field::Bytes(inner)) => {
                    let [name, unit] = inner.numbers([1, 2])?;
                    tables.types.push(ValueColumn { name, unit, at });
                }
                (3, Field::Bytes(inner)) => {
                    let [id, file] = inner.numbers([1, 5])?;
                    tables.mappings.push(Mapping { id, file, at });
                }
                (4, Field::Bytes(inner)) => tables.location(inner)?,
                (5, Field::Bytes(inner)) => {
                    let [id, name, system_name, file, line] = inner.numbers([1, 2, 3, 4, 5])?;
                    tables.functions.push(Function {
                        id,
                        name,
                        system_name,
                        file,
                        line,
                        at,
                    });
                }
                (6, Field::Bytes(inner)) => tables.strings.push(inner.bytes()),
                (7, field) => tables.drop_frames = field.number(),
                (8, field) => tables.keep_frames = field.number(),
                (14, field) => tables.default_type = field.number(),
                _ => {}
            }
        }
    }

    /// For each function, the binary of the first location that it occurs in, as a row of the string table.
    fn binaries(&self, functions: &Ids, mappings: &Ids) -> Result<Vec<u64>, Fault> {
        let mut binaries = vec![0; self.functions.len()];
        for location in &self.locations {
            let Some(mapping) = self.mapping(location, mappings)? else {
                continue;
            };
            let (from, to) = location.lines;
            for &id in &self.lines[from..to] {
                if let Some(function) = functions.get(id)
                    && binaries[function] == 0
                {
                    binaries[function] = mapping.file;
                }
            }
        }
        Ok(binaries)
    }

    /// The mapping of a location. Returns `None` when it has none.
    fn mapping(&self, location: &Location, mappings: &Ids) -> Result<Option<&Mapping>, Fault> {
        if location.mapping == 0 {
            return Ok(None);
        }
        let row = mappings.get(location.mapping);
        let missing = || {
            let fault = dangling("a location", location.mapping, "mapping");
            fault.at_byte(location.at)
        };
        row.ok_or_else(missing).map(|row| Some(&self.mappings[row]))
    }

    /// The name of a location without functions: as in pprof, its file.
    fn unnamed(&self, location: &Location, mappings: &Ids) -> Result<String, Fault> {
        let Some(mapping) = self.mapping(location, mappings)? else {
            return Ok("<unknown>".to_owned());
        };
        let file = self.text(mapping.file);
        let file = file.map_err(|fault| fault.at_byte(mapping.at))?;
        let base = file.rsplit(['/', '\\']).next().filter(|it| !it.is_empty());
        Ok(match base {
            Some(base) => format!("[{base}]"),
            None => "<unknown>".to_owned(),
        })
    }

    fn location(&mut self, mut message: Message<'a>) -> Result<(), Fault> {
        let from = self.lines.len();
        let mut location = Location {
            at: message.at(),
            ..Location::default()
        };
        while let Some((number, field)) = message.field()? {
            match (number, field) {
                (1, field) => location.id = field.number(),
                (2, field) => location.mapping = field.number(),
                (4, Field::Bytes(line)) => {
                    let [function, ran] = line.numbers([1, 2])?;
                    self.lines.push(function);
                    if let Some(lines) = &mut self.ran {
                        lines.push(ran);
                    }
                }
                _ => {}
            }
        }
        location.lines = (from, self.lines.len());
        self.locations.push(location);
        Ok(())
    }

    /// The string at an index. Index 0 is always empty.
    fn text(&self, index: u64) -> Result<std::borrow::Cow<'a, str>, Fault> {
        let found = usize::try_from(index)
            .ok()
            .and_then(|index| self.strings.get(index));
        match found {
            // Nearly all text is UTF-8, and checking is faster than replacing.
            Some(bytes) => Ok(match str::from_utf8(bytes) {
                Ok(text) => text.into(),
                Err(_) => String::from_utf8_lossy(bytes),
            }),
            None if index == 0 => Ok("".into()),
            None => Err(dangling("the profile", index, "string")),
        }
    }

    /// The first row of this text in the string table.
    fn row_of(&self, text: &str) -> Option<u64> {
        let mut strings = self.strings.iter();
        let row = strings.position(|&it| it == text.as_bytes());
        row.map(|row| row as u64)
    }

    /// The row of the profile's default type, or else of the last type.
    fn default_type(&self) -> Result<usize, Fault> {
        let wanted = self.text(self.default_type)?;
        for (row, kind) in self.types.iter().enumerate() {
            if !wanted.is_empty() && self.text(kind.name)? == wanted {
                return Ok(row);
            }
        }
        Ok(self.types.len().saturating_sub(1))
    }
}

/// The rows of a table by id. A repeated id is an error at the second row.
fn ids<T>(table: &[T], what: &str, id_and_place: fn(&T) -> (u64, usize)) -> Result<Ids, Fault> {
    let ids = Ids::new(table.iter().map(|row| id_and_place(row).0), what);
    ids.map_err(|fault| match fault.path[..] {
        [Step::Item(row)] => fault.at_byte(id_and_place(&table[row]).1),
        _ => fault,
    })
}
