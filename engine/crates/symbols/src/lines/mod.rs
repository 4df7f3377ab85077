//! Lines: combines line tables and inlined calls into one list of address ranges.

mod inlines;
pub(crate) mod table;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use fulcrum_model::text::counted;

use crate::dwarf::files::Files;
use crate::dwarf::units::Split;
use crate::elf::file::{Code, Module, Reader};
use crate::error::{damage_note, damaged};
use crate::lines::inlines::{Inlines, Site};
use crate::{LineTable, Location, Range, Scope, SymbolsError};

/// The line table of a module.
pub(crate) fn table(
    path: &Path,
    scope: &Scope,
    module: &Module<'_>,
) -> Result<LineTable, SymbolsError> {
    let mut dwarf = module.dwarf.reader();
    dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::Duplicates);
    let mut builder = Builder::new(path, scope, &module.code);
    let mut damage = None;
    let mut headers = dwarf.units();
    loop {
        let outcome = match headers.next() {
            Ok(Some(header)) => builder.unit(&dwarf, header),
            Ok(None) => break,
            Err(error) => {
                damage.get_or_insert_with(|| dwarf.format_error(error));
                break;
            }
        };
        if let Err(error) = outcome {
            damage.get_or_insert_with(|| dwarf.format_error(error));
        }
    }
    if let Some(place) = damage {
        if builder.pieces.is_empty() {
            return Err(SymbolsError::Damaged(damaged(path, &place)));
        }
        builder.notes.push(damage_note(path, &place, "files"));
    }
    Ok(builder.finish(path))
}

struct Builder<'s> {
    code: &'s Code,
    /// The files in scope, by the indices in [`Site`]s.
    files: Files<'s>,
    /// The line programs that were read already: units may share one.
    programs: HashSet<usize>,
    pieces: Vec<(u64, u64, Site)>,
    any_file: bool,
    notes: Vec<String>,
    split: Split,
}

impl<'s> Builder<'s> {
    fn new(path: &Path, scope: &'s Scope, code: &'s Code) -> Builder<'s> {
        Builder {
            code,
            files: Files::new(scope),
            programs: HashSet::new(),
            pieces: Vec::new(),
            any_file: false,
            notes: Vec::new(),
            split: Split::new(path),
        }
    }

    fn unit<'a>(
        &mut self,
        dwarf: &gimli::Dwarf<Reader<'a>>,
        header: gimli::UnitHeader<Reader<'a>>,
    ) -> gimli::Result<()> {
        if !matches!(
            header.type_(),
            gimli::UnitType::Compilation | gimli::UnitType::Skeleton(_)
        ) {
            return Ok(());
        }
        let unit = dwarf.unit(header)?;
        let Some(program) = unit.line_program.clone() else {
            return Ok(());
        };
        if !self.programs.insert(program.header().offset().0) {
            return Ok(());
        }
        let files = self.files.of_unit(dwarf, &unit, program.header());
        self.any_file |= !files.is_empty();
        if files.iter().all(Option::is_none) {
            return Ok(());
        }
        let (known, foreign) = rows(program, self.code, |file| {
            files.get(usize::try_from(file).ok()?).copied().flatten()
        })?;
        self.pieces.extend(known);
        if foreign.is_empty() {
            return Ok(());
        }
        let site = |file: u64, line: u32| {
            let file = files.get(usize::try_from(file).ok()?).copied().flatten()?;
            (line != 0).then_some((file, line))
        };
        let inlines = self
            .split
            .entries(dwarf, &unit, |dwarf, unit| Inlines::read(dwarf, unit, site))?
            .unwrap_or_else(Inlines::none);
        for (start, end) in foreign {
            self.pieces.extend(inlines.within(start, end));
        }
        Ok(())
    }

    fn finish(mut self, path: &Path) -> LineTable {
        let mut notes = std::mem::take(&mut self.notes);
        notes.extend(self.missing(path));
        let (pieces, shared) = disjoint(std::mem::take(&mut self.pieces));
        if shared > 0 {
            notes.push(format!(
                "in {}, {} to several lines (identical code folded by the linker); \
                 each is counted for one of them",
                path.display(),
                counted(
                    shared as u64,
                    "piece of code belongs",
                    "pieces of code belong"
                )
            ));
        }
        let mut lines: Vec<Location> = Vec::new();
        let mut sites: Vec<Site> = pieces.iter().map(|piece| piece.2).collect();
        sites.sort_unstable_by(|a, b| {
            let name = |site: &Site| &self.files.names[site.0 as usize];
            name(a).cmp(name(b)).then(a.cmp(b))
        });
        sites.dedup();
        let mut index = HashMap::with_capacity(sites.len());
        for site in sites {
            index.insert(site, lines.len() as u32);
            lines.push(Location {
                file: self.files.names[site.0 as usize].clone(),
                line: site.1,
            });
        }
        let ranges = pieces
            .into_iter()
            .map(|(start, end, site)| Range {
                start,
                end,
                line: index[&site],
            })
            .collect();
        LineTable {
            lines,
            ranges,
            notes,
        }
    }

    /// Notes on what the debug information lacks.
    fn missing(&self, path: &Path) -> Vec<String> {
        let mut notes = Vec::new();
        if self.split.missing > 0 {
            notes.push(format!(
                ".dwo files of {} are missing ({}), so code inlined from headers out of scope is not counted; \
                 keep them beside the objects or compile without -gsplit-dwarf",
                path.display(),
                self.split.missing
            ));
        }
        if self.pieces.is_empty() {
            notes.push(if self.any_file {
                format!(
                    "no source file of {} is in scope: set --source-scope",
                    path.display()
                )
            } else {
                format!(
                    "the line tables of {} are empty: compile with -g",
                    path.display()
                )
            });
        }
        notes
    }
}

