//! Finds the functions that were inlined at an address, for profiles that only have addresses.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::rc::Rc;

use gimli::{AttributeValue, EndianRcSlice, NativeEndian, UnitOffset, UnitRef};
use object::{Object, ObjectSection as _};

use crate::dwarf::containers::Containers;
use crate::elf::file::{self, Cache, Dwarf};

type Reader = EndianRcSlice<NativeEndian>;

/// The greatest size of debug information that is read, uncompressed.
const LIMIT: u64 = 1 << 30;

/// The inlined functions of one executable or library.
pub struct Inlined {
    context: addr2line::Context<Reader>,
    /// The containers of each unit that was needed, by its offset. `None` for damaged units.
    containers: RefCell<HashMap<Option<usize>, Option<Containers>>>,
}

impl fmt::Debug for Inlined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Inlined")
    }
}

impl Inlined {
    /// Reads the debug information of a file, or its separate debug file. `None` without any, or with more than 1 GiB.
    pub fn open(path: &Path) -> Option<Inlined> {
        let cache = file::open(path).ok()?;
        let module = file::parse(path, &cache).ok()?;
        if file::has_line_table(&module) {
            return Inlined::of(path, &module);
        }
        let debug = file::separate(path, &module)?;
        let cache = file::open(&debug).ok()?;
        let module = file::parse(&debug, &cache).ok()?;
        Inlined::of(&debug, &module)
    }

    fn of<'a>(path: &Path, module: &object::File<'a, Cache<'a>>) -> Option<Inlined> {
        let debug = module.sections().filter(|section| {
            let name = section.name().unwrap_or("");
            name.starts_with(".debug_") || name.starts_with(".zdebug_")
        });
        let sizes = debug.map(|section| match section.compressed_file_range() {
            Ok(range) => range.uncompressed_size,
            Err(_) => section.size(),
        });
        if sizes.fold(0, u64::saturating_add) > LIMIT {
            return None;
        }
        let dwarf = Dwarf::load(path, module).ok()?;
        let owned = dwarf.map(|section| EndianRcSlice::new(Rc::from(section), NativeEndian));
        let context = addr2line::Context::from_dwarf(owned).ok()?;
        Some(Inlined {
            context,
            containers: RefCell::default(),
        })
    }

    /// The functions that were inlined at an address as the linker assigned it, outermost first. They are named by their linkage
    /// names, or else by their qualified names, such as `shop::Queue::push`. Does not contain the function into which they were
    /// inlined.
    pub fn at(&self, address: u64) -> Vec<String> {
        let inlined = self.frames(address).into_iter().skip(1);
        inlined.filter_map(|frame| frame.name).collect()
    }

    /// The function at an address as the linker assigned it, and the functions that were inlined into it, outermost first, each
    /// with the line that ran. Empty if nothing is known.
    pub fn frames(&self, address: u64) -> Vec<CodeFrame> {
        let Ok(mut frames) = self.context.find_frames(address).skip_all_loads() else {
            return Vec::new();
        };
        let mut found = Vec::new();
        // Damaged debug information ends the list.
        while let Ok(Some(frame)) = frames.next() {
            let name = frame.function.as_ref().and_then(|it| it.raw_name().ok());
            let name = name.filter(|it| !it.is_empty()).map(|name| {
                let die = frame.dw_die_offset;
                let qualified = die.and_then(|die| self.qualified(address, die, &name));
                qualified.unwrap_or_else(|| name.into_owned())
            });
            let place = frame.location.as_ref();
            found.push(CodeFrame {
                name,
                file: place.and_then(|it| it.file).unwrap_or("").to_owned(),
                line: place.and_then(|it| it.line).unwrap_or(0),
            });
        }
        found.reverse();
        found
    }

    /// The name of a C++ function without a linkage name, qualified by namespaces and classes. `None` for all other functions.
    fn qualified(&self, address: u64, die: UnitOffset<usize>, name: &str) -> Option<String> {
        if name.starts_with("_Z") {
            return None;
        }
        let unit = self.context.find_dwarf_and_unit(address);
        let unit = unit.skip_all_loads()?;
        let language = unit.entry(UnitOffset(unit.header.size_of_header()));
        let language = language.ok()?.attr_value(gimli::DW_AT_language)?;
        if !matches!(language, AttributeValue::Language(it) if is_cpp(it)) {
            return None;
        }
        let (declaration, has_line) = declaration(unit, die)?;
        let begins = unit.header.debug_info_offset().map(|it| it.0);
        let mut all = self.containers.borrow_mut();
        let containers = all
            .entry(begins)
            .or_insert_with(|| Containers::read(unit.dwarf, unit.unit).ok());
        let place = containers.as_ref()?.place(declaration);
        Some(match has_line {
            true => place.qualified(name),
            false => place.qualified_without_line(name),
        })
    }
}

fn is_cpp(language: gimli::DwLang) -> bool {
    [
        gimli::DW_LANG_C_plus_plus,
        gimli::DW_LANG_C_plus_plus_03,
        gimli::DW_LANG_C_plus_plus_11,
        gimli::DW_LANG_C_plus_plus_14,
        gimli::DW_LANG_C_plus_plus_17,
        gimli::DW_LANG_C_plus_plus_20,
    ]
    .contains(&language)
}

/// Finds a function's declaration: follows the entry of its code to its origin, and from there to the declaration in its class.
/// `None` if it has a linkage name, or is declared in another unit. Also returns whether it has a line of its own.
fn declaration(
    unit: UnitRef<'_, Reader>,
    mut die: UnitOffset<usize>,
) -> Option<(UnitOffset<usize>, bool)> {
    let mut has_line = false;
    // A longer chain is damage.
    for _ in 0..8 {
        let entry = unit.entry(die).ok()?;
        let has = |name| entry.attr_value(name).is_some();
        if has(gimli::DW_AT_linkage_name) || has(gimli::DW_AT_MIPS_linkage_name) {
            return None;
        }
        let next = [gimli::DW_AT_abstract_origin, gimli::DW_AT_specification];
        has_line |= has(gimli::DW_AT_decl_line);
        match next.into_iter().find_map(|it| entry.attr_value(it)) {
            None => return Some((die, has_line)),
            Some(AttributeValue::UnitRef(origin)) => die = origin,
            Some(AttributeValue::DebugInfoRef(origin)) => {
                die = origin.to_unit_offset(&unit.header)?;
            }
            Some(_) => return None,
        }
    }
    None
}

/// A function at an address, and the line that ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeFrame {
    /// Its linkage name, or else its qualified name, as for [`Inlined::at`].
    pub name: Option<String>,
    /// The file as it was given to the compiler, joined to the compilation directory. Empty if unknown.
    pub file: String,
    /// The line, counted from 1. 0 if unknown.
    pub line: u32,
}
