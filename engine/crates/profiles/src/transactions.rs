//! Runs of transactional profiling: names for what their logs know by address, the whole profile, and those of types.

mod open_telemetry;
mod types;

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fulcrum_model::Progress;
use fulcrum_names::{DataTable, SymbolTable, readable};
use fulcrum_profile_formats::{At, Code, Symbols as _};
use fulcrum_symbols::function_extents;
use fulcrum_transaction_records::names::{COPIES_MODULE, Frame, NameFile, NamesOf};
use fulcrum_transaction_records::run::{
    self, ModuleMap, Options, Run, RunError, SymbolsNeeded, symbols_needed,
};

use crate::symbols::Files;

pub use open_telemetry::{Telemetry, telemetry};
pub use types::{OpenTypes, TypeError, TypeOf, compare_types, open_type};

/// Name of the file of names in a run.
pub use fulcrum_transaction_records::names::FILE as NAMES_FILE;

/// In a run that was stitched, the folder of those that it is made of.
const PARTS: &str = "parts";
/// The library that is loaded into recorded programs.
const OWN_LIBRARY: &str = "/libfulcrum_transaction_runtime.so";

/// Finds names for all addresses in a run, from the programs and libraries on this machine, and writes them into the run: it
/// then tells the same elsewhere, and when they have been rebuilt.
///
/// # Errors
/// [`RunError`], when the run cannot be read or written.
pub fn write_names(folder: &Path) -> Result<(), RunError> {
    let mut finder = Finder::default();
    let mut file = NameFile::default();
    for needed in symbols_needed(folder)? {
        file.processes.push(finder.names(&needed));
    }
    file.write(folder)
}

/// Whether there is a run of transactions in a folder, or several that were stitched.
pub fn is_run(folder: &Path) -> bool {
    run::is_run(folder) || folder.join(PARTS).is_dir()
}

/// Opens runs that were recorded at the same time, on one machine or on several, as one. Names are found now where there are
/// none: the recorder was killed.
///
/// # Errors
/// [`RunError`], when one of them is none, or is damaged, or when `progress` is cancelled.
pub fn open(folders: &[&Path], options: &Options, progress: &Progress) -> Result<Run, RunError> {
    let mut parts = Vec::new();
    for folder in folders {
        parts.extend(parts_of(folder)?);
    }
    for part in &parts {
        progress.check()?;
        if !part.join(NAMES_FILE).is_file() && run::is_run(part) {
            // A run that cannot be written is shown all the same, with addresses for names.
            let _ = write_names(part);
        }
    }
    let parts: Vec<&Path> = parts.iter().map(PathBuf::as_path).collect();
    run::open_all(&parts, options, progress)
}

/// Makes one run of several: copies their records into a new one, which can then be shown anywhere as if it had been recorded
/// at once.
///
/// # Errors
/// [`RunError`], when one of them is none, or the new one cannot be written.
pub fn stitch(folders: &[&Path], into: &Path) -> Result<(), RunError> {
    let mut parts = Vec::new();
    for folder in folders {
        parts.extend(parts_of(folder)?);
    }
    for (number, part) in parts.iter().enumerate() {
        if !part.join(NAMES_FILE).is_file() {
            write_names(part)?;
        }
        copy(part, &into.join(PARTS).join(format!("{:03}", number + 1)))?;
    }
    Ok(())
}

/// The runs that a folder is made of: itself, or those that were stitched.
fn parts_of(folder: &Path) -> Result<Vec<PathBuf>, RunError> {
    let within = folder.join(PARTS);
    if !within.is_dir() {
        return match run::is_run(folder) {
            true => Ok(vec![folder.into()]),
            false => Err(RunError::NoLogs(folder.into())),
        };
    }
    let entries = fs::read_dir(&within).map_err(at(&within))?;
    let mut parts: Vec<PathBuf> = entries.flatten().map(|it| it.path()).collect();
    parts.retain(|it| run::is_run(it));
    parts.sort();
    Ok(parts)
}

