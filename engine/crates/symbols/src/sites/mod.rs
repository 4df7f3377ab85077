//! Sites: where a program can count visits to a line (breakpoint progress points, COZ §3.3).

pub(crate) mod patch;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use object::{Object as _, ObjectSection as _, SectionFlags, elf};

use crate::dwarf::files::Files;
use crate::elf::file::{self, Code, Module, Reader};
use crate::sites::patch::Window;
use crate::unwind::rows;
use crate::{Location, Scope, SymbolsError};

/// A place where visits to a line begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The address, as in the file (add the module's load bias).
    pub address: u64,
    /// The same place as an offset in the module's file, for uprobes.
    pub offset: u64,
    /// The instructions that a jump to a counting stub would displace, or why no jump can be placed here, as part of a sentence.
    pub window: Result<Window, String>,
}

/// Finds the beginnings of a line's statements: one for every contiguous piece of its code, in every inlined copy.
///
/// The file is given by its whole path or its last parts. Empty if the module has no such file.
///
/// # Errors
/// When the debug information is damaged, or the file has code but the line has none; then the error names the nearest lines with
/// code.
pub fn breakpoint_sites(path: &Path, location: &Location) -> Result<Vec<Site>, SymbolsError> {
    let addresses = file::with_debug_info(path, |module| addresses(path, location, module))?;
    if addresses.is_empty() {
        return Ok(Vec::new());
    }
    let cache = file::open(path)?;
    let module = file::parse(path, &cache)?;
    let sections: Vec<(u64, u64, Vec<u8>)> = module
        .sections()
        .filter(|section| matches!(section.flags(), SectionFlags::Elf { sh_flags, .. } if sh_flags.contains(elf::SHF_EXECINSTR)))
        .filter_map(|section| {
            let (offset, _) = section.file_range()?;
            Some((section.address(), offset, section.data().ok()?.to_vec()))
        })
        .collect();
    let functions = rows::functions(path, &module, &Code::of(&module))?;
    let text = patch::Text::new(
        sections.iter().map(|it| (it.0, it.2.as_slice())).collect(),
        functions,
    );
    let mut sites = Vec::new();
    for address in addresses {
        let section = sections
            .iter()
            .find(|it| it.0 <= address && address - it.0 < it.2.len() as u64);
        let Some((start, offset, _)) = section else {
            continue;
        };
        sites.push(Site {
            address,
            offset: offset + (address - start),
            window: text.window(address),
        });
    }
    Ok(sites)
}

fn addresses(
    path: &Path,
    location: &Location,
    module: &Module<'_>,
) -> Result<Vec<u64>, SymbolsError> {
    let real = Path::new(&location.file).canonicalize().ok();
    let name = real
        .filter(|_| location.file.starts_with('/'))
        .and_then(|real| real.into_os_string().into_string().ok())
        .unwrap_or_else(|| location.file.clone());
    let scope = Scope::new([name]);
    let mut found = Found {
        files: Files::new(&scope),
        by_file: BTreeMap::new(),
        near: BTreeSet::new(),
    };
    let dwarf = module.dwarf.reader();
    let mut headers = dwarf.units();
    let damaged =
        |error| SymbolsError::Damaged(crate::error::damaged(path, &dwarf.format_error(error)));
    while let Some(header) = headers.next().map_err(damaged)? {
        let unit = dwarf.unit(header).map_err(damaged)?;
        let Some(program) = unit.line_program.clone() else {
            continue;
        };
        let files = found.files.of_unit(&dwarf, &unit, program.header());
        if files.iter().any(Option::is_some) {
            found
                .read(program, &module.code, &files, location.line)
                .map_err(damaged)?;
        }
    }
    let mut matching: Vec<u32> = found.by_file.keys().copied().collect();
    matching.dedup();
    if matching.len() > 1 {
        let names: Vec<&str> = matching
            .iter()
            .map(|&file| found.files.names[file as usize].as_str())
            .collect();
        return Err(SymbolsError::NoSuchLine(format!(
            "{location} is in several files: {}; give more of the path",
            names.join(", ")
        )));
    }
    match found.by_file.into_values().next() {
        Some(blocks) => Ok(blocks.into_iter().collect()),
        None if found.near.is_empty() => Ok(Vec::new()),
        None => Err(SymbolsError::NoSuchLine(near(location, &found.near))),
    }
}

fn near(location: &Location, lines: &BTreeSet<u32>) -> String {
    let before = lines.range(..location.line).next_back();
    let after = lines.range(location.line..).next();
    let near: Vec<String> = before
        .into_iter()
        .chain(after)
        .map(u32::to_string)
        .collect();
    let what = if near.len() == 1 {
        "the nearest line with code is"
    } else {
        "the nearest lines with code are"
    };
    format!(
        "{location} has no code of its own; {what} {}",
        near.join(" and ")
    )
}

struct Found<'s> {
    files: Files<'s>,
    /// The beginnings of the line's pieces of code, by file.
    by_file: BTreeMap<u32, BTreeSet<u64>>,
    /// Every line with code in the matching files.
    near: BTreeSet<u32>,
}

impl Found<'_> {
    fn read(
        &mut self,
        program: gimli::IncompleteLineProgram<Reader<'_>>,
        code: &Code,
        files: &[Option<u32>],
        wanted: u32,
    ) -> gimli::Result<()> {
        let mut rows = program.rows();
        // The previous row: its address, file and line, and whether a statement begins there.
        let mut previous: Option<(u64, Option<u32>, u32, bool)> = None;
        // The current piece: its file, and where its first statement begins.
        let mut piece: Option<(u32, Option<u64>)> = None;
        // Statements without code of their own.
        let mut empty: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
        let mut by_file: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
        while let Some((_, row)) = rows.next_row()? {
            let address = row.address();
            if let Some((start, file, line, statement)) = previous
                && code.end_of(start).is_some()
            {
                let ours = file.filter(|_| line == wanted);
                if start < address {
                    match (ours, &mut piece) {
                        (Some(file), Some((current, at))) if *current == file => {
                            if at.is_none() && statement {
                                *at = Some(start);
                            }
                        }
                        (Some(file), _) => {
                            finish(&mut piece, &mut by_file);
                            piece = Some((file, statement.then_some(start)));
                        }
                        (None, _) => finish(&mut piece, &mut by_file),
                    }
                    if file.is_some() && line != 0 {
                        self.near.insert(line);
                    }
                } else if let Some(file) = ours
                    && statement
                {
                    empty.entry(file).or_default().insert(start);
                }
            }
            if row.end_sequence() {
                finish(&mut piece, &mut by_file);
                previous = None;
                continue;
            }
            let file = usize::try_from(row.file_index()).ok();
            let file = file.and_then(|file| files.get(file).copied().flatten());
            let line = row.line().and_then(|line| u32::try_from(line.get()).ok());
            previous = Some((address, file, line.unwrap_or(0), row.is_stmt()));
        }
        let found = if by_file.is_empty() { empty } else { by_file };
        for (file, sites) in found {
            self.by_file.entry(file).or_default().extend(sites);
        }
        Ok(())
    }
}

/// Ends a piece. A piece without the beginning of a statement continues one that began elsewhere, so no visit begins there.
fn finish(piece: &mut Option<(u32, Option<u64>)>, by_file: &mut BTreeMap<u32, BTreeSet<u64>>) {
    if let Some((file, Some(at))) = piece.take() {
        by_file.entry(file).or_default().insert(at);
    }
}
