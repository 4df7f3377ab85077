//! Names of functions by their place in a file, from symbol tables alone: for profiles that know only places.
//!
//! No debug information is read: what was inlined, `fulcrum-symbols` knows.

use std::collections::HashMap;
use std::path::Path;

use object::{
    Object, ObjectSection as _, ObjectSegment as _, ObjectSymbol, ObjectSymbolTable as _,
    RelocationTarget, SegmentFlags, SymbolIndex, SymbolKind, elf,
};

use crate::file::{self, Cache, FileError, unreadable};

/// How many functions may begin inside of another one before it is no longer found behind them.
const NESTED: usize = 16;

/// The functions of one executable or library, or of the running kernel.
#[derive(Debug, Default)]
pub struct SymbolTable {
    build_id: Option<Vec<u8>>,
    /// The lowest address that the linker assigned.
    base: u64,
    segments: Vec<Segment>,
    /// Sorted by start, one at each.
    functions: Vec<Named>,
}

#[derive(Debug)]
struct Segment {
    offset: u64,
    size: u64,
    address: u64,
}

#[derive(Debug)]
struct Named {
    start: u64,
    /// Equal to `start` until the next one's is known.
    end: u64,
    rank: Rank,
    name: String,
}

/// Which of several names at one address is shown, the largest: with a size, not weak, not local, with few underscores
/// in front, and then a long one, but of the kernel's a short one.
type Rank = (bool, bool, bool, isize, isize);

fn rank(sized: bool, weak: bool, local: bool, name: &str) -> Rank {
    let underscores = name.len() - name.trim_start_matches('_').len();
    (
        sized,
        !weak,
        !local,
        -isize::try_from(underscores).unwrap_or(isize::MAX),
        isize::try_from(name.len()).unwrap_or(isize::MAX),
    )
}

impl SymbolTable {
    /// Reads the symbols of a file, or those that were split off it.
    ///
    /// # Errors
    /// When it cannot be read or is no ELF file of this machine's kind. A file without symbols is none.
    pub fn open(path: &Path) -> Result<SymbolTable, FileError> {
        // Opening a pipe would wait for whoever writes into it.
        let metadata = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
        if !metadata.is_file() {
            return Err(FileError::NotElf(format!(
                "cannot read symbols from {}: it is not a regular file; give an executable",
                path.display()
            )));
        }
        let cache = file::open(path)?;
        let module = file::parse(path, &cache)?;
        let mut table = SymbolTable {
            build_id: module.build_id().ok().flatten().map(<[u8]>::to_vec),
            base: base(&module),
            segments: segments(&module),
            functions: Vec::new(),
        };
        if let Some(debug) = file::separate(path, &module) {
            let cache = file::open(&debug)?;
            let debug = file::parse(&debug, &cache)?;
            table.add(&module, debug.symbols());
        }
        for symbols in [module.symbols(), module.dynamic_symbols()] {
            if table.functions.is_empty() {
                table.add(&module, symbols);
            }
        }
        table.stubs(&module);
        table.finish();
        Ok(table)
    }

    /// The running kernel's functions by their distance from `_text`, which moves from boot to boot; modules are left
    /// out. From the text of `/proc/kallsyms`. `None` where the kernel hides its addresses.
    pub fn kernel(kallsyms: &str, build_id: Option<Vec<u8>>) -> Option<SymbolTable> {
        let mut functions = Vec::new();
        let mut base = 0;
        for line in kallsyms.lines() {
            let mut words = line.split_ascii_whitespace();
            let (Some(address), Some(kind), Some(name), None) =
                (words.next(), words.next(), words.next(), words.next())
            else {
                continue;
            };
            let Ok(start) = u64::from_str_radix(address, 16) else {
                continue;
            };
            if name == "_text" {
                base = start;
            }
            if !matches!(kind, "T" | "t" | "W" | "w") {
                continue;
            }
            let mut rank = rank(
                false,
                kind.eq_ignore_ascii_case("w"),
                kind == "t" || kind == "w",
                name,
            );
            rank.4 = -rank.4;
            let name = name.to_owned();
            functions.push(Named {
                start,
                end: start,
                rank,
                name,
            });
        }
        if base == 0 {
            return None;
        }
        functions.retain(|it| it.start >= base);
        for function in &mut functions {
            function.start -= base;
            function.end -= base;
        }
        let mut table = SymbolTable {
            build_id,
            base: 0,
            segments: Vec::new(),
            functions,
        };
        table.finish();
        Some(table)
    }

    /// The number that the linker gave the file.
    pub fn build_id(&self) -> Option<&[u8]> {
        self.build_id.as_deref()
    }

    /// The function at a byte of the file, its name as the symbol table has it.
    pub fn at_offset(&self, offset: u64) -> Option<&str> {
        self.at(self.address(offset)?)
    }

    /// The lowest address that the linker assigned to the file: what relative addresses count from.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// The address that the linker assigned to a byte of the file.
    pub fn address(&self, offset: u64) -> Option<u64> {
        let segment = self
            .segments
            .iter()
            .find(|it| offset >= it.offset && offset - it.offset < it.size)?;
        segment.address.checked_add(offset - segment.offset)
    }

