//! Symbol tables: the names of functions by address, for profiles that only have addresses.
//!
//! Reads no debug information. `fulcrum-symbols` finds inlined functions.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::Path;

use object::{
    Object, ObjectSection as _, ObjectSegment as _, ObjectSymbol, ObjectSymbolTable as _,
    RelocationTarget, SegmentFlags, SymbolIndex, SymbolKind, elf,
};

use crate::file::{self, Cache, FileError, unreadable};

/// The most functions that may begin inside another one. An address after more of them is no longer found in the outer one.
const NESTED: usize = 16;

/// The functions of one executable or library, or of the running kernel.
#[derive(Debug, Default)]
pub struct SymbolTable {
    build_id: Option<Vec<u8>>,
    /// The lowest address that the linker assigned.
    base: u64,
    segments: Vec<Segment>,
    /// The functions, sorted by start, one for each start.
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
    /// Equal to `start` until the start of the next one is known.
    end: u64,
    rank: Rank,
    name: String,
}

/// Which of several names at one address is shown: the one with the largest rank. Names with a size come first, then names that are
/// not weak, names that are not local, names with few leading underscores, and finally long names (for the kernel, short ones).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    sized: bool,
    strong: bool,
    global: bool,
    underscores: Reverse<usize>,
    length: isize,
}

fn underscores(name: &str) -> Reverse<usize> {
    Reverse(name.len() - name.trim_start_matches('_').len())
}

fn length(name: &str) -> isize {
    isize::try_from(name.len()).unwrap_or(isize::MAX)
}

impl SymbolTable {
    /// Reads the symbols of a file, or those of its separate debug file.
    ///
    /// # Errors
    /// When the file cannot be read, or is not an ELF file for this machine. A file without symbols is not an error.
    pub fn open(path: &Path) -> Result<SymbolTable, FileError> {
        // Opening a pipe would wait for a writer.
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

    /// Reads the running kernel's functions from the text of `/proc/kallsyms`, by their distance from `_text`, whose address changes with each
    /// boot. Leaves out modules. `None` if the kernel hides its addresses.
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
            let rank = Rank {
                sized: false,
                strong: !kind.eq_ignore_ascii_case("w"),
                global: kind != "t" && kind != "w",
                underscores: underscores(name),
                length: -length(name),
            };
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

    /// The build id, which the linker assigned.
    pub fn build_id(&self) -> Option<&[u8]> {
        self.build_id.as_deref()
    }

    /// The function at an offset in the file, as the symbol table names it.
    pub fn at_offset(&self, offset: u64) -> Option<&str> {
        self.at(self.address(offset)?)
    }

    /// The lowest address that the linker assigned: the base of relative addresses.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// The address that the linker assigned to an offset in the file.
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
            // Symbols of a separate debug file have its section numbers, but the module's addresses.
            if !of_code || symbol.is_undefined() || code.end_of(start).is_none() {
                return None;
            }
            let name = symbol.name().ok().filter(|name| !name.is_empty())?;
            let rank = Rank {
                sized: symbol.size() > 0,
                strong: !symbol.is_weak(),
                global: !symbol.is_local(),
                underscores: underscores(name),
                length: length(name),
            };
            Some(Named {
                start,
                end: start.saturating_add(symbol.size()),
                rank,
                name: name.to_owned(),
            })
        });
        self.functions.extend(functions);
    }

    /// Names the stubs of the procedure linkage table, by the entry to which each one jumps.
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
                // `jmp *entry(%rip)`, possibly after `endbr64` or `bnd`.
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
                        rank: Rank {
                            sized: true,
                            strong: true,
                            global: true,
                            underscores: underscores(name),
                            length: length(name),
                        },
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
        // A function without a size, as in assembly, ends where the next one begins.
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

/// The address of the first loaded segment.
fn base<'a>(module: &object::File<'a, Cache<'a>>) -> u64 {
    module.segments().map(|it| it.address()).min().unwrap_or(0)
}

/// The addresses of the file's segments.
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
