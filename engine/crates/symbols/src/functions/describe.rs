//! Describes functions: what an entry and the entries that it refers to, in any unit, say about a function.

use std::collections::HashMap;

use gimli::{AttributeValue, UnitOffset, UnitRef};

use crate::Scope;
use crate::dwarf::containers::Containers;
use crate::dwarf::files::Files;
use crate::elf::file::Reader;

/// Entries to which other units refer (`-flto`).
pub(super) struct Cross<'h, 'a> {
    headers: &'h [gimli::UnitHeader<Reader<'a>>],
    /// The units that were read, by index.
    units: HashMap<usize, Other<'a>>,
    /// The functions by the offset of their entry in the section. `None` for functions out of scope.
    pub(super) functions: HashMap<usize, Option<u32>>,
}

/// A unit to which others refer.
struct Other<'a> {
    unit: gimli::Unit<Reader<'a>>,
    files: Vec<Option<u32>>,
    containers: Option<Containers>,
}

/// What an entry and the entries that it refers to say about a function.
#[derive(Default)]
pub(super) struct Description {
    pub(super) name: Option<String>,
    pub(super) linkage: Option<String>,
    pub(super) file: DeclaringFile,
    pub(super) line: Option<u32>,
    /// The last entry of the chain, if it is in the unit that is being read.
    pub(super) declaration: Option<UnitOffset<usize>>,
}

/// The file in which a function is declared.
#[derive(Clone, Copy, Default)]
pub(super) enum DeclaringFile {
    #[default]
    Unknown,
    OutOfScope,
    /// The index of the file among those in scope.
    InScope(u32),
}

impl DeclaringFile {
    fn from_attribute(files: &[Option<u32>], value: AttributeValue<Reader<'_>>) -> DeclaringFile {
        let index = match value {
            AttributeValue::FileIndex(index) => Some(index),
            value => value.udata_value(),
        };
        match index.and_then(|index| usize::try_from(index).ok()) {
            Some(index) => DeclaringFile::of(files, index),
            None => DeclaringFile::Unknown,
        }
    }

    /// By an index of the unit's file table.
    fn of(files: &[Option<u32>], index: usize) -> DeclaringFile {
        match files.get(index).copied().flatten() {
            Some(file) => DeclaringFile::InScope(file),
            None => DeclaringFile::OutOfScope,
        }
    }
}

/// A unit and its file table.
#[derive(Clone, Copy)]
pub(super) struct Unit<'u, 'a> {
    pub(super) entries: UnitRef<'u, Reader<'a>>,
    pub(super) files: &'u [Option<u32>],
}

/// A reference to an entry of the same unit, or of any.
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

/// Describes the functions of a unit.
pub(super) struct Describing<'s> {
    pub(super) files: Files<'s>,
    /// The containers of the unit that is being read, once they are needed.
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
    /// Follows an entry to its origin and its declaration. Where both have an attribute, the nearer one counts.
    pub(super) fn describe<'a>(
        &mut self,
        unit: Unit<'_, 'a>,
        mut reference: Reference,
        mut cross: Option<&mut Cross<'_, 'a>>,
        out: &mut Description,
    ) -> gimli::Result<()> {
        // A longer chain is damage.
        for _ in 0..8 {
            let offset = match reference {
                Reference::Here(offset) => offset,
                Reference::Anywhere(offset) => {
                    let Some(cross) = cross.take() else {
                        return Ok(());
                    };
                    return self.describe_elsewhere(unit.entries.dwarf, offset, cross, out);
                }
            };
            let entry = unit.entries.entry(offset)?;
            out.declaration = Some(offset);
            let mut next = None;
            for attribute in entry.attrs() {
                let text = || {
                    let text = unit.entries.attr_string(attribute.value()).ok()?;
                    Some(text.to_string_lossy().into_owned())
                };
                match attribute.name() {
                    gimli::DW_AT_name if out.name.is_none() => out.name = text(),
                    gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name
                        if out.linkage.is_none() =>
                    {
                        out.linkage = text();
                    }
                    gimli::DW_AT_decl_file if matches!(out.file, DeclaringFile::Unknown) => {
                        out.file = DeclaringFile::from_attribute(unit.files, attribute.value());
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
        let unit = Unit {
            entries: UnitRef::new(dwarf, &other.unit),
            files: &other.files,
        };
        let mut done = self.describe(unit, here, Some(cross), out);
        if done.is_ok() && out.linkage.is_none() {
            done = self.qualify(unit, out);
        }
        std::mem::swap(&mut self.containers, &mut other.containers);
        out.declaration = None;
        cross.units.insert(index, other);
        done
    }

    /// Qualifies the name of a function without a linkage name, and gives a closure the file and line of its class.
    pub(super) fn qualify<'a>(
        &mut self,
        unit: Unit<'_, 'a>,
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
                .insert(Containers::read(unit.entries.dwarf, unit.entries.unit)?),
        };
        let place = containers.place(declaration);
        *name = match description.line {
            Some(_) => place.qualified(name),
            None => place.qualified_without_line(name),
        };
        if let (Some((file, line)), None) = (place.closure, description.line) {
            let index = usize::try_from(file).unwrap_or(usize::MAX);
            description.file = DeclaringFile::of(unit.files, index);
            description.line = u32::try_from(line).ok();
        }
        Ok(())
    }
}
