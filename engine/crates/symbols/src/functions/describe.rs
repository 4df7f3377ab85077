//! What entries say about a function: its own, and those that it refers to, in other units too.

use std::collections::HashMap;

use gimli::{AttributeValue, UnitOffset, UnitRef};

use crate::Scope;
use crate::containers::Containers;
use crate::file::Reader;
use crate::files::Files;

/// Entries that other units refer to (`-flto`).
pub(super) struct Cross<'h, 'a> {
    headers: &'h [gimli::UnitHeader<Reader<'a>>],
    /// Units by their index.
    units: HashMap<usize, Other<'a>>,
    /// Functions by their offset in the section.
    pub(super) functions: HashMap<usize, Option<u32>>,
}

/// A unit that others refer to.
struct Other<'a> {
    unit: gimli::Unit<Reader<'a>>,
    files: Vec<Option<u32>>,
    containers: Option<Containers>,
}

/// What an entry and those that it refers to say about a function.
#[derive(Default)]
pub(super) struct Description {
    pub(super) name: Option<String>,
    pub(super) linkage: Option<String>,
    /// The index of the file; inner `None` when it is out of scope.
    pub(super) file: Option<Option<u32>>,
    pub(super) line: Option<u32>,
    /// The last entry of the chain, when it is in the unit being read.
    pub(super) declaration: Option<UnitOffset<usize>>,
}

/// An entry, in this unit or anywhere.
#[derive(Clone, Copy)]
pub(super) enum Reference {
    Here(UnitOffset<usize>),
    Anywhere(usize),
}

impl<'h, 'a> Cross<'h, 'a> {
    pub(super) fn new(headers: &'h [gimli::UnitHeader<Reader<'a>>]) -> Self {
        Cross {
            headers,
            units: HashMap::new(),
            functions: HashMap::new(),
        }
    }
}

impl Reference {
    pub(super) fn of(value: AttributeValue<Reader<'_>>) -> Option<Reference> {
        match value {
            AttributeValue::UnitRef(offset) => Some(Reference::Here(offset)),
            AttributeValue::DebugInfoRef(offset) => Some(Reference::Anywhere(offset.0)),
            _ => None,
        }
    }
}

/// What describes the functions of a unit.
pub(super) struct Describing<'s> {
    pub(super) files: Files<'s>,
    /// Those of the unit being read, once something asked for them.
    pub(super) containers: Option<Containers>,
}

impl<'s> Describing<'s> {
    pub(super) fn new(scope: &'s Scope) -> Self {
        Describing {
            files: Files::new(scope),
            containers: None,
        }
    }
}

impl Describing<'_> {
    /// Follows an entry to its origin and its declaration; what the nearer one says counts.
    pub(super) fn describe<'a>(
        &mut self,
        unit: UnitRef<'_, Reader<'a>>,
        files: &[Option<u32>],
        mut reference: Reference,
        mut cross: Option<&mut Cross<'_, 'a>>,
        out: &mut Description,
    ) -> gimli::Result<()> {
        // Longer chains are damage.
        for _ in 0..8 {
            let offset = match reference {
                Reference::Here(offset) => offset,
                Reference::Anywhere(offset) => {
                    let Some(cross) = cross.take() else {
                        return Ok(());
                    };
                    return self.describe_elsewhere(unit.dwarf, offset, cross, out);
                }
            };
            let entry = unit.entry(offset)?;
            out.declaration = Some(offset);
            let mut next = None;
            for attribute in entry.attrs() {
                let text = || {
                    let text = unit.attr_string(attribute.value()).ok()?;
                    Some(text.to_string_lossy().into_owned())
                };
                match attribute.name() {
                    gimli::DW_AT_name if out.name.is_none() => out.name = text(),
                    gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name
                        if out.linkage.is_none() =>
                    {
                        out.linkage = text();
                    }
                    gimli::DW_AT_decl_file if out.file.is_none() => {
                        let index = match attribute.value() {
                            AttributeValue::FileIndex(index) => Some(index),
                            value => value.udata_value(),
                        };
                        let index = index.and_then(|index| usize::try_from(index).ok());
                        out.file = index.map(|index| files.get(index).copied().flatten());
                    }
                    gimli::DW_AT_decl_line if out.line.is_none() => {
                        let line = attribute.udata_value();
                        out.line = line.and_then(|line| u32::try_from(line).ok());
                    }
                    gimli::DW_AT_abstract_origin | gimli::DW_AT_specification => {
                        next = Reference::of(attribute.value());
                    }
                    _ => {}
                }
            }
            match next {
                Some(next) => reference = next,
                None => return Ok(()),
            }
        }
        Ok(())
    }

    fn describe_elsewhere<'a>(
        &mut self,
        dwarf: &gimli::Dwarf<Reader<'a>>,
        offset: usize,
        cross: &mut Cross<'_, 'a>,
        out: &mut Description,
    ) -> gimli::Result<()> {
        let start = |header: &gimli::UnitHeader<Reader<'a>>| match header.debug_info_offset() {
            Some(offset) => offset.0,
            None => usize::MAX,
        };
        let after = cross.headers.partition_point(|it| start(it) <= offset);
        let Some(index) = after.checked_sub(1) else {
            return Ok(());
        };
        let header = cross.headers[index];
        let mut other = match cross.units.remove(&index) {
            Some(known) => known,
            None => {
                let unit = dwarf.unit(header)?;
                let files = match &unit.line_program {
                    Some(program) => self.files.of_unit(dwarf, &unit, program.header()),
                    None => Vec::new(),
                };
                Other {
                    unit,
                    files,
                    containers: None,
                }
            }
        };
        let here = Reference::Here(UnitOffset(offset - start(&header)));
        std::mem::swap(&mut self.containers, &mut other.containers);
        let unit = UnitRef::new(dwarf, &other.unit);
        let mut done = self.describe(unit, &other.files, here, Some(cross), out);
        if done.is_ok() && out.linkage.is_none() {
            done = self.qualify(unit, &other.files, out);
        }
        std::mem::swap(&mut self.containers, &mut other.containers);
        out.declaration = None;
        cross.units.insert(index, other);
        done
    }

    /// Gives a function without a linkage name the names around it, and a closure the place of its class.
    pub(super) fn qualify<'a>(
        &mut self,
        unit: UnitRef<'_, Reader<'a>>,
        files: &[Option<u32>],
        description: &mut Description,
    ) -> gimli::Result<()> {
        let (Some(declaration), Some(name)) = (description.declaration, &mut description.name)
        else {
            return Ok(());
        };
        let containers = match &self.containers {
            Some(known) => known,
            None => self
                .containers
                .insert(Containers::read(unit.dwarf, unit.unit)?),
        };
        let place = containers.place(declaration);
        *name = place.qualified(name, description.line.is_some());
        if let (Some((file, line)), None) = (place.closure, description.line) {
            let index = usize::try_from(file).unwrap_or(usize::MAX);
            description.file = Some(files.get(index).copied().flatten());
            description.line = u32::try_from(line).ok();
        }
        Ok(())
    }
}
