//! Functions in scope and the code of their activations, inlined ones included.

use std::collections::HashMap;
use std::path::Path;

use gimli::{AttributeValue, UnitOffset};

use crate::containers::Containers;
use crate::file::{Module, Reader};
use crate::files::Files;
use crate::paint::flatten;
use crate::units::{Extent, Split};
use crate::{Location, Scope, SymbolsError, names, note_damage};

/// The functions of a module whose declarations are in scope, and where their code is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionTable {
    /// Every function that has code, in no particular order.
    pub functions: Vec<Function>,
    /// Activations: a function in itself, or inlined into another one.
    pub nodes: Vec<Node>,
    /// Sorted by start and disjoint.
    pub ranges: Vec<FunctionRange>,
    /// Functions that share one body because the linker or the compiler found them identical: `(kept, folded)`.
    /// Samples of both count for `kept`.
    pub folded: Vec<(String, String)>,
    /// What weakens the table; whole sentences.
    pub notes: Vec<String>,
}

impl FunctionTable {
    /// The innermost activation at this address of the file.
    pub fn lookup(&self, address: u64) -> Option<u32> {
        let after = self.ranges.partition_point(|range| range.start <= address);
        let range = self.ranges[..after].last()?;
        (address < range.end).then_some(range.node)
    }

    /// The functions from this activation outwards, until the function that is called and not inlined.
    pub fn chain(&self, node: u32) -> impl Iterator<Item = &Function> {
        let at = |index: u32| self.nodes.get(index as usize);
        std::iter::successors(at(node), move |node| at(node.parent))
            .filter_map(|node| self.functions.get(node.function as usize))
    }
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    /// Demangled, without parameters: `ns::Queue<int>::pop`.
    pub name: String,
    /// Where it is declared; of a declaration and a definition, the definition.
    pub location: Location,
}

/// An activation of a function. Copies that are inlined along the same chain are one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// Index into [`FunctionTable::functions`].
    pub function: u32,
    /// The activation in scope that it is inlined into; `u32::MAX` when it is called.
    pub parent: u32,
}

/// A piece of code and the innermost activation that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionRange {
    /// First address, as in the file (add the module's load bias).
    pub start: u64,
    /// First address after it.
    pub end: u64,
    /// Index into [`FunctionTable::nodes`].
    pub node: u32,
}

const NONE: u32 = u32::MAX;

pub(crate) fn table(
    path: &Path,
    scope: &Scope,
    module: &Module<'_>,
) -> Result<FunctionTable, SymbolsError> {
    let mut dwarf = module.dwarf.reader();
    dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::Duplicates);
    let mut reading = Reading::new(path, module, scope);
    let mut damage = None;
    let mut headers = Vec::new();
    let mut units = dwarf.units();
    loop {
        match units.next() {
            Ok(Some(header)) => headers.push(header),
            Ok(None) => break,
            Err(error) => {
                damage.get_or_insert(error);
                break;
            }
        }
    }
    let mut cross = Cross {
        headers: &headers,
        units: HashMap::new(),
        functions: HashMap::new(),
    };
    for header in &headers {
        if let Err(error) = reading.unit(&dwarf, *header, &mut cross) {
            damage.get_or_insert(error);
        }
    }
    if let Some(error) = damage {
        let place = dwarf.format_error(error);
        let note = note_damage(path, &place, reading.painted.is_empty(), "functions")?;
        reading.notes.push(note);
    }
    Ok(reading.finish(path))
}

struct Reading<'s> {
    module: &'s Module<'s>,
    files: Files<'s>,
    split: Split,
    functions: Vec<Function>,
    function_ids: HashMap<Function, u32>,
    /// The functions' names in the symbol table.
    symbols: Vec<String>,
    nodes: Vec<Node>,
    node_ids: HashMap<Node, u32>,
    painted: Vec<(u64, u64, usize, u32)>,
    /// Where each called function begins, to find folded ones.
    starts: HashMap<u64, u32>,
    /// Functions whose code the linker dropped.
    dropped: Vec<u32>,
    folded: Vec<(u32, u32)>,
    /// Those of the unit being read, once something asked for them.
    containers: Option<Containers>,
    notes: Vec<String>,
}

