//! Names for code of which a profile knows only the place, and callers of frames: from the executables and libraries
//! themselves.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::fs;
use std::path::Path;

use fulcrum_names::{SymbolTable, build_id_of_notes};
use fulcrum_profile_formats::{At, Caller, Code, Registers, Symbols};
use fulcrum_symbols::{CallFrames, Inlined};

/// What perf calls the kernel.
const KERNEL: &str = "[kernel.kallsyms]";

/// Symbols of this machine's files, each read when its first name is asked for.
#[derive(Debug, Default)]
pub struct Files {
    /// None for files that are not here, or are others.
    tables: RefCell<HashMap<RecordedFile, Option<Known>>>,
}

/// What is known of one file.
#[derive(Debug)]
struct Known {
    table: SymbolTable,
    /// Read when its first function was found.
    inlined: OnceCell<Option<Inlined>>,
    /// Read when the first caller was asked for.
    frames: OnceCell<Option<CallFrames>>,
}

/// A file's path and the build id that was recorded.
type RecordedFile = (String, Option<Vec<u8>>);

impl Symbols for Files {
    fn code(&self, file: &str, build_id: Option<&[u8]>, at: At) -> Vec<Code> {
        let mut tables = self.tables.borrow_mut();
        let Some(Known { table, inlined, .. }) = known(&mut tables, file, build_id) else {
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
        let Some((address, name)) = address_of(table, at).and_then(|it| Some((it, table.at(it)?)))
        else {
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

    fn caller(
        &self,
        (file, build_id): (&str, Option<&[u8]>),
        at: At,
        frame: &Registers,
        read: &dyn Fn(u64) -> Option<u64>,
    ) -> Caller {
        let mut tables = self.tables.borrow_mut();
        let Some(Known { table, frames, .. }) = known(&mut tables, file, build_id) else {
            return Caller::Unknown;
        };
        let frames = frames.get_or_init(|| CallFrames::open(Path::new(file)));
        let (Some(frames), Some(address)) = (frames, address_of(table, at)) else {
            return Caller::Unknown;
        };
        match frames.caller(address, frame, read) {
            fulcrum_symbols::Caller::Frame {
                registers,
                interrupted,
            } => Caller::Frame {
                registers,
                interrupted,
            },
            fulcrum_symbols::Caller::Outermost => Caller::Outermost,
            fulcrum_symbols::Caller::Lost => Caller::Lost,
            fulcrum_symbols::Caller::Unknown => Caller::Unknown,
        }
    }
}

/// What is known of a file, which is read when it is first asked for.
fn known<'t>(
    tables: &'t mut HashMap<RecordedFile, Option<Known>>,
    file: &str,
    build_id: Option<&[u8]>,
) -> Option<&'t Known> {
    let key = (file.to_owned(), build_id.map(<[u8]>::to_vec));
    let known = tables.entry(key).or_insert_with(|| {
        Some(Known {
            table: table(file, build_id)?,
            inlined: OnceCell::new(),
            frames: OnceCell::new(),
        })
    });
    known.as_ref()
}

/// A place as the linker assigned it.
fn address_of(table: &SymbolTable, at: At) -> Option<u64> {
    match at {
        At::Byte(offset) => table.address(offset),
        At::Address(relative) => table.base().checked_add(relative),
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
