//! Opening a module and finding its debug information: in the file, by build id, or by debug link.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use object::{
    Object, ObjectSection as _, ObjectSymbol as _, ReadCache, ReadRef, SectionFlags, SymbolKind,
    elf,
};

use crate::SymbolsError;

/// Where distributions install debug information that was split off.
const DEBUG_ROOT: &str = "/usr/lib/debug";

/// A module's code and its debug information, wherever that was found.
pub(crate) struct Module<'a> {
    pub(crate) code: Code,
    pub(crate) dwarf: Dwarf<'a>,
    /// Names and addresses of the functions in its symbol table.
    pub(crate) symbols: &'a dyn Fn() -> HashMap<String, u64>,
}

fn symbols<'a>(module: &impl Object<'a>) -> HashMap<String, u64> {
    module
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition())
        .filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), symbol.address())))
        .collect()
}

/// Opens the module and, when needed, its separate debug file, and hands both to `read`.
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

/// Reads a file piece by piece and keeps the pieces.
pub(crate) type Cache<'a> = &'a ReadCache<File>;

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

pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> SymbolsError {
    SymbolsError::Unreadable(format!("cannot read {}: {error}", path.display()))
}

pub(crate) fn open(path: &Path) -> Result<ReadCache<File>, SymbolsError> {
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let metadata = file.metadata().map_err(|error| unreadable(path, &error))?;
    if !metadata.is_file() {
        return Err(SymbolsError::NotElf(format!(
            "cannot read debug information from {}: it is not a regular file; give an executable",
            path.display()
        )));
    }
    Ok(ReadCache::new(file))
}

pub(crate) fn parse<'a>(
    path: &Path,
    cache: &'a ReadCache<File>,
) -> Result<object::File<'a, &'a ReadCache<File>>, SymbolsError> {
    let mut magic = [0; 4];
    if let Ok(bytes) = cache.read_bytes_at(0, 4) {
        magic.copy_from_slice(bytes);
    }
    if magic != elf::ELFMAG {
        return Err(SymbolsError::NotElf(format!(
            "cannot read debug information from {}: it is not an ELF file; give an executable",
            path.display()
        )));
    }
    let module = object::File::parse(cache).map_err(|error| {
        SymbolsError::Damaged(format!(
            "cannot read the ELF headers of {}: {error}; build it again",
            path.display()
        ))
    })?;
    if module.is_little_endian() != cfg!(target_endian = "little") {
        return Err(SymbolsError::NotElf(format!(
            "cannot read debug information from {}: it is built for another machine; build it for this one",
            path.display()
        )));
    }
    Ok(module)
}

pub(crate) fn has_line_table<'a>(module: &impl Object<'a>) -> bool {
    module
        .section_by_name(".debug_line")
        .is_some_and(|section| section.size() > 0)
        && module
            .section_by_name(".debug_info")
            .is_some_and(|section| section.size() > 0)
}

/// The separate debug file that belongs to this module, if one is installed: build id first, then debug link.
pub(crate) fn separate<'a>(path: &Path, module: &impl Object<'a>) -> Option<PathBuf> {
    let by_id = module
        .build_id()
        .ok()
        .flatten()
        .filter(|id| id.len() > 2)
        .map(|id| {
            let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
            PathBuf::from(format!(
                "{DEBUG_ROOT}/.build-id/{}/{}.debug",
                &hex[..2],
                &hex[2..]
            ))
        });
    let mut candidates: Vec<PathBuf> = by_id.into_iter().collect();
    // As it comes from `objcopy --only-keep-debug`, without a link to it; only the build id tells whose it is.
    if module.build_id().ok().flatten().is_some() {
        let mut beside = path.as_os_str().to_owned();
        beside.push(".debug");
        candidates.push(beside.into());
    }
    if let Ok(Some((name, _checksum))) = module.gnu_debuglink() {
        let name = String::from_utf8_lossy(name).into_owned();
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if let Some(folder) = path.parent() {
            candidates.push(folder.join(&name));
            candidates.push(folder.join(".debug").join(&name));
            let below = folder.strip_prefix("/").unwrap_or(folder);
            candidates.push(Path::new(DEBUG_ROOT).join(below).join(&name));
        }
    }
    let own_id = module.build_id().ok().flatten();
    candidates.into_iter().find(|candidate| {
        let Ok(cache) = open(candidate) else {
            return false;
        };
        let Ok(debug) = parse(candidate, &cache) else {
            return false;
        };
        // A debug file of another build would give wrong lines.
        has_line_table(&debug) && debug.build_id().ok().flatten() == own_id
    })
}

/// The address ranges that hold code, sorted. Ranges of code that the linker dropped lie outside.
pub(crate) struct Code(Vec<(u64, u64)>);

impl Code {
    pub(crate) fn of<'a>(module: &impl Object<'a>) -> Code {
        let mut ranges: Vec<(u64, u64)> = module
            .sections()
            .filter(|section| match section.flags() {
                SectionFlags::Elf { sh_flags } => sh_flags & u64::from(elf::SHF_EXECINSTR) != 0,
                _ => false,
            })
            .filter(|section| section.address() != 0 && section.size() != 0)
            .map(|section| {
                (
                    section.address(),
                    section.address().saturating_add(section.size()),
                )
            })
            .collect();
        ranges.sort_unstable();
        Code(ranges)
    }

    /// The end of the code section that holds this address.
    pub(crate) fn end_of(&self, address: u64) -> Option<u64> {
        let after = self.0.partition_point(|&(start, _)| start <= address);
        let &(_, end) = self.0[..after].last()?;
        (address < end).then_some(end)
    }
}

pub(crate) type Reader<'a> = gimli::EndianSlice<'a, gimli::NativeEndian>;

/// The DWARF sections of one file, uncompressed.
pub(crate) struct Dwarf<'a>(gimli::DwarfSections<Cow<'a, [u8]>>);

impl<'a> Dwarf<'a> {
    pub(crate) fn load(
        path: &Path,
        module: &object::File<'a, &'a ReadCache<File>>,
    ) -> Result<Dwarf<'a>, SymbolsError> {
        Dwarf::load_named(path, module, |id| Some(id.name()))
    }

    /// The sections of a `.dwo` file (`-gsplit-dwarf`).
    pub(crate) fn load_split(
        path: &Path,
        module: &object::File<'a, &'a ReadCache<File>>,
    ) -> Result<Dwarf<'a>, SymbolsError> {
        Dwarf::load_named(path, module, |id| id.dwo_name())
    }

    fn load_named(
        path: &Path,
        module: &object::File<'a, &'a ReadCache<File>>,
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

    /// The sections as another kind of reader.
    pub(crate) fn map<'s, R>(&'s self, mut to: impl FnMut(&'s [u8]) -> R) -> gimli::Dwarf<R> {
        self.0.borrow(|section| to(section))
    }

    pub(crate) fn reader(&self) -> gimli::Dwarf<Reader<'_>> {
        self.0
            .borrow(|section| gimli::EndianSlice::new(section, gimli::NativeEndian))
    }
}
