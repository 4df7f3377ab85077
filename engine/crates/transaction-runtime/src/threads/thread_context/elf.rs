//! Finds the variable in dynamic symbol tables, and how the code of its module reaches it.
//!
//! The tables are read by hand. `object` and `goblin` parse ELF files, while here the loader has mapped the tables and only
//! their addresses are known. The injected libraries also keep their dependencies few (`xtask/src/injected.rs`).

use core::ffi::{c_int, c_void};
use core::slice;
use core::sync::atomic::{AtomicU64, Ordering};

/// How the variable is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// At an offset from the thread pointer.
    Static(i64),
    /// In the thread's block for a module: the module's number, and the offset in the block.
    Dynamic(u64, u64),
}

/// The variable's name.
const NAME: &[u8] = b"otel_thread_ctx_v1\0";

const STRINGS: u64 = 5;
const SYMBOLS: u64 = 6;
const RELOCATIONS: u64 = 7;
const RELOCATIONS_SIZE: u64 = 8;
const CALLS_SIZE: u64 = 2;
const CALLS: u64 = 23;
const GNU_HASH: u64 = 0x6fff_fef5;

const THREAD_LOCAL: u8 = 6;
/// A word of the module holds the offset from the thread pointer.
const OFFSET_WORD: u32 = 18;
/// Two words hold a function and its argument.
const DESCRIPTOR: u32 = 36;

#[repr(C)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: u64,
    size: u64,
}

#[repr(C)]
struct Relocation {
    place: u64,
    info: u64,
    addend: i64,
}

/// The state of the search through modules.
struct Search<'a> {
    loaded: &'a AtomicU64,
    found: Option<Access>,
    has_begun: bool,
}

/// How a thread reaches the variable, or `None` if no module has it. Searches only if there are new modules. `loaded` is
/// the number of modules loaded so far.
pub(crate) fn find(loaded: &AtomicU64) -> Option<Access> {
    let mut search = Search {
        loaded,
        found: None,
        has_begun: false,
    };
    // SAFETY: the callback gets the search, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    search.found
}

