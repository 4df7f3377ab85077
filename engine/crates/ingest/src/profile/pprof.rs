//! pprof's `profile.proto`: every line of a location is a frame, every value type is kept.

use super::fault::{Fault, dangling};
use super::ids::Ids;
use super::input::Input;
use super::stacks::{FrameId, Stacks};
use super::units::value;
use super::wire::{Field, Message};
use super::{Format, Profile};

/// The label that names a thread, as our own writer and others call it.
pub const LABEL: &str = "thread";

/// The messages before they are understood. Strings and ids may be used before they are defined.
#[derive(Default)]
struct Tables<'a> {
    strings: Vec<&'a [u8]>,
    /// Name and unit.
    types: Vec<(u64, u64)>,
    default_type: u64,
    mappings: Vec<Mapping>,
    locations: Vec<Location>,
    /// Function ids of all locations' lines, innermost first in each.
    lines: Vec<u64>,
    functions: Vec<Function>,
    drop_frames: u64,
    keep_frames: u64,
}

#[derive(Default)]
struct Mapping {
    id: u64,
    file: u64,
}

#[derive(Default)]
struct Location {
    id: u64,
    mapping: u64,
    /// Its range in [`Tables::lines`].
    lines: (usize, usize),
}

#[derive(Default)]
struct Function {
    id: u64,
    name: u64,
    system_name: u64,
    file: u64,
    line: u64,
}

/// Binary data whose first field is one of a profile's.
pub fn detect(input: &Input) -> bool {
    let mut message = Message::new(input.bytes);
    let first = message.field();
    let known = matches!(first, Ok(Some((1..=7 | 11 | 13, Field::Bytes(_)))))
        || matches!(first, Ok(Some((7..=14, Field::Varint(_)))));
    // A file that is cut short in its first field is told from text by its control characters.
    input.is_binary() && !input.is_foreign() && (known || input.bytes.starts_with(b"\x0a"))
}

/// Reads a profile.
pub fn read(input: &Input) -> Result<Profile, Fault> {
    let tables = Tables::read(input.bytes)?;
    let mut types = Vec::with_capacity(tables.types.len());
    for &(name, unit) in &tables.types {
        types.push(value(&tables.text(name)?, &tables.text(unit)?));
    }
    let mut stacks = Stacks::new(types, tables.default_type()?)?;
    let names = Names::new(&tables, &mut stacks)?;
    let threads = Threads::new(input.bytes, &tables)?;
    let labels = samples(input.bytes, &tables, &names, &threads, &mut stacks)?;
    for (pattern, what) in [
        (tables.drop_frames, "dropped"),
        (tables.keep_frames, "kept"),
    ] {
        let pattern = tables.text(pattern)?;
        if !pattern.is_empty() {
            stacks.note(format!(
                "The profile asks for frames that match {pattern:?} to be {what}; they are all shown."
            ));
        }
    }
    if labels {
        stacks.note("Samples carry labels, which are not read.");
    }
    stacks.finish(Format::Pprof)
}

/// Adds every sample; whether any has labels that were not read.
fn samples(
    bytes: &[u8],
    tables: &Tables,
    names: &Names,
    threads: &Threads,
    stacks: &mut Stacks,
) -> Result<bool, Fault> {
    let mut message = Message::new(bytes);
    let (mut ids, mut values) = (Vec::new(), Vec::new());
    let (mut stack, mut signed) = (Vec::new(), Vec::new());
    let mut labels = false;
    loop {
        let at = message.at();
        let Some((number, field)) = message.field()? else {
            return Ok(labels);
        };
        let Some(mut sample) = field.message().filter(|_| number == 2) else {
            continue;
        };
        ids.clear();
        values.clear();
        stack.clear();
        let mut container = None;
        while let Some((number, field)) = sample.field()? {
            match (number, field) {
                (1, field) => field.numbers(&mut ids)?,
                (2, field) => field.numbers(&mut values)?,
                (3, Field::Bytes(label)) => match threads.of(label)? {
                    Some(thread) if threads.several => {
                        container = Some(stacks.container(&tables.text(thread)?)?);
                    }
                    Some(_) => {}
                    None => labels = true,
                },
                _ => {}
            }
        }
        if values.len() != tables.types.len() {
            let (found, expected) = (values.len(), tables.types.len());
            let problem = format!("a sample has {found} values, expected {expected}");
            return Err(Fault::byte(at, problem));
        }
        for &id in ids.iter().rev() {
            let frames = names.frames(id).map_err(|fault| fault.at_byte(at))?;
            stack.extend_from_slice(frames);
        }
        let values = values.iter().map(|value| value.cast_signed());
        signed.clear();
        signed.extend(values);
        let added = stacks.add_in(container, &stack, &signed);
        added.map_err(|fault| fault.at_byte(at))?;
    }
}

