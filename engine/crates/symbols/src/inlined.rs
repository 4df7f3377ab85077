//! Which functions were inlined at an address: from debug information, for profiles that know only places.

use std::fmt;
use std::path::Path;
use std::rc::Rc;

use gimli::{EndianRcSlice, NativeEndian};
use object::{Object, ObjectSection as _};

use crate::file::{self, Cache, Dwarf};

/// Bytes of debug information, uncompressed, that are read for this. More is left unread.
const LIMIT: u64 = 1 << 30;

/// The inlined functions of one executable or library.
pub struct Inlined(addr2line::Context<EndianRcSlice<NativeEndian>>);

impl fmt::Debug for Inlined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Inlined")
    }
}

impl Inlined {
    /// Reads the debug information of a file, or that was split off it. `None` without any, or with more than 1 GiB.
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
        addr2line::Context::from_dwarf(owned).ok().map(Inlined)
    }

    /// The functions that were inlined at an address as the linker assigned it, outermost first, by their linkage names
    /// where they have one. The function that they were inlined into is not among them.
    pub fn at(&self, address: u64) -> Vec<String> {
        let inlined = self.frames(address).into_iter().skip(1);
        inlined.filter_map(|frame| frame.name).collect()
    }

    /// The function at an address as the linker assigned it and what was inlined into it, outermost first, each with the
    /// line that ran. Empty where nothing is known.
    pub fn frames(&self, address: u64) -> Vec<CodeFrame> {
        let Ok(mut frames) = self.0.find_frames(address).skip_all_loads() else {
            return Vec::new();
        };
        let mut found = Vec::new();
        // Damaged debug information ends the list.
        while let Ok(Some(frame)) = frames.next() {
            let name = frame.function.as_ref().and_then(|it| it.raw_name().ok());
            let place = frame.location.as_ref();
            found.push(CodeFrame {
                name: name.map(|it| it.into_owned()).filter(|it| !it.is_empty()),
                file: place.and_then(|it| it.file).unwrap_or("").to_owned(),
                line: place.and_then(|it| it.line).unwrap_or(0),
            });
        }
        found.reverse();
        found
    }
}

/// A function at an address and the line that ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeFrame {
    /// Its linkage name.
    pub name: Option<String>,
    /// As the compiler was given it, under its folder; empty when it is not known.
    pub file: String,
    /// From 1; 0 when it is not known.
    pub line: u32,
}