unsafe extern "C" fn visit(
    info: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    search: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes a valid description of a module, and `find` a valid search.
    let (info, search) = unsafe { (&*info, &mut *search.cast::<Search<'_>>()) };
    if !core::mem::replace(&mut search.has_begun, true)
        && search.loaded.swap(info.dlpi_adds, Ordering::Relaxed) == info.dlpi_adds
    {
        return 1;
    }
    if info.dlpi_tls_modid == 0 {
        return 0;
    }
    let count = usize::from(info.dlpi_phnum);
    // SAFETY: the description has this many headers.
    let headers = unsafe { slice::from_raw_parts(info.dlpi_phdr, count) };
    let dynamic = headers.iter().find(|it| it.p_type == libc::PT_DYNAMIC);
    if let Some(dynamic) = dynamic {
        // SAFETY: the module is loaded.
        search.found = unsafe { Module::of(info, dynamic) }.and_then(|it| it.access());
    }
    c_int::from(search.found.is_some())
}

/// The tables of a loaded module.
struct Module {
    base: u64,
    number: u64,
    strings: *const u8,
    symbols: *const Symbol,
    hashes: *const u32,
    /// The relocation tables, with their sizes in bytes.
    relocations: [(*const Relocation, u64); 2],
}

fn at<T>(address: u64) -> *const T {
    core::ptr::with_exposed_provenance(address as usize)
}

impl Module {
    /// # Safety
    /// The module is loaded, and stays loaded while the result is used.
    unsafe fn of(info: &libc::dl_phdr_info, dynamic: &libc::Elf64_Phdr) -> Option<Module> {
        let base = info.dlpi_addr;
        let mut tables = [0_u64; 7];
        let wanted = [
            STRINGS,
            SYMBOLS,
            GNU_HASH,
            RELOCATIONS,
            RELOCATIONS_SIZE,
            CALLS,
            CALLS_SIZE,
        ];
        let mut entry: *const [u64; 2] = at(base.wrapping_add(dynamic.p_vaddr));
        for _ in 0..dynamic.p_memsz / 16 {
            // SAFETY: within the module's dynamic section.
            let [tag, value] = unsafe { entry.read() };
            if tag == 0 {
                break;
            }
            if let Some(place) = wanted.iter().position(|it| *it == tag) {
                tables[place] = value;
            }
            // SAFETY: within the dynamic section, or just after it.
            entry = unsafe { entry.add(1) };
        }
        // glibc relocates the addresses of the file. Those it has not relocated are below the module.
        let address = |value: u64| match value {
            0 => 0,
            value if value < base => base + value,
            value => value,
        };
        let [
            strings,
            symbols,
            hashes,
            relocations,
            size,
            calls,
            calls_size,
        ] = tables;
        if strings == 0 || symbols == 0 || hashes == 0 {
            return None;
        }
        Some(Module {
            base,
            number: info.dlpi_tls_modid as u64,
            strings: at(address(strings)),
            symbols: at(address(symbols)),
            hashes: at(address(hashes)),
            relocations: [(relocations, size), (calls, calls_size)]
                .map(|(table, size)| (at(address(table)), size)),
        })
    }

    /// How a thread reaches the module's variable, or `None` if the module has none.
    fn access(&self) -> Option<Access> {
        let row = self.row()?;
        // SAFETY: the hash table refers to this row.
        let symbol = unsafe { &*self.symbols.add(row as usize) };
        let is_variable = symbol.info & 15 == THREAD_LOCAL && symbol.section != 0;
        if !is_variable || symbol.size != 8 {
            return None;
        }
        let offset = self.offset(row, symbol.value);
        Some(offset.map_or(Access::Dynamic(self.number, symbol.value), Access::Static))
    }

    /// The symbol's row, from the hash table.
    fn row(&self) -> Option<u32> {
        let name = &NAME[..NAME.len() - 1];
        let hash = name.iter().fold(5381_u32, |hash, byte| {
            hash.wrapping_mul(33).wrapping_add(u32::from(*byte))
        });
        // SAFETY: the table begins with four words. Filters, buckets and chains follow, with the lengths that these give. A
        // chain ends with an odd hash.
        unsafe {
            let word = |at: usize| self.hashes.add(at).read();
            let (buckets, first, filters) = (word(0), word(1), word(2) as usize);
            if buckets == 0 {
                return None;
            }
            let buckets_at = 4 + 2 * filters;
            let mut row = word(buckets_at + (hash % buckets) as usize);
            if row < first {
                return None;
            }
            loop {
                let found = word(buckets_at + buckets as usize + (row - first) as usize);
                if found | 1 == hash | 1 && self.is_named(row) {
                    return Some(row);
                }
                if found & 1 != 0 {
                    return None;
                }
                row += 1;
            }
        }
    }

    fn is_named(&self, row: u32) -> bool {
        // SAFETY: a row of the table, whose name ends with a zero byte.
        unsafe {
            let name = self
                .strings
                .add((*self.symbols.add(row as usize)).name as usize);
            (0..NAME.len()).all(|at| *name.add(at) == NAME[at])
        }
    }

    /// The offset from the thread pointer that the loader has written for the module's code, if it is the same in all
    /// threads.
    fn offset(&self, row: u32, value: u64) -> Option<i64> {
        for (table, size) in self.relocations {
            if table.is_null() {
                continue;
            }
            let count = size as usize / size_of::<Relocation>();
            // SAFETY: the table has this many bytes.
            for it in unsafe { slice::from_raw_parts(table, count) } {
                let (of, kind) = ((it.info >> 32) as u32, it.info as u32);
                // The relocation of a symbol that cannot be preempted names no symbol, and has the symbol's place in its
                // addend.
                let is_own = of == row || of == 0 && it.addend == value.cast_signed();
                let word = match kind {
                    OFFSET_WORD if is_own => 0,
                    DESCRIPTOR if is_own => 8,
                    _ => continue,
                };
                let place: *const i64 = at(self.base.wrapping_add(it.place) + word);
                // SAFETY: a word of the module, which the loader has written.
                let offset = unsafe { place.read_volatile() };
                // Offsets are below the thread pointer. Anything else is the argument of a function.
                if (-(1 << 31)..0).contains(&offset) {
                    return Some(offset);
                }
            }
        }
        None
    }
}