/// The label that names a sample's thread.
struct Threads {
    /// Its key in the table of strings, when a sample may have it.
    key: Option<u64>,
    /// Whether there is more than one thread.
    several: bool,
}

impl Threads {
    fn new(bytes: &[u8], tables: &Tables) -> Result<Self, Fault> {
        let key = tables
            .strings
            .iter()
            .position(|&text| text == LABEL.as_bytes());
        let mut threads = Threads {
            key: key.map(|key| key as u64),
            several: false,
        };
        if threads.key.is_none() {
            return Ok(threads);
        }
        let mut first = None;
        let mut message = Message::new(bytes);
        while let Some((number, field)) = message.field()? {
            let Some(mut sample) = field.message().filter(|_| number == 2) else {
                continue;
            };
            while let Some((number, field)) = sample.field()? {
                if let (3, Field::Bytes(label)) = (number, field)
                    && let Some(thread) = threads.of(label)?
                    && *first.get_or_insert(thread) != thread
                {
                    threads.several = true;
                    return Ok(threads);
                }
            }
        }
        Ok(threads)
    }

    /// The thread that a label names, if it names one.
    fn of(&self, label: Message) -> Result<Option<u64>, Fault> {
        let Some(key) = self.key else {
            return Ok(None);
        };
        let [found, text] = numbers(label, [1, 2])?;
        Ok((found == key && text != 0).then_some(text))
    }
}

/// The frames of each location.
struct Names {
    /// Location ids to rows of `spans`.
    ids: Ids,
    spans: Vec<(usize, usize)>,
    /// Outermost first in each span.
    frames: Vec<FrameId>,
}

impl Names {
    fn new(tables: &Tables, stacks: &mut Stacks) -> Result<Self, Fault> {
        let functions = Ids::new(tables.functions.iter().map(|it| it.id), "function")?;
        let mappings = Ids::new(tables.mappings.iter().map(|it| it.id), "mapping")?;
        let ids = Ids::new(tables.locations.iter().map(|it| it.id), "location")?;
        let binaries = tables.binaries(&functions, &mappings)?;
        let mut named = Vec::with_capacity(tables.functions.len());
        for (function, binary) in tables.functions.iter().zip(binaries) {
            let mut name = tables.text(function.name)?;
            if name.is_empty() {
                name = tables.text(function.system_name)?;
            }
            let file = tables.text(function.file)?;
            let line = u32::try_from(function.line).unwrap_or(0);
            let binary = tables.text(binary)?;
            named.push(stacks.frame_in(&name, &file, line, &binary)?);
        }
        let mut frames = Vec::new();
        let mut spans = Vec::with_capacity(tables.locations.len());
        for location in &tables.locations {
            let start = frames.len();
            let (from, to) = location.lines;
            for &id in tables.lines[from..to].iter().rev() {
                let row = functions.get(id);
                let row = row.ok_or_else(|| dangling("a location", id, "function"))?;
                frames.push(named[row]);
            }
            if from == to {
                // As pprof does: code without symbols is named by its file.
                let mut name = "<unknown>".to_owned();
                if location.mapping != 0 {
                    let row = mappings.get(location.mapping);
                    let row =
                        row.ok_or_else(|| dangling("a location", location.mapping, "mapping"))?;
                    let file = tables.text(tables.mappings[row].file)?;
                    if let Some(base) = file.rsplit(['/', '\\']).next().filter(|it| !it.is_empty())
                    {
                        name = format!("[{base}]");
                    }
                }
                frames.push(stacks.frame(&name, "", 0)?);
            }
            spans.push((start, frames.len()));
        }
        Ok(Names { ids, spans, frames })
    }