    /// The function at an address as the linker assigned it, or at a distance from the kernel's `_text`.
    pub fn at(&self, address: u64) -> Option<&str> {
        let before = self.functions.partition_point(|it| it.start <= address);
        let near = self.functions[..before].iter().rev().take(NESTED);
        near.into_iter()
            .find(|it| address < it.end)
            .map(|it| &*it.name)
    }

    fn add<'a, 'd, S: ObjectSymbol<'d>>(
        &mut self,
        module: &object::File<'a, Cache<'a>>,
        symbols: impl Iterator<Item = S>,
    ) {
        let code = file::Code::of(module);
        let functions = symbols.filter_map(|symbol| {
            let of_code = matches!(
                symbol.kind(),
                SymbolKind::Text | SymbolKind::Unknown | SymbolKind::Label
            );
            let start = symbol.address();
            // Symbols of a split-off file have its sections' numbers, but the module's addresses.
            if !of_code || symbol.is_undefined() || code.end_of(start).is_none() {
                return None;
            }
            let name = symbol.name().ok().filter(|name| !name.is_empty())?;
            let rank = rank(symbol.size() > 0, symbol.is_weak(), symbol.is_local(), name);
            Some(Named {
                start,
                end: start.saturating_add(symbol.size()),
                rank,
                name: name.to_owned(),
            })
        });
        self.functions.extend(functions);
    }

    /// Names the stubs through which other libraries' functions are called, by the entry that each one jumps to.
    fn stubs<'a>(&mut self, module: &object::File<'a, Cache<'a>>) {
        const STUB: usize = 16;
        if module.architecture() != object::Architecture::X86_64 {
            return;
        }
        let Some(relocations) = module.dynamic_relocations() else {
            return;
        };
        let targets: HashMap<u64, SymbolIndex> = relocations
            .filter_map(|(at, relocation)| match relocation.target() {
                RelocationTarget::Symbol(symbol) => Some((at, symbol)),
                _ => None,
            })
            .collect();
        let Some(symbols) = module.dynamic_symbol_table() else {
            return;
        };
        for section in [".plt", ".plt.got", ".plt.sec"] {
            let Some(section) = module.section_by_name(section) else {
                continue;
            };
            let Ok(code) = section.data() else {
                continue;
            };
            for (start, stub) in (section.address()..).step_by(STUB).zip(code.chunks(STUB)) {
                // `jmp *entry(%rip)`, possibly behind `endbr64` or `bnd`.
                let Some(at) = stub.windows(6).position(|it| it.starts_with(&[0xff, 0x25])) else {
                    continue;
                };
                let distance =
                    i32::from_le_bytes([stub[at + 2], stub[at + 3], stub[at + 4], stub[at + 5]]);
                let entry = (start + at as u64 + 6).wrapping_add_signed(i64::from(distance));
                let name = targets
                    .get(&entry)
                    .and_then(|&index| symbols.symbol_by_index(index).ok())
                    .and_then(|symbol| symbol.name().ok());
                if let Some(name) = name {
                    self.functions.push(Named {
                        start,
                        end: start + stub.len() as u64,
                        rank: rank(true, false, false, name),
                        name: format!("{name}@plt"),
                    });
                }
            }
        }
    }

    fn finish(&mut self) {
        let functions = &mut self.functions;
        functions.sort_by(|a, b| (a.start, b.rank, &a.name).cmp(&(b.start, a.rank, &b.name)));
        functions.dedup_by_key(|it| it.start);
        // What has no size, as in assembly, lasts until the next one begins.
        for row in 1..functions.len() {
            let next = functions[row].start;
            let this = &mut functions[row - 1];
            if this.end == this.start {
                this.end = next;
            }
        }
        if let Some(last) = functions.last_mut()
            && last.end == last.start
        {
            last.end = last.start.saturating_add(4096);
        }
        functions.shrink_to_fit();
    }
}

/// Where the first loaded segment is.
fn base<'a>(module: &object::File<'a, Cache<'a>>) -> u64 {
    module.segments().map(|it| it.address()).min().unwrap_or(0)
}

/// Which bytes of the file are which addresses.
fn segments<'a>(module: &object::File<'a, Cache<'a>>) -> Vec<Segment> {
    let code = |flags| match flags {
        SegmentFlags::Elf { p_flags, .. } => p_flags.contains(elf::PF_X),
        _ => false,
    };
    module
        .segments()
        .filter(|segment| code(segment.flags()))
        .map(|segment| {
            let (offset, size) = segment.file_range();
            Segment {
                offset,
                size,
                address: segment.address(),
            }
        })
        .collect()
}

/// The build id in the notes of a module, as the kernel shows its own in `/sys/kernel/notes`.
pub fn build_id_of_notes(notes: &[u8]) -> Option<Vec<u8>> {
    let mut rest = notes;
    let word = |at: usize, bytes: &[u8]| {
        let word = bytes.get(at..at + 4)?;
        usize::try_from(u32::from_ne_bytes(word.try_into().ok()?)).ok()
    };
    loop {
        let (name, text, kind) = (word(0, rest)?, word(4, rest)?, word(8, rest)?);
        let body = rest.get(12..)?;
        let behind = body.get(name.checked_next_multiple_of(4)?..)?;
        if kind == elf::NT_GNU_BUILD_ID.0 as usize && body.get(..name) == Some(b"GNU\0") {
            return behind.get(..text).map(<[u8]>::to_vec);
        }
        rest = behind.get(text.checked_next_multiple_of(4)?..)?;
    }
}
