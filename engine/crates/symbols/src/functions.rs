//! Functions in scope and the code of their activations, inlined ones included.

mod describe;

use std::collections::HashMap;
use std::path::Path;

use gimli::{UnitOffset, UnitRef};

use crate::error::note_damage;
use crate::file::{Module, Reader};
use crate::function_table::{Function, FunctionRange, FunctionTable, Node};
use crate::paint::flatten;
use crate::units::{Extent, Split};
use crate::{Location, Scope, SymbolsError};
use describe::{Cross, Describing, Description, Reference};

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
    let mut cross = Cross::new(&headers);
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
    describing: Describing<'s>,
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
    notes: Vec<String>,
}

impl<'s> Reading<'s> {
    fn new(path: &Path, module: &'s Module<'s>, scope: &'s Scope) -> Reading<'s> {
        Reading {
            module,
            describing: Describing::new(scope),
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
        let files = self
            .describing
            .files
            .of_unit(dwarf, &unit, program.header());
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
        self.describing.containers = None;
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
                    let whole = UnitRef::new(dwarf, unit);
                    self.describing
                        .describe(whole, files, reference, cross, &mut description)?;
                    if description.linkage.is_none() {
                        self.describing.qualify(whole, files, &mut description)?;
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

    fn function(&mut self, description: &Description) -> Option<u32> {
        let (file, line) = (description.file??, description.line?);
        let name =
            fulcrum_names::readable(description.linkage.as_deref(), description.name.as_deref())?;
        let function = Function {
            name,
            location: Location {
                file: self.describing.files.names[file as usize].clone(),
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
