//! Finds the arguments and the result of a function while it calls its probes (`-finstrument-functions`, x86-64).
//!
//! A probe has access to the registers that calls preserve, and to the function's frame. For each place in the function's code to which
//! a call returns, the debug information says where arguments are. What the function is about to return follows from the code after
//! the probe ([`result`]).

mod frame;
mod places;
mod result;
mod types;

use std::path::Path;

use fulcrum_names::{SymbolTable, qualified};
use gimli::AttributeValue;
use iced_x86::{Decoder, DecoderOptions, FlowControl};
use object::{Architecture, Object as _, ObjectSection as _};

use crate::SymbolsError;
use crate::elf::file::{self, Cache, Reader};
use crate::unwind::rows::{Base, UnwindRow, UnwindRule, unwind_rows};
pub use frame::Place;
use frame::{Entry, Frame, RBP, RSP, Unit};
pub use types::ValueType;

/// The arguments and the result of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionValues {
    /// The function's start address, as in the file.
    pub start: u64,
    /// The types of its arguments, without `this`. `None` if unknown.
    pub arguments: Vec<Option<ValueType>>,
    /// The type of its result. `None` if it returns nothing, or a type that is unknown.
    pub result: Option<ValueType>,
    /// Where arguments and result are when the calls in its code return, by address.
    pub calls: Vec<CallSite>,
}

/// A place in a function's code to which a call returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// The address, as in the file.
    pub returns_to: u64,
    /// Where each argument is.
    pub arguments: Vec<Option<Place>>,
    /// Where the result is, if only the function's end follows.
    pub result: Option<Place>,
}

/// Whether a function is selected, by its namespace or type (or else the name of its file), its name and its parameters, as the agent
/// for native programs names them.
pub(crate) type Chosen<'c> = dyn Fn(&str, &str, &str) -> bool + 'c;

/// Finds the values of the selected functions of a module, as far as the debug information describes them.
///
/// # Errors
/// When the file cannot be read, is damaged, or has no debug information.
pub fn function_values(
    path: &Path,
    chosen: &Chosen<'_>,
) -> Result<Vec<FunctionValues>, SymbolsError> {
    let cache = file::open(path)?;
    let module = file::parse(path, &cache)?;
    if module.architecture() != Architecture::X86_64 {
        return Ok(Vec::new());
    }
    let rows = unwind_rows(path)?;
    let names = SymbolTable::open(path)?;
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    file::with_debug_info(path, |debug| {
        let dwarf = debug.dwarf.reader();
        let reading = Reading {
            module: &module,
            rows: &rows,
            dwarf: &dwarf,
            names: &names,
            file: &file,
            chosen,
        };
        let mut found = Vec::new();
        reading.read(&mut found).map_err(|error| {
            let place = dwarf.format_error(error);
            SymbolsError::Damaged(format!(
                "the debug information of {} is damaged: {place}; build it again",
                path.display()
            ))
        })?;
        found.sort_by_key(|it: &FunctionValues| it.start);
        found.dedup_by_key(|it| it.start);
        Ok(found)
    })
}

struct Reading<'r, 'a> {
    module: &'r object::File<'a, Cache<'a>>,
    rows: &'r [UnwindRow],
    dwarf: &'r gimli::Dwarf<Reader<'r>>,
    names: &'r SymbolTable,
    /// The file's name.
    file: &'r str,
    chosen: &'r Chosen<'r>,
}

/// The type of a parameter, if known, and its location.
type Parameter<'r> = (Option<ValueType>, Option<AttributeValue<Reader<'r>>>);