/// Pieces of code by line, and pieces whose own file is out of scope.
type Rows = (Vec<(u64, u64, Site)>, Vec<(u64, u64)>);

/// Runs a line program. `file` returns the index of a file in scope.
fn rows(
    program: gimli::IncompleteLineProgram<Reader<'_>>,
    code: &Code,
    file: impl Fn(u64) -> Option<u32>,
) -> gimli::Result<Rows> {
    let (mut known, mut foreign) = (Vec::new(), Vec::new());
    let mut rows = program.rows();
    // The previous row, and the end of the code section in which its sequence began.
    let mut previous: Option<(u64, Option<Site>)> = None;
    let mut limit = None;
    while let Some((_, row)) = rows.next_row()? {
        let address = row.address();
        match (previous, limit) {
            (None, _) => limit = code.end_of(address),
            (Some((start, site)), Some(limit)) if start < address && address <= limit => match site
            {
                Some(site) => known.push((start, address, site)),
                None => foreign.push((start, address)),
            },
            _ => {}
        }
        if row.end_sequence() {
            previous = None;
            continue;
        }
        // Code at line 0 belongs to no line, but may be inlined into one.
        let line = row.line().and_then(|line| u32::try_from(line.get()).ok());
        let site = line.and_then(|line| Some((file(row.file_index())?, line)));
        previous = Some((address, site));
    }
    Ok((known, foreign))
}

/// Sorts pieces, cuts overlaps (the first wins) and joins neighbours of the same line. Also returns the number of cut pieces.
fn disjoint(mut pieces: Vec<(u64, u64, Site)>) -> (Vec<(u64, u64, Site)>, usize) {
    pieces.sort_unstable();
    let mut out: Vec<(u64, u64, Site)> = Vec::with_capacity(pieces.len());
    let mut shared = 0;
    for (mut start, end, site) in pieces {
        if let Some(last) = out.last_mut() {
            if start < last.1 && last.2 != site {
                shared += 1;
            }
            start = start.max(last.1);
            if start == last.1 && last.2 == site {
                last.1 = last.1.max(end);
                continue;
            }
        }
        if start < end {
            out.push((start, end, site));
        }
    }
    (out, shared)
}

#[cfg(test)]
mod tests {
    use super::disjoint;

    #[test]
    fn overlaps_are_cut_and_neighbours_joined() {
        let pieces = vec![
            (30, 40, (0, 3)),
            (10, 20, (0, 1)),
            (20, 30, (0, 1)),
            (25, 35, (0, 2)),
        ];
        let (out, shared) = disjoint(pieces);
        assert_eq!(out, [(10, 30, (0, 1)), (30, 35, (0, 2)), (35, 40, (0, 3))]);
        assert_eq!(shared, 2);
    }
}
