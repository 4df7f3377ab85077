//! OpenTelemetry's profiles, as protobuf or as JSON: `profiles/v1development` of opentelemetry-proto 1.9 to 1.11.
//!
//! The format is experimental: other versions use the same numbers for other fields. Newer ones may be refused or lose what
//! they added.
//!
//! Libraries: the crate `opentelemetry-proto` has the messages as prost's structs of one version. It copies every message, its
//! errors do not give the byte, and it brings OpenTelemetry's SDK.

mod json;
mod labels;
mod links;
mod model;
mod numbers;
mod proto;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use self::links::Links;
use self::model::{Data, Sample, Table, ValueType};
use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::stacks::{FrameId, MAX_DEPTH, Stacks, check_types};
use crate::collect::symbols::bracketed;
use crate::collect::units::value;
use crate::decode::fault::Fault;
use crate::decode::input::Input;
use crate::decode::json::Step;

/// Detects the keys of the JSON, or the structure of the outermost protobuf message.
pub(crate) fn detect(input: &Input) -> bool {
    let mut texts = ["resourceProfiles", "resourceSpans"].into_iter();
    texts.any(|it| input.has_keys(&[it])) || input.is_binary() && proto::detect(input.bytes)
}

/// Reads all profiles. Those with the same type and unit are added up.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let files = match input.json {
        Some(_) => json::read(input.text())?,
        None => vec![proto::read(input.bytes)?],
    };
    let mut kinds: Vec<(String, String)> = Vec::new();
    let mut columns: Vec<HashMap<ValueType, usize>> = Vec::new();
    let mut labels: Vec<String> = Vec::new();
    let mut links = Links::new(&files);
    for (row, data) in files.iter().enumerate() {
        let mut of_file = HashMap::new();
        data.each(&mut |sample| {
            if let Entry::Vacant(entry) = of_file.entry(sample.profile.sample_type) {
                let kind = data.value_type(*entry.key())?;
                let column = kinds.iter().position(|it| *it == kind);
                entry.insert(column.unwrap_or(kinds.len()));
                if column.is_none() {
                    kinds.push(kind);
                    check_types(kinds.len())?;
                }
            }
            links.include(data, sample)?;
            if labels.len() < 2 {
                let label = labels::of(data, sample)?;
                if labels.first() != Some(&label) {
                    labels.push(label);
                }
            }
            Ok(())
        })
        .map_err(|fault| fault.at_step(Step::Document(row)))?;
        columns.push(of_file);
    }
    if kinds.is_empty() {
        return Err(Fault::whole("the file has no samples"));
    }
    let types = kinds.iter().map(|(name, unit)| value(name, unit)).collect();
    let mut stacks = Stacks::signed(types, 0)?;
    if let Some(note) = links.note() {
        stacks.note(note);
    }
    for (row, data) in files.iter().enumerate() {
        let mut reader = Reader {
            data,
            frames: vec![None; data.dictionary.location_table.len()],
            named: Vec::new(),
            columns: &columns[row],
            several: labels.len() > 1,
            links: &links,
            containers: HashMap::new(),
            stacks: &mut stacks,
        };
        data.each(&mut |sample| reader.sample(sample))
            .map_err(|fault| fault.at_step(Step::Document(row)))?;
    }
    stacks.finish(Format::Otlp)
}

struct Reader<'r> {
    data: &'r Data,
    links: &'r Links<'r>,
    /// The range in `named` of each location's frames, once known.
    frames: Vec<Option<(usize, usize)>>,
    /// Frames, innermost first in each location.
    named: Vec<FrameId>,
    /// The column of each value type in the file.
    columns: &'r HashMap<ValueType, usize>,
    several: bool,
    containers: HashMap<String, FrameId>,
    stacks: &'r mut Stacks,
}

impl<'r> Reader<'r> {
    fn sample(&mut self, sample: &Sample<'r>) -> Result<(), Fault> {
        let mut values = vec![0; self.stacks.width()];
        values[self.columns[&sample.profile.sample_type]] = sample.data.value()?;
        let span = self.links.container(self.data, sample, self.stacks)?;
        let mut containers: Vec<FrameId> = span.into_iter().collect();
        if self.several {
            containers.push(self.container(sample)?);
        }
        let table = &self.data.dictionary.stack_table;
        let mut stack = Vec::new();
        // Stack 0 means no stack.
        let index = sample.data.stack_index;
        if index != 0 {
            let found = table.row(index, "a sample", "stack")?;
            for &location in &found.location_indices {
                let (from, to) = self.frames_of(location).map_err(|fault| {
                    let fault = fault.at_item("stackTable", index as usize);
                    fault.at_key("dictionary").at_known_byte(found.at)
                })?;
                stack.extend_from_slice(&self.named[from..to]);
                // One frame more than is kept shows that the stack was deeper.
                if stack.len() > MAX_DEPTH {
                    break;
                }
            }
        }
        stack.reverse();
        self.stacks.add_under(&containers, &stack, &values)
    }

    fn container(&mut self, sample: &Sample) -> Result<FrameId, Fault> {
        let label = labels::of(self.data, sample)?;
        if let Some(&id) = self.containers.get(&label) {
            return Ok(id);
        }
        let id = self.stacks.container(&label)?;
        self.containers.insert(label, id);
        Ok(id)
    }

    /// The range in `named` of a location's frames.
    fn frames_of(&mut self, location: i32) -> Result<(usize, usize), Fault> {
        let dictionary = &self.data.dictionary;
        let found = dictionary
            .location_table
            .row(location, "a stack", "location")?;
        let row = location as usize;
        if let Some(range) = self.frames[row] {
            return Ok(range);
        }
        let from = self.named.len();
        let file = match found.mapping_index {
            0 => "",
            index => {
                let mapping = dictionary
                    .mapping_table
                    .row(index, "a location", "mapping")?;
                dictionary.text(mapping.filename_strindex)?
            }
        };
        for line in found.lines.iter().take(MAX_DEPTH + 1) {
            let index = line.function_index;
            let function = dictionary
                .function_table
                .row(index, "a location", "function")?;
            let mut name = dictionary.text(function.name_strindex)?;
            if name.is_empty() {
                name = dictionary.text(function.system_name_strindex)?;
            }
            let source = dictionary.text(function.filename_strindex)?;
            let declared = u32::try_from(function.start_line).unwrap_or(0);
            let frame = self.stacks.frame_in(name, source, declared, file)?;
            self.named.push(frame);
        }
        if found.lines.is_empty() {
            let name = bracketed(file);
            let frame = self.stacks.frame_in(&name, "", 0, file)?;
            self.named.push(frame);
        }
        let range = (from, self.named.len());
        self.frames[row] = Some(range);
        Ok(range)
    }
}