fn copy(run: &Path, into: &Path) -> Result<(), RunError> {
    fs::create_dir_all(into).map_err(at(into))?;
    for entry in fs::read_dir(run).map_err(at(run))?.flatten() {
        let path = entry.path();
        if path.is_file() {
            fs::copy(&path, into.join(entry.file_name())).map_err(at(&path))?;
        }
    }
    Ok(())
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> RunError {
    let path = path.to_owned();
    |error| RunError::File { path, error }
}

/// Where the program gets into the engine that watches critical sections: what it costs has a name.
const WATCHING: &[&str] = &["dispatch", "lock_taken", "unlocking"];

/// Of our own library's frames, innermost first, the function of libc that it stands before: `read`. All else is no part of the
/// program.
fn hooked(mut frames: Vec<Frame>) -> Vec<Frame> {
    let name = frames.pop().and_then(|it| own_name(it.name));
    let frame = |name| Frame {
        name,
        file: None,
        line: None,
    };
    name.map(frame).into_iter().collect()
}

/// What users are shown of a function of our own library.
fn own_name(name: String) -> Option<String> {
    let entry = name.strip_prefix("fulcrum_critical_sections::engine::");
    match entry {
        Some(entry) if WATCHING.contains(&entry) => Some(COPIES_MODULE.into()),
        _ => Some(name).filter(|it| !it.contains("::")),
    }
}

/// Looks into programs and libraries, each read once.
#[derive(Default)]
struct Finder {
    files: Files,
    modules: HashMap<String, Option<Module>>,
}

/// One file, beside what [`Files`] knows of it.
struct Module {
    code: SymbolTable,
    /// Its variables.
    data: OnceCell<Option<DataTable>>,
    /// Where its functions begin and end, sorted.
    extents: OnceCell<Vec<(u64, u64)>>,
}

impl Finder {
    fn names(&mut self, needed: &SymbolsNeeded) -> NamesOf {
        let mut code = BTreeMap::new();
        for &address in &needed.code {
            let Some(module) = needed.module_of(address) else {
                continue;
            };
            let frames = self.frames(module, address);
            let own = module.file.ends_with(OWN_LIBRARY);
            if own {
                code.insert(address, hooked(frames));
            } else if !frames.is_empty() {
                code.insert(address, frames);
            } else if let Some(frame) = self.nameless(module, address) {
                code.insert(address, vec![frame]);
            }
        }
        let mut data = BTreeMap::new();
        for &address in &needed.data {
            let mut modules = needed.modules.iter();
            if let Some(name) = modules.find_map(|it| self.variable(it, address)) {
                data.insert(address, name);
            }
        }
        NamesOf {
            processes: needed.processes.clone(),
            code,
            data,
        }
    }

    /// The functions at an address, what was inlined innermost first.
    fn frames(&self, module: &ModuleMap, address: u64) -> Vec<Frame> {
        let at = At::Byte(address - module.start + module.offset);
        let found = self.files.code(&module.file, None, at);
        let frame = |it: Code| Frame {
            name: readable(Some(&it.name), None).unwrap_or(it.name),
            file: Some(it.file).filter(|it| !it.is_empty()),
            line: Some(it.line).filter(|&it| it > 0),
        };
        found.into_iter().rev().map(frame).collect()
    }

    fn module(&mut self, map: &ModuleMap) -> Option<&Module> {
        let known = self.modules.entry(map.file.clone());
        let known = known.or_insert_with(|| {
            Some(Module {
                code: SymbolTable::open(Path::new(&map.file)).ok()?,
                data: OnceCell::new(),
                extents: OnceCell::new(),
            })
        });
        known.as_ref()
    }

    /// A function without a symbol, by where it begins: all its calls are then one function's.
    fn nameless(&mut self, map: &ModuleMap, address: u64) -> Option<Frame> {
        let module = self.module(map)?;
        let extents = || function_extents(Path::new(&map.file)).unwrap_or_default();
        let extents = module.extents.get_or_init(extents);
        let mapped = module.code.address(map.offset)?;
        let address = address - map.start + mapped;
        let before = extents.partition_point(|&(start, _)| start <= address);
        let &(start, end) = extents.get(before.checked_sub(1)?)?;
        let offset = (start.wrapping_sub(mapped)).wrapping_add(map.offset);
        let file = map.file.rsplit('/').next().unwrap_or(&map.file);
        (address < end).then(|| Frame {
            name: format!("{file}+{offset:#x}"),
            file: None,
            line: None,
        })
    }

    fn variable(&mut self, map: &ModuleMap, address: u64) -> Option<String> {
        let Module { code, data, .. } = self.module(map)?;
        // What was added to all addresses of the file when it was loaded.
        let bias = map.start.wrapping_sub(code.address(map.offset)?);
        let data = data.get_or_init(|| DataTable::open(Path::new(&map.file)).ok());
        let (name, within) = data.as_ref()?.at(address.wrapping_sub(bias))?;
        let name = readable(Some(name), None).unwrap_or_else(|| name.to_owned());
        Some(match within {
            0 => name,
            within => format!("{name}+{within:#x}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_our_own_library_only_what_the_program_called_is_shown() {
        let frame = |name: &str| Frame {
            name: name.into(),
            file: Some("hooks_io.rs".into()),
            line: Some(7),
        };
        let read = hooked(vec![frame("fulcrum_preload::sys::call"), frame("read")]);
        assert_eq!(read.len(), 1);
        assert_eq!((&*read[0].name, &read[0].file), ("read", &None));
        assert!(hooked(vec![frame("fulcrum_transaction_runtime::thread::start")]).is_empty());
        let engine = "fulcrum_critical_sections::engine::";
        let watching = ["replay", "dispatch"].map(|it| frame(&format!("{engine}{it}")));
        assert_eq!(hooked(watching.to_vec())[0].name, COPIES_MODULE);
        assert!(hooked(vec![frame(&format!("{engine}replay"))]).is_empty());
        assert!(hooked(Vec::new()).is_empty());
    }
}
