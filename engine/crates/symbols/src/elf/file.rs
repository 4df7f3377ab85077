//! Opens a module and its debug information, which is in the file itself or in a separate debug file.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

pub(crate) use fulcrum_names::file::{
    Cache, Code, has_line_table, open, parse, separate, unreadable,
};
use object::{Object, ObjectSection as _, ObjectSymbol as _, SymbolKind};

use crate::SymbolsError;

/// A module's code, and its debug information from either file.
pub(crate) struct Module<'a> {
    pub(crate) code: Code,
    pub(crate) dwarf: Dwarf<'a>,
    /// The names and addresses of the functions in its symbol table.
    pub(crate) symbols: &'a dyn Fn() -> HashMap<String, u64>,
}

fn symbols<'a>(module: &impl Object<'a>) -> HashMap<String, u64> {
    module
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition())
        .filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), symbol.address())))
        .collect()
}

/// Opens a module and, if needed, its separate debug file, and passes both to `read`.
pub(crate) fn with_debug_info<T>(
    path: &Path,
    read: impl FnOnce(&Module<'_>) -> Result<T, SymbolsError>,
) -> Result<T, SymbolsError> {
    let cache = open(path)?;
    let module = parse(path, &cache)?;
    let code = Code::of(&module);
    if has_line_table(&module) {
        let dwarf = Dwarf::load(path, &module)?;
        let symbols = || symbols(&module);
        return read(&Module {
            code,
            dwarf,
            symbols: &symbols,
        });
    }
    let Some(found) = separate(path, &module) else {
        return Err(SymbolsError::NoDebugInfo(format!(
            "{} has no debug information: compile with -g",
            path.display()
        )));
    };
    let cache = open(&found)?;
    let debug = parse(&found, &cache)?;
    let dwarf = Dwarf::load(&found, &debug)?;
    let symbols = || symbols(&debug);
    read(&Module {
        code,
        dwarf,
        symbols: &symbols,
    })
}

/// A section's bytes, uncompressed.
pub(crate) fn contents<'a>(
    path: &Path,
    section: &object::Section<'a, '_, Cache<'a>>,
) -> Result<Cow<'a, [u8]>, SymbolsError> {
    section.uncompressed_data().map_err(|error| {
        SymbolsError::Damaged(format!(
            "cannot read section {} of {}: {error}; build it again",
            section.name().unwrap_or("(without a name)"),
            path.display()
        ))
    })
}

pub(crate) type Reader<'a> = gimli::EndianSlice<'a, gimli::NativeEndian>;

/// The DWARF sections of one file, uncompressed.
pub(crate) struct Dwarf<'a>(gimli::DwarfSections<Cow<'a, [u8]>>);

impl<'a> Dwarf<'a> {
    pub(crate) fn load(
        path: &Path,
        module: &object::File<'a, Cache<'a>>,
    ) -> Result<Dwarf<'a>, SymbolsError> {
        Dwarf::load_named(path, module, |id| Some(id.name()))
    }

    /// The sections of a `.dwo` file (`-gsplit-dwarf`).
    pub(crate) fn load_split(
        path: &Path,
        module: &object::File<'a, Cache<'a>>,
    ) -> Result<Dwarf<'a>, SymbolsError> {
        Dwarf::load_named(path, module, |id| id.dwo_name())
    }

    fn load_named(
        path: &Path,
        module: &object::File<'a, Cache<'a>>,
        name: impl Fn(gimli::SectionId) -> Option<&'static str>,
    ) -> Result<Dwarf<'a>, SymbolsError> {
        gimli::DwarfSections::load(|id| {
            let Some(section) = name(id).and_then(|name| module.section_by_name(name)) else {
                return Ok(Cow::Borrowed(&[][..]));
            };
            contents(path, &section)
        })
        .map(Dwarf)
    }

    /// The sections with another reader.
    pub(crate) fn map<'s, R>(&'s self, mut to: impl FnMut(&'s [u8]) -> R) -> gimli::Dwarf<R> {
        self.0.borrow(|section| to(section))
    }

    pub(crate) fn reader(&self) -> gimli::Dwarf<Reader<'_>> {
        self.0
            .borrow(|section| gimli::EndianSlice::new(section, gimli::NativeEndian))
    }
}
