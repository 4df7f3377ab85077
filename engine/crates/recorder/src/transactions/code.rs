//! The code of a process with a log, by which its samples become call chains.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fulcrum_wire::Unwind;
use fulcrum_wire::transactions::copies::{COUNT, ENTRY, HEADER, LENGTH};
use memmap2::{MmapOptions, MmapRaw};

/// The code of a process.
#[derive(Clone, Default)]
pub(crate) struct Code {
    /// The unwind table.
    pub table: Arc<Vec<Unwind>>,
    /// Its copies, then those of its parent before the fork, and so on.
    pub copies: Vec<Arc<Copies>>,
}

impl Code {
    /// The address of the program's instruction that is executed at an address, which differs in a translated copy.
    pub(crate) fn original(&self, address: u64) -> u64 {
        let own = self.copies.iter().find(|it| it.begin_by(address));
        own.and_then(|it| it.locate(address)).unwrap_or(address)
    }
}

/// The origins of the translated copies in a process, from a file that it writes ([`fulcrum_wire::transactions::copies`]).
pub(crate) struct Copies(MmapRaw);

impl Copies {
    /// `None` when there is no such file, or it is too short.
    pub(crate) fn open(path: &Path) -> Option<Copies> {
        let file = File::open(path).ok()?;
        let is_whole = file.metadata().ok()?.len() >= LENGTH as u64;
        let map = || MmapOptions::new().len(LENGTH).map_raw_read_only(&file).ok();
        is_whole.then(map)?.map(Copies)
    }

    fn word(&self, at: usize) -> u64 {
        assert!(at < LENGTH / size_of::<u64>());
        // SAFETY: the word lies within the mapping, which is page-aligned. The process writes it as an atomic.
        let word = unsafe { &*self.0.as_ptr().cast::<AtomicU64>().add(at) };
        u64::from_le(word.load(Ordering::Acquire))
    }

    fn entry(&self, row: usize) -> (u64, u64) {
        let at = (HEADER + row * ENTRY) / size_of::<u64>();
        (self.word(at), self.word(at + 1))
    }

    fn count(&self) -> usize {
        const MOST: usize = (LENGTH - HEADER) / ENTRY;
        usize::try_from(self.word(COUNT)).map_or(MOST, |it| it.min(MOST))
    }

    /// Whether the first copy begins at or before an address.
    fn begin_by(&self, address: u64) -> bool {
        self.count() > 0 && self.entry(0).0 <= address
    }

    /// The instruction whose copy is at an address.
    fn locate(&self, address: u64) -> Option<u64> {
        let (mut low, mut high) = (0, self.count());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.entry(middle).0 <= address {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let (_, original) = self.entry(low.checked_sub(1)?);
        (original != 0).then_some(original)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek as _, SeekFrom, Write as _};

    fn copies(folder: &Path, entries: &[(u64, u64)]) -> Arc<Copies> {
        let path = folder.join(format!("{}.copies", entries[0].0));
        let mut file = File::create(&path).unwrap();
        file.write_all(&(entries.len() as u64).to_le_bytes())
            .unwrap();
        file.seek(SeekFrom::Start(HEADER as u64)).unwrap();
        for (copy, original) in entries {
            file.write_all(&copy.to_le_bytes()).unwrap();
            file.write_all(&original.to_le_bytes()).unwrap();
        }
        file.set_len(LENGTH as u64).unwrap();
        Arc::new(Copies::open(&path).unwrap())
    }

    #[test]
    fn an_address_in_a_copy_is_that_of_the_instruction_and_all_others_are_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let parents = [(1000, 10), (1008, 14), (1020, 0), (1024, 40), (1030, 0)];
        let parent = copies(folder.path(), &parents);
        let own = copies(folder.path(), &[(1024, 77), (1040, 0)]);
        let code = |copies: &[&Arc<Copies>]| Code {
            table: Arc::default(),
            copies: copies.iter().map(|it| Arc::clone(it)).collect(),
        };
        let all = [999, 1000, 1007, 1008, 1019, 1020, 1024, 1031, 5000];
        let originals = |code: &Code| all.map(|it| code.original(it));
        assert_eq!(originals(&code(&[])), all);
        assert_eq!(
            originals(&code(&[&parent])),
            [999, 10, 10, 14, 14, 1020, 40, 1031, 5000]
        );
        // After it was forked, the parent made other copies in the same place.
        assert_eq!(
            originals(&code(&[&own, &parent])),
            [999, 10, 10, 14, 14, 1020, 77, 77, 5000]
        );
    }

    #[test]
    fn a_damaged_file_is_refused_or_gives_arbitrary_addresses() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("short.copies");
        std::fs::write(&path, [255; 5000]).unwrap();
        assert!(Copies::open(&path).is_none());
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(LENGTH as u64).unwrap();
        let copies = Copies::open(&path).unwrap();
        for address in [0, 1, u64::MAX] {
            copies.locate(address);
        }
    }
}