impl<'r> Reading<'r, '_> {
    fn read(&self, found: &mut Vec<FunctionValues>) -> gimli::Result<()> {
        let mut units = self.dwarf.units();
        while let Some(header) = units.next()? {
            let unit = self.dwarf.unit(header)?;
            let mut functions = Vec::new();
            let mut entries = unit.entries();
            while let Some(entry) = entries.next_dfs()? {
                if entry.tag() != gimli::DW_TAG_subprogram {
                    continue;
                }
                if let Some(extent) = self.extent(&unit, entry)?
                    && self.is_chosen(extent.0)
                {
                    functions.push((entry.offset(), extent));
                }
            }
            for (offset, extent) in functions {
                found.extend(self.function(&unit, offset, extent)?);
            }
        }
        Ok(())
    }

    fn is_chosen(&self, start: u64) -> bool {
        let Some(symbol) = self.names.at(start) else {
            return false;
        };
        let found = qualified(symbol);
        let class = match found.scope.is_empty() {
            true => self.file,
            false => &found.scope,
        };
        (self.chosen)(class, &found.name, &found.parameters)
    }

    /// The addresses of a function's code, or of its first piece.
    fn extent(&self, unit: &Unit<'r>, entry: &Entry<'r>) -> gimli::Result<Option<(u64, u64)>> {
        let start = match entry.attr_value(gimli::DW_AT_low_pc) {
            Some(AttributeValue::Addr(start)) => start,
            Some(AttributeValue::DebugAddrIndex(index)) => self.dwarf.address(unit, index)?,
            // The first piece is the one that is called.
            _ => {
                let mut ranges = self.dwarf.die_ranges(unit, entry)?;
                return Ok(ranges.next()?.map(|it| (it.begin, it.end)));
            }
        };
        Ok(match entry.attr_value(gimli::DW_AT_high_pc) {
            Some(AttributeValue::Addr(end)) => Some((start, end)),
            Some(value) => value
                .udata_value()
                .and_then(|size| Some((start, start.checked_add(size)?))),
            None => None,
        })
    }

    fn function(
        &self,
        unit: &Unit<'r>,
        offset: gimli::UnitOffset,
        (start, end): (u64, u64),
    ) -> gimli::Result<Option<FunctionValues>> {
        let Some(code) = self.code(start, end) else {
            return Ok(None);
        };
        let entry = unit.entry(offset)?;
        let frame_base = entry.attr_value(gimli::DW_AT_frame_base);
        let by_cfa = matches!(&frame_base, Some(AttributeValue::Exprloc(it)) if is_cfa(it, unit));
        let base = match frame_base {
            Some(AttributeValue::Exprloc(it)) => places::register(it, unit)?,
            _ => None,
        };
        let result_type = types::attribute(unit, &entry, gimli::DW_AT_type)?;
        let result = match result_type {
            Some(of) => types::of(self.dwarf, unit, of)?,
            None => None,
        };
        let parameters = self.parameters(unit, offset)?;
        let mut calls = Vec::new();
        for returns_to in call_sites(&code, start) {
            let frame = Frame {
                cfa: self.cfa(returns_to),
                base,
                by_cfa,
            };
            let mut arguments = Vec::new();
            for (_, location) in &parameters {
                arguments.push(places::at(self.dwarf, unit, *location, returns_to, &frame)?);
            }
            calls.push(CallSite {
                returns_to,
                arguments,
                result: result
                    .as_ref()
                    .and_then(|of| result::place(&code, start, returns_to, of.return_slot())),
            });
        }
        Ok(Some(FunctionValues {
            start,
            arguments: parameters.into_iter().map(|(of, _)| of).collect(),
            result,
            calls,
        }))
    }

    /// A function's parameters, without `this`: their types and locations.
    fn parameters(
        &self,
        unit: &Unit<'r>,
        offset: gimli::UnitOffset,
    ) -> gimli::Result<Vec<Parameter<'r>>> {
        let mut parameters = Vec::new();
        let mut tree = unit.entries_tree(Some(offset))?;
        let mut children = tree.root()?.children();
        while let Some(child) = children.next()? {
            let child = child.entry();
            let artificial = types::attribute(unit, child, gimli::DW_AT_artificial)?.is_some();
            if child.tag() == gimli::DW_TAG_formal_parameter && !artificial {
                let of = types::attribute(unit, child, gimli::DW_AT_type)?;
                let of = of.map(|of| types::of(self.dwarf, unit, of)).transpose()?;
                parameters.push((of.flatten(), child.attr_value(gimli::DW_AT_location)));
            }
        }
        Ok(parameters)
    }

    /// A function's machine code.
    fn code(&self, start: u64, end: u64) -> Option<Vec<u8>> {
        let holds = |it: &object::Section<'_, '_, Cache<'_>>| {
            it.address() <= start && end <= it.address().saturating_add(it.size())
        };
        let section = self.module.sections().find(holds)?;
        let data = section.data_range(start, end.checked_sub(start)?).ok()??;
        Some(data.to_vec())
    }

    /// The canonical frame address at an address, as a register plus an offset.
    fn cfa(&self, at: u64) -> Option<(u16, i64)> {
        let before = self.rows.partition_point(|row| row.start <= at);
        match self.rows.get(before.checked_sub(1)?)?.rule {
            UnwindRule::Cfa { base, offset } => {
                let register = match base {
                    Base::Rsp => RSP,
                    Base::Rbp => RBP,
                };
                Some((register, i64::from(offset)))
            }
            UnwindRule::End | UnwindRule::Plt => None,
        }
    }
}

fn is_cfa(expression: &gimli::Expression<Reader<'_>>, unit: &Unit<'_>) -> bool {
    let mut operations = expression.operations(unit.encoding());
    matches!(operations.next(), Ok(Some(gimli::Operation::CallFrameCFA)))
}

/// The addresses to which calls in this code return.
fn call_sites(code: &[u8], start: u64) -> Vec<u64> {
    let decoder = Decoder::with_ip(64, code, start, DecoderOptions::NONE);
    let calls = decoder.into_iter().filter(|it| {
        matches!(
            it.flow_control(),
            FlowControl::Call | FlowControl::IndirectCall
        )
    });
    calls.map(|it| it.next_ip()).collect()
}
