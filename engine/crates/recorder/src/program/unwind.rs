//! The unwind table of a process. It is made from the call frame information of the process's modules while the program
//! already runs.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use fulcrum_symbols::{Base, UnwindRow, UnwindRule, unwind_rows};
use fulcrum_wire::{UNWIND_MAGIC, Unwind, UnwindHeader, VERSION, base};

use super::proc::Memory;
use super::shared_file;

/// The tables of the modules seen so far: the processes of a run share libraries.
#[derive(Clone, Default)]
pub(crate) struct Cache(Arc<Mutex<HashMap<PathBuf, Arc<Vec<UnwindRow>>>>>);

impl Cache {
    fn rows(&self, module: &Path) -> Arc<Vec<UnwindRow>> {
        let known = |cache: &Cache| {
            let tables = cache.0.lock().unwrap_or_else(PoisonError::into_inner);
            tables.get(module).cloned()
        };
        known(self).unwrap_or_else(|| {
            // Callers of code without such information cannot be found: an empty table says so.
            let rows = Arc::new(unwind_rows(module).unwrap_or_default());
            let mut tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            tables.insert(module.into(), Arc::clone(&rows));
            rows
        })
    }

    /// The table of all code that a process has mapped, sorted by address.
    pub(crate) fn table(&self, memory: &Memory) -> Vec<Unwind> {
        let mut rows = Vec::new();
        for module in memory.code() {
            let Some(bias) = memory.bias(&module) else {
                continue;
            };
            let table = self.rows(&module);
            rows.extend(table.iter().map(|row| to_wire(row, bias)));
        }
        rows.sort_by_key(|row: &Unwind| row.start);
        rows
    }

    /// Writes the table of all code that a process has mapped.
    pub(crate) fn write(&self, memory: &Memory, path: &Path) -> io::Result<()> {
        write(&self.table(memory), path)
    }
}

/// Writes a table for its process.
pub(crate) fn write(rows: &[Unwind], path: &Path) -> io::Result<()> {
    let header = size_of::<UnwindHeader>();
    let mut block = shared_file::create(path, header + size_of_val(rows))?;
    // SAFETY: the mapping is page-aligned and exactly as long as header and rows; the header's size, a multiple of eight, keeps
    // the rows aligned.
    unsafe {
        let base = block.as_mut_ptr();
        base.cast::<UnwindHeader>().write(UnwindHeader {
            magic: UNWIND_MAGIC,
            version: VERSION,
            row_count: rows.len() as u32,
        });
        base.add(header)
            .cast::<Unwind>()
            .copy_from_nonoverlapping(rows.as_ptr(), rows.len());
    }
    Ok(())
}

fn to_wire(row: &UnwindRow, bias: u64) -> Unwind {
    let end = (base::END, 0);
    let (kind, cfa_offset) = match row.rule {
        UnwindRule::End => end,
        UnwindRule::Cfa { base, offset } => match base {
            Base::Rsp => (base::RSP, offset),
            Base::Rbp => (base::RBP, offset),
        },
        UnwindRule::Plt => (base::PLT, 0),
    };
    // An offset that the row cannot hold ends the walk there.
    let rbp_offset = row.rbp.map_or(Some(0), |offset| i16::try_from(offset).ok());
    Unwind {
        start: row.start.wrapping_add(bias),
        cfa_offset,
        rbp_offset: rbp_offset.unwrap_or(0),
        base: if rbp_offset.is_some() {
            kind
        } else {
            base::END
        },
        unused: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_finds_its_own_callers() {
        let folder = tempfile::tempdir().unwrap();
        let memory = Memory::of(std::process::id()).unwrap();
        let path = folder.path().join("t");
        Cache::default().write(&memory, &path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let rows = (bytes.len() - size_of::<UnwindHeader>()) / size_of::<Unwind>();
        assert!(rows > 1000, "{rows}");
        let starts: Vec<u64> = bytes[size_of::<UnwindHeader>()..]
            .chunks_exact(size_of::<Unwind>())
            .map(|row| u64::from_le_bytes(row[..8].try_into().unwrap()))
            .collect();
        assert!(starts.is_sorted());
        let here = this_test_finds_its_own_callers as *const () as u64;
        let row = starts.partition_point(|start| *start <= here);
        assert_eq!(
            starts[row - 1],
            here,
            "a function begins with a row of its own"
        );
    }

    #[test]
    fn what_a_row_cannot_hold_ends_the_walk() {
        let row = |rbp| UnwindRow {
            start: 16,
            rule: UnwindRule::Cfa {
                base: Base::Rsp,
                offset: 24,
            },
            rbp,
        };
        let plain = to_wire(&row(Some(-16)), 0x1000);
        assert_eq!(
            (plain.start, plain.base, plain.cfa_offset, plain.rbp_offset),
            (0x1010, base::RSP, 24, -16)
        );
        assert_eq!(to_wire(&row(None), 0).rbp_offset, 0);
        assert_eq!(to_wire(&row(Some(-70_000)), 0).base, base::END);
    }
}