/// Entries that other units refer to (`-flto`).
struct Cross<'h, 'a> {
    headers: &'h [gimli::UnitHeader<Reader<'a>>],
    /// Units by their index.
    units: HashMap<usize, Other<'a>>,
    /// Functions by their offset in the section.
    functions: HashMap<usize, Option<u32>>,
}

/// A unit that others refer to.
struct Other<'a> {
    unit: gimli::Unit<Reader<'a>>,
    files: Vec<Option<u32>>,
    containers: Option<Containers>,
}

/// What an entry and those that it refers to say about a function.
#[derive(Default)]
struct Description {
    name: Option<String>,
    linkage: Option<String>,
    /// The index of the file; inner `None` when it is out of scope.
    file: Option<Option<u32>>,
    line: Option<u32>,
    /// The last entry of the chain, when it is in the unit being read.
    declaration: Option<UnitOffset<usize>>,
}

/// An entry, in this unit or anywhere.
#[derive(Clone, Copy)]
enum Reference {
    Here(UnitOffset<usize>),
    Anywhere(usize),
}

impl Reference {
    fn of(value: AttributeValue<Reader<'_>>) -> Option<Reference> {
        match value {
            AttributeValue::UnitRef(offset) => Some(Reference::Here(offset)),
            AttributeValue::DebugInfoRef(offset) => Some(Reference::Anywhere(offset.0)),
            _ => None,
        }
    }
}

impl<'s> Reading<'s> {
    fn new(path: &Path, module: &'s Module<'s>, scope: &'s Scope) -> Reading<'s> {
        Reading {
            module,
            files: Files::new(scope),
            split: Split::new(path),
            functions: Vec::new(),
            function_ids: HashMap::new(),
            symbols: Vec::new(),
            nodes: Vec::new(),
            node_ids: HashMap::new(),
            painted: Vec::new(),
            starts: HashMap::new(),
            dropped: Vec::new(),
            folded: Vec::new(),
            containers: None,
            notes: Vec::new(),
        }
    }

    fn unit<'a>(
        &mut self,
        dwarf: &gimli::Dwarf<Reader<'a>>,
        header: gimli::UnitHeader<Reader<'a>>,
        cross: &mut Cross<'_, 'a>,
    ) -> gimli::Result<()> {
        if !matches!(
            header.type_(),
            gimli::UnitType::Compilation | gimli::UnitType::Skeleton(_)
        ) {
            return Ok(());
        }
        let unit = dwarf.unit(header)?;
        let Some(program) = &unit.line_program else {
            return Ok(());
        };
        let files = self.files.of_unit(dwarf, &unit, program.header());
        if files.iter().all(Option::is_none) {
            return Ok(());
        }
        if unit.dwo_name()?.is_none() {
            return self.entries(dwarf, &unit, &files, Some(cross));
        }
        let mut split = std::mem::replace(&mut self.split, Split::new(Path::new("")));
        let done = split.entries(dwarf, &unit, |dwarf, unit| {
            self.entries(dwarf, unit, &files, None)
        });
        self.split = split;
        done.map(|_| ())
    }

