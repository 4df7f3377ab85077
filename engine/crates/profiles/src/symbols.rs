//! Names for code of which a profile knows only the place: from the executables and libraries themselves.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::fs;
use std::path::Path;

use fulcrum_ingest::profile::{At, Code, Symbols};
use fulcrum_names::{SymbolTable, build_id_of_notes};
use fulcrum_symbols::Inlined;

/// What perf calls the kernel.
const KERNEL: &str = "[kernel.kallsyms]";

/// Symbols of this machine's files, each read when its first name is asked for.
#[derive(Debug, Default)]
pub struct Files {
    /// None for files that are not here, or are others.
    tables: RefCell<HashMap<Wanted, Option<Known>>>,
}

/// What is known of one file.
#[derive(Debug)]
struct Known {
    table: SymbolTable,
    /// Read when its first function was found.
    inlined: OnceCell<Option<Inlined>>,
}

/// A file's path and the build id that was recorded.
type Wanted = (String, Option<Vec<u8>>);

impl Symbols for Files {
    fn code(&self, file: &str, build_id: Option<&[u8]>, at: At) -> Vec<Code> {
        let mut tables = self.tables.borrow_mut();
        let key = (file.to_owned(), build_id.map(<[u8]>::to_vec));
        let known = tables.entry(key).or_insert_with(|| {
            Some(Known {
                table: table(file, build_id)?,
                inlined: OnceCell::new(),
            })
        });
        let Some(Known { table, inlined }) = known else {
            return Vec::new();
        };
        let named = |name: &str| Code {
            name: name.to_owned(),
            ..Code::default()
        };
        if file == KERNEL {
            let (At::Byte(distance) | At::Address(distance)) = at;
            return table.at(distance).map(named).into_iter().collect();
        }
        let address = match at {
            At::Byte(offset) => table.address(offset),
            At::Address(relative) => table.base().checked_add(relative),
        };
        let Some((address, name)) = address.and_then(|it| Some((it, table.at(it)?))) else {
            return Vec::new();
        };
        let inlined = inlined.get_or_init(|| Inlined::open(Path::new(file)));
        let frames = inlined.as_ref().map_or(Vec::new(), |it| it.frames(address));
        let mut frames = frames.into_iter();
        let outermost = frames.next().unwrap_or_default();
        let code = |name: String, file, line| Code { name, file, line };
        let mut all = vec![code(name.to_owned(), outermost.file, outermost.line)];
        all.extend(frames.filter_map(|it| Some(code(it.name?, it.file, it.line))));
        all
    }
}

fn table(file: &str, build_id: Option<&[u8]>) -> Option<SymbolTable> {
    let table = match file {
        KERNEL => {
            let notes = fs::read("/sys/kernel/notes").unwrap_or_default();
            let text = fs::read_to_string("/proc/kallsyms").ok()?;
            SymbolTable::kernel(&text, build_id_of_notes(&notes))?
        }
        // Not `//anon`, which is memory without a file.
        file if file.starts_with('/') && !file.starts_with("//") => {
            SymbolTable::open(Path::new(file)).ok()?
        }
        _ => return None,
    };
    // Another build of the same name would give wrong names.
    let same = build_id.is_none_or(|id| table.build_id().is_some_and(|own| padded(own, id)));
    same.then_some(table)
}

/// Whether both are the same number: some recorders fill it up with zeros.
fn padded(own: &[u8], recorded: &[u8]) -> bool {
    let Some((head, tail)) = recorded.split_at_checked(own.len()) else {
        return false;
    };
    !own.is_empty() && head == own && tail.iter().all(|&byte| byte == 0)
}
