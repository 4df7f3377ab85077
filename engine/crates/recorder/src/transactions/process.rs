//! A process under transactional profiling: its log, and the unwind table for it and for its samples.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use fulcrum_wire::Unwind;
use fulcrum_wire::transactions::{
    COPIES_SUFFIX, HEADER, MAGIC, UNWIND_SUFFIX, VERSION, state, word,
};
use memmap2::{MmapOptions, MmapRaw};

use super::code::Copies;
use crate::program::proc::{Memory, is_alive};
use crate::program::unwind;

/// A process that has a log.
pub(crate) struct Logged {
    /// `<pid>-<turn>`.
    stem: String,
    folder: PathBuf,
    header: MmapRaw,
    /// The process id.
    pub pid: u32,
    /// The unwind table for its samples.
    pub table: Arc<Vec<Unwind>>,
    /// The origins of the copies that it executes.
    pub copies: Option<Arc<Copies>>,
}

/// Why a log cannot be answered.
pub(crate) enum Unready {
    /// The process has not finished the header.
    Later,
    /// It is of another version of Fulcrum, or cannot be read. The text is a sentence.
    Never(String),
}

impl Logged {
    /// Maps the header of a log.
    pub(crate) fn open(path: &Path, stem: &str) -> Result<Logged, Unready> {
        let never = |error: io::Error| Unready::Never(format!("{}: {error}.", path.display()));
        let file = OpenOptions::new().read(true).write(true).open(path);
        let file = file.map_err(never)?;
        if file.metadata().map_err(never)?.len() < HEADER {
            return Err(Unready::Later);
        }
        let length = HEADER as usize;
        let header = MmapOptions::new().len(length).map_raw(&file);
        let mut process = Logged {
            stem: stem.into(),
            folder: path.parent().unwrap_or(Path::new("/")).into(),
            header: header.map_err(never)?,
            pid: 0,
            table: Arc::default(),
            copies: None,
        };
        match process.get(word::MAGIC) {
            MAGIC => {}
            0 => return Err(Unready::Later),
            _ => return Err(Unready::Never(format!("{} is not a log.", path.display()))),
        }
        if process.get(word::VERSION) != VERSION {
            let text = "was written by another version of Fulcrum's library: reinstall Fulcrum.";
            return Err(Unready::Never(format!("{} {text}", path.display())));
        }
        process.pid = process.get(word::PID) as u32;
        Ok(process)
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        assert!(at < word::COUNT);
        // SAFETY: the word lies within the mapped header, which is page-aligned. Both sides use its words only as atomics.
        unsafe { &*self.header.as_ptr().cast::<AtomicU64>().add(at) }
    }

    fn get(&self, at: usize) -> u64 {
        u64::from_le(self.word(at).load(Ordering::Acquire))
    }

    /// Whether the process still writes this log, or may.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.get(word::STATE), state::OPEN | state::FULL) && is_alive(self.pid)
    }

    /// The number of bytes in use in the log.
    pub(crate) fn bytes(&self) -> u64 {
        self.get(word::NEXT)
            .clamp(HEADER, self.get(word::LIMIT).max(HEADER))
    }

    /// How often it has sent something.
    pub(crate) fn messages(&self) -> u64 {
        self.get(word::MESSAGES)
    }

    /// The number of records that did not fit.
    pub(crate) fn dropped(&self) -> u64 {
        self.get(word::DROPPED)
    }

    /// The stem of the log of the process that this one was forked from.
    pub(crate) fn parent(&self) -> Option<String> {
        match self.get(word::PARENT) {
            0 => None,
            pid => Some(format!("{pid}-{}", self.get(word::PARENT_TURN))),
        }
    }

    /// Finds the origins of its copies, once there are any.
    pub(crate) fn find_copies(&mut self) {
        if self.copies.is_none() && self.get(word::COPIES) != 0 {
            let name = format!("{}{COPIES_SUFFIX}", self.stem);
            self.copies = Copies::open(&self.folder.join(name)).map(Arc::new);
        }
    }

    /// Makes an unwind table if the process requests one.
    pub(crate) fn answer(&mut self, tables: &unwind::Cache) {
        let requested = self.get(word::UNWIND_WANTED);
        if requested == self.get(word::UNWIND_READY) {
            return;
        }
        // A process that is gone needs no table.
        if let Ok(memory) = Memory::of(self.pid) {
            let table = tables.table(&memory);
            let name = format!("{}.{requested}{UNWIND_SUFFIX}", self.stem);
            // Without the file, the call paths of this process are unknown, which the results show.
            let _ = unwind::write(&table, &self.folder.join(name));
            self.table = Arc::new(table);
        }
        let ready = self.word(word::UNWIND_READY);
        ready.store(requested.to_le(), Ordering::Release);
        wake(ready);
    }
}

/// Wakes waiters on the lower half of a word, in any process.
fn wake(word: &AtomicU64) {
    let low = word.as_ptr().cast::<AtomicU32>();
    // SAFETY: the call wakes waiters on a word that outlives it, and writes nothing.
    unsafe { libc::syscall(libc::SYS_futex, low, libc::FUTEX_WAKE, i32::MAX) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_a_log_is_reported_and_an_unfinished_one_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1-0.txlog");
        let written = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            match Logged::open(&path, "1-0") {
                Ok(_) => "open".to_owned(),
                Err(Unready::Later) => "later".to_owned(),
                Err(Unready::Never(why)) => why,
            }
        };
        assert_eq!(written(b""), "later");
        let mut page = vec![0; HEADER as usize];
        assert_eq!(written(&page), "later");
        page[..8].copy_from_slice(&7_u64.to_le_bytes());
        assert!(written(&page).ends_with("is not a log."));
        page[..8].copy_from_slice(&MAGIC.to_le_bytes());
        assert!(written(&page).contains("another version"));
        page[8..16].copy_from_slice(&VERSION.to_le_bytes());
        assert_eq!(written(&page), "open");
    }
}