    fn frames(&self, location: u64) -> Result<&[FrameId], Fault> {
        let row = self.ids.get(location);
        let row = row.ok_or_else(|| dangling("a sample", location, "location"))?;
        let (from, to) = self.spans[row];
        Ok(&self.frames[from..to])
    }
}

impl<'a> Tables<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, Fault> {
        let mut tables = Tables::default();
        let mut message = Message::new(bytes);
        while let Some((number, field)) = message.field()? {
            match (number, field) {
                (1, Field::Bytes(inner)) => {
                    let [kind, unit] = numbers(inner, [1, 2])?;
                    tables.types.push((kind, unit));
                }
                (3, Field::Bytes(inner)) => {
                    let [id, file] = numbers(inner, [1, 5])?;
                    tables.mappings.push(Mapping { id, file });
                }
                (4, Field::Bytes(inner)) => tables.location(inner)?,
                (5, Field::Bytes(inner)) => {
                    let [id, name, system_name, file, line] = numbers(inner, [1, 2, 3, 4, 5])?;
                    tables.functions.push(Function {
                        id,
                        name,
                        system_name,
                        file,
                        line,
                    });
                }
                (6, Field::Bytes(inner)) => tables.strings.push(inner.bytes()),
                (7, field) => tables.drop_frames = field.number(),
                (8, field) => tables.keep_frames = field.number(),
                (14, field) => tables.default_type = field.number(),
                _ => {}
            }
        }
        Ok(tables)
    }

    /// For each function the file of the first code that it was found in, as a string's index.
    fn binaries(&self, functions: &Ids, mappings: &Ids) -> Result<Vec<u64>, Fault> {
        let mut binaries = vec![0; self.functions.len()];
        for location in self
            .locations
            .iter()
            .filter(|location| location.mapping != 0)
        {
            let row = mappings.get(location.mapping);
            let row = row.ok_or_else(|| dangling("a location", location.mapping, "mapping"))?;
            let (from, to) = location.lines;
            for &id in &self.lines[from..to] {
                if let Some(function) = functions.get(id)
                    && binaries[function] == 0
                {
                    binaries[function] = self.mappings[row].file;
                }
            }
        }
        Ok(binaries)
    }

    fn location(&mut self, mut message: Message<'a>) -> Result<(), Fault> {
        let from = self.lines.len();
        let mut location = Location::default();
        while let Some((number, field)) = message.field()? {
            match (number, field) {
                (1, field) => location.id = field.number(),
                (2, field) => location.mapping = field.number(),
                (4, Field::Bytes(line)) => {
                    let [function] = numbers(line, [1])?;
                    self.lines.push(function);
                }
                _ => {}
            }
        }
        location.lines = (from, self.lines.len());
        self.locations.push(location);
        Ok(())
    }

    /// A string by its index; 0 is always empty.
    fn text(&self, index: u64) -> Result<std::borrow::Cow<'a, str>, Fault> {
        let found = usize::try_from(index)
            .ok()
            .and_then(|index| self.strings.get(index));
        match found {
            Some(bytes) => Ok(String::from_utf8_lossy(bytes)),
            None if index == 0 => Ok("".into()),
            None => Err(dangling("the profile", index, "string")),
        }
    }

    /// The row of the type that the profile prefers, else the last.
    fn default_type(&self) -> Result<usize, Fault> {
        let wanted = self.text(self.default_type)?;
        for (row, &(name, _)) in self.types.iter().enumerate() {
            if !wanted.is_empty() && self.text(name)? == wanted {
                return Ok(row);
            }
        }
        Ok(self.types.len().saturating_sub(1))
    }
}

/// Those fields of a message that are numbers.
fn numbers<const N: usize>(mut message: Message, wanted: [u64; N]) -> Result<[u64; N], Fault> {
    let mut found = [0; N];
    while let Some((number, field)) = message.field()? {
        if let Some(place) = wanted.iter().position(|&it| it == number) {
            found[place] = field.number();
        }
    }
    Ok(found)
}
