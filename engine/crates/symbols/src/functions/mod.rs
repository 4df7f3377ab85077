//! Functions: finds those in scope, and the code of their activations, including inlined ones.

mod describe;
pub(crate) mod inlined;
pub(crate) mod table;

use std::collections::HashMap;
use std::path::Path;

use fulcrum_model::text::counted;
use gimli::{UnitOffset, UnitRef};

use crate::dwarf::flatten::flatten;
use crate::dwarf::units::{Extent, Split};
use crate::elf::file::{Module, Reader};
use crate::error::{damage_note, damaged};
use crate::functions::table::{Function, FunctionRange, FunctionTable, Node};
use crate::{Location, Scope, SymbolsError};
use describe::{Cross, DeclaringFile, Describing, Description, Reference, Unit};

const NONE: u32 = u32::MAX;

/// How an activation of a function begins.
#[derive(Clone, Copy)]
enum Activation {
    Called,
    Inlined,
}

/// The activations around the current entry, with their depths.
struct Around(Vec<(isize, u32)>);

impl Around {
    /// Leaves all activations that do not contain an entry at this depth.
    fn leave(&mut self, depth: isize) {
        while self.0.last().is_some_and(|it| it.0 >= depth) {
            self.0.pop();
        }
    }

    fn innermost(&self) -> u32 {
        self.0.last().map_or(NONE, |&(_, node)| node)
    }
}

/// The functions of a unit by the offset of their entry. `None` for functions out of scope.
type Known = HashMap<UnitOffset<usize>, Option<u32>>;

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
        if reading.painted.is_empty() {
            return Err(SymbolsError::Damaged(damaged(path, &place)));
        }
        reading.notes.push(damage_note(path, &place, "functions"));
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
    /// The start address of each called function, by which folded functions are found.
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
        let whole = Unit {
            entries: UnitRef::new(dwarf, unit),
            files,
        };
        let mut known = Known::new();
        self.describing.containers = None;
        let mut around = Around(Vec::new());
        let mut entries = unit.entries_raw(None)?;
        while !entries.is_empty() {
            let (offset, depth) = (entries.next_offset(), entries.next_depth());
            let Some(abbreviation) = entries.read_abbreviation()? else {
                continue;
            };
            let activation = match abbreviation.tag() {
                gimli::DW_TAG_subprogram => Activation::Called,
                gimli::DW_TAG_inlined_subroutine => Activation::Inlined,
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
            around.leave(depth);
            if !extent.is_some() {
                continue;
            }
            let here = Reference::Here(offset);
            let (parent, reference) = match activation {
                Activation::Called => (NONE, here),
                Activation::Inlined => (around.innermost(), origin.unwrap_or(here)),
            };
            let cross = cross.as_deref_mut();
            let Some(function) = self.function_of(whole, reference, &mut known, cross)? else {
                // Out of scope: its code belongs to what it is inlined into.
                around.0.push((depth, parent));
                continue;
            };
            let node = self.node(Node { function, parent });
            around.0.push((depth, node));
            self.paint(whole.entries, &extent, node, activation)?;
        }
        Ok(())
    }

    /// The function that an entry stands for. `None` if it is out of scope.
    fn function_of<'a>(
        &mut self,
        unit: Unit<'_, 'a>,
        reference: Reference,
        known: &mut Known,
        mut cross: Option<&mut Cross<'_, 'a>>,
    ) -> gimli::Result<Option<u32>> {
        let seen = match (reference, &cross) {
            (Reference::Here(offset), _) => known.get(&offset),
            (Reference::Anywhere(offset), Some(cross)) => cross.functions.get(&offset),
            (Reference::Anywhere(_), None) => None,
        };
        if let Some(&function) = seen {
            return Ok(function);
        }
        let mut description = Description::default();
        self.describing
            .describe(unit, reference, cross.as_deref_mut(), &mut description)?;
        if description.linkage.is_none() {
            self.describing.qualify(unit, &mut description)?;
        }
        let function = self.function(&description);
        match (reference, cross) {
            (Reference::Here(offset), _) => {
                known.insert(offset, function);
            }
            (Reference::Anywhere(offset), Some(cross)) => {
                cross.functions.insert(offset, function);
            }
            (Reference::Anywhere(_), None) => {}
        }
        Ok(function)
    }

    fn function(&mut self, description: &Description) -> Option<u32> {
        let DeclaringFile::InScope(file) = description.file else {
            return None;
        };
        let line = description.line?;
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
        unit: UnitRef<'_, Reader<'a>>,
        extent: &Extent<'a>,
        node: u32,
        activation: Activation,
    ) -> gimli::Result<()> {
        let order = self.painted.len();
        let function = self.nodes[node as usize].function;
        let mut first = None;
        extent.pieces(unit.dwarf, unit.unit, |start, end| {
            if self.module.code.end_of(start).is_some() {
                first.get_or_insert(start);
                self.painted.push((start, end, order, node));
            }
        })?;
        match (activation, first) {
            (Activation::Inlined, _) => {}
            (Activation::Called, Some(start)) => {
                let kept = *self.starts.entry(start).or_insert(function);
                if kept != function {
                    self.folded.push((kept, function));
                }
            }
            (Activation::Called, None) => self.dropped.push(function),
        }
        Ok(())
    }

    /// Finds folded functions: their code is gone, but their symbols have the address of the function into which they were folded.
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
                ".dwo files of {} are missing ({}), so their functions are not known; \
                 keep them beside the objects or compile without -gsplit-dwarf",
                path.display(),
                self.split.missing
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
                "in {}, {} code with others, because the linker or the compiler found it \
                 identical ({gone} with {kept}); each is counted for one of them",
                path.display(),
                counted(
                    folded.len() as u64,
                    "function shares its",
                    "functions share their"
                )
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