    fn entries<'a>(
        &mut self,
        dwarf: &gimli::Dwarf<Reader<'a>>,
        unit: &gimli::Unit<Reader<'a>>,
        files: &[Option<u32>],
        mut cross: Option<&mut Cross<'_, 'a>>,
    ) -> gimli::Result<()> {
        let mut known: HashMap<UnitOffset<usize>, Option<u32>> = HashMap::new();
        self.containers = None;
        // The activations around the entry being read, with their depths.
        let mut around: Vec<(isize, u32)> = Vec::new();
        let mut entries = unit.entries_raw(None)?;
        while !entries.is_empty() {
            let (offset, depth) = (entries.next_offset(), entries.next_depth());
            let Some(abbreviation) = entries.read_abbreviation()? else {
                continue;
            };
            let inlined = match abbreviation.tag() {
                gimli::DW_TAG_subprogram => false,
                gimli::DW_TAG_inlined_subroutine => true,
                _ => {
                    entries.skip_attributes(abbreviation.attributes())?;
                    continue;
                }
            };
            let mut extent = Extent::default();
            let mut origin = None;
            for &specification in abbreviation.attributes() {
                let attribute = entries.read_attribute(specification)?;
                if attribute.name() == gimli::DW_AT_abstract_origin {
                    origin = Reference::of(attribute.value());
                } else {
                    extent.take(dwarf, unit, &attribute)?;
                }
            }
            while around.last().is_some_and(|it| it.0 >= depth) {
                around.pop();
            }
            if !extent.is_some() {
                continue;
            }
            let parent = match around.last() {
                Some(&(_, node)) if inlined => node,
                _ => NONE,
            };
            let reference = match origin {
                Some(origin) if inlined => origin,
                _ => Reference::Here(offset),
            };
            let seen = match (reference, &cross) {
                (Reference::Here(offset), _) => known.get(&offset),
                (Reference::Anywhere(offset), Some(cross)) => cross.functions.get(&offset),
                (Reference::Anywhere(_), None) => None,
            };
            let function = match seen {
                Some(&function) => function,
                None => {
                    let mut description = Description::default();
                    let cross = cross.as_deref_mut();
                    self.describe(dwarf, unit, files, reference, cross, &mut description)?;
                    if description.linkage.is_none() {
                        self.qualify(dwarf, unit, files, &mut description)?;
                    }
                    self.function(&description)
                }
            };
            match (reference, &mut cross) {
                (Reference::Here(offset), _) => {
                    known.insert(offset, function);
                }
                (Reference::Anywhere(offset), Some(cross)) => {
                    cross.functions.insert(offset, function);
                }
                (Reference::Anywhere(_), None) => {}
            }
            let Some(function) = function else {
                // Out of scope: its code belongs to what it is inlined into.
                around.push((depth, parent));
                continue;
            };
            let node = self.node(Node { function, parent });
            around.push((depth, node));
            self.paint(dwarf, unit, &extent, node, inlined)?;
        }
        Ok(())
    }

    /// Follows an entry to its origin and its declaration; what the nearer one says counts.
    fn describe<'a>(
        &mut self,
        dwarf: &gimli::Dwarf<Reader<'a>>,
        unit: &gimli::Unit<Reader<'a>>,
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
                    return self.describe_elsewhere(dwarf, offset, cross, out);
                }
            };
            let entry = unit.entry(offset)?;
            out.declaration = Some(offset);
            let mut next = None;
            for attribute in entry.attrs() {
                let text = || {
                    let text = dwarf.attr_string(unit, attribute.value()).ok()?;
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
        let mut done = self.describe(dwarf, &other.unit, &other.files, here, Some(cross), out);
        if done.is_ok() && out.linkage.is_none() {
            done = self.qualify(dwarf, &other.unit, &other.files, out);
        }
        std::mem::swap(&mut self.containers, &mut other.containers);
        out.declaration = None;
        cross.units.insert(index, other);
        done
    }

    /// Gives a function without a linkage name the names around it, and a closure the place of its class.
    fn qualify<'a>(
        &mut self,
        dwarf: &gimli::Dwarf<Reader<'a>>,
        unit: &gimli::Unit<Reader<'a>>,
        files: &[Option<u32>],
        description: &mut Description,
    ) -> gimli::Result<()> {
        let (Some(declaration), Some(name)) = (description.declaration, &mut description.name)
        else {
            return Ok(());
        };
        let containers = match &self.containers {
            Some(known) => known,
            None => self.containers.insert(Containers::read(dwarf, unit)?),
        };
        let place = containers.place(declaration);
        match place.closure {
            Some((file, line)) if description.line.is_none() => {
                let index = usize::try_from(file).unwrap_or(usize::MAX);
                description.file = Some(files.get(index).copied().flatten());
                description.line = u32::try_from(line).ok();
                *name = format!("{}::{{lambda}}", place.prefix);
            }
            _ if !place.prefix.is_empty() => *name = format!("{}::{name}", place.prefix),
            _ => {}
        }
        Ok(())
    }

    fn function(&mut self, description: &Description) -> Option<u32> {
        let (file, line) = (description.file??, description.line?);
        let name = names::readable(description.linkage.as_deref(), description.name.as_deref())?;
        let function = Function {
            name,
            location: Location {
                file: self.files.names[file as usize].clone(),
                line,
            },
        };
        if let Some(&known) = self.function_ids.get(&function) {
            return Some(known);
        }
        let id = u32::try_from(self.functions.len()).ok()?;
        self.functions.push(function.clone());
        let symbol = description.linkage.as_ref().or(description.name.as_ref());
        self.symbols.push(symbol.cloned().unwrap_or_default());
        self.function_ids.insert(function, id);
        Some(id)
    }

    fn node(&mut self, node: Node) -> u32 {
        let next = self.nodes.len() as u32;
        *self.node_ids.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            next
        })
    }

    fn paint<'a>(
        &mut self,
        dwarf: &gimli::Dwarf<Reader<'a>>,
        unit: &gimli::Unit<Reader<'a>>,
        extent: &Extent<'a>,
        node: u32,
        inlined: bool,
    ) -> gimli::Result<()> {
        let order = self.painted.len();
        let function = self.nodes[node as usize].function;
        let mut first = None;
        extent.pieces(dwarf, unit, |start, end| {
            if self.module.code.end_of(start).is_some() {
                first.get_or_insert(start);
                self.painted.push((start, end, order, node));
            }
        })?;
        match first {
            Some(start) if !inlined => {
                let kept = *self.starts.entry(start).or_insert(function);
                if kept != function {
                    self.folded.push((kept, function));
                }
            }
            None if !inlined => self.dropped.push(function),
            _ => {}
        }
        Ok(())
    }

    /// Functions whose code is gone although their symbols have an address: that of the function they were folded into.
    fn find_folded(&mut self) {
        if self.dropped.is_empty() {
            return;
        }
        let addresses = (self.module.symbols)();
        for &gone in &self.dropped {
            let address = addresses.get(&self.symbols[gone as usize]);
            if let Some(&kept) = address.and_then(|at| self.starts.get(at))
                && kept != gone
            {
                self.folded.push((kept, gone));
            }
        }
    }

    fn finish(mut self, path: &Path) -> FunctionTable {
        let mut notes = std::mem::take(&mut self.notes);
        if self.split.missing > 0 {
            notes.push(format!(
                "{} .dwo files of {} are missing, so their functions are not known; \
                 keep them beside the objects or compile without -gsplit-dwarf",
                self.split.missing,
                path.display()
            ));
        }
        let ranges = flatten(std::mem::take(&mut self.painted))
            .into_iter()
            .map(|(start, end, node)| FunctionRange { start, end, node })
            .collect();
        self.find_folded();
        let name = |id: u32| self.functions[id as usize].name.clone();
        let mut folded: Vec<_> = self
            .folded
            .iter()
            .map(|&(a, b)| (name(a), name(b)))
            .collect();
        folded.sort_unstable();
        folded.dedup();
        if let Some((kept, gone)) = folded.first() {
            notes.push(format!(
                "{} functions of {} share their code with others, because the linker or the compiler found it \
                 identical ({gone} with {kept}); each is counted for one of them",
                folded.len(),
                path.display()
            ));
        }
        FunctionTable {
            functions: self.functions,
            nodes: self.nodes,
            ranges,
            folded,
            notes,
        }
    }
}
