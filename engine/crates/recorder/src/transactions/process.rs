//! A process under transactional profiling: its log, and the unwind table that it and its samples are answered with.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use fulcrum_wire::Unwind;
use fulcrum_wire::transactions::{
    COPIES_SUFFIX, HEADER, MAGIC, UNWIND_SUFFIX, VERSION, state, word,
};
use memmap2::{MmapMut, MmapOptions};

use super::code::Copies;
use crate::plan::Memory;
use crate::process::is_alive;
use crate::unwind;

/// A process that has a log.
pub struct Logged {
    /// `<pid>-<turn>`.
    stem: String,
    folder: PathBuf,
    header: MmapMut,
    /// The process's number.
    pub pid: u32,
    /// Of its samples: where callers are.
    pub table: Arc<Vec<Unwind>>,
    /// Of its samples: what the copies are of that it runs.
    pub copies: Option<Arc<Copies>>,
}

/// Why a file is no log that can be answered.
pub enum Unready {
    /// Its process has not finished its header.
    Later,
    /// It is of another version of Fulcrum, or cannot be read. A sentence.
    Never(String),
}

impl Logged {
    /// Maps the header of a log.
    pub fn open(path: &Path, stem: &str) -> Result<Logged, Unready> {
        let never = |error: io::Error| Unready::Never(format!("{}: {error}.", path.display()));
        let file = OpenOptions::new().read(true).write(true).open(path);
        let file = file.map_err(never)?;
        if file.metadata().map_err(never)?.len() < HEADER {
            return Err(Unready::Later);
        }
        let length = HEADER as usize;
        // SAFETY: the log is in our run folder; its words are read and written as atomics by both sides.
        let header = unsafe { MmapOptions::new().len(length).map_mut(&file) };
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
            _ => return Err(Unready::Never(format!("{} is no log.", path.display()))),
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
        // SAFETY: within the mapped header, which is page-aligned.
        unsafe { &*self.header.as_ptr().cast::<AtomicU64>().add(at) }
    }

    fn get(&self, at: usize) -> u64 {
        u64::from_le(self.word(at).load(Ordering::Acquire))
    }

    /// Whether the process still writes this log, or may.
    pub fn is_open(&self) -> bool {
        matches!(self.get(word::STATE), state::OPEN | state::FULL) && is_alive(self.pid)
    }

    /// Bytes of the log that are in use.
    pub fn bytes(&self) -> u64 {
        self.get(word::NEXT)
            .clamp(HEADER, self.get(word::LIMIT).max(HEADER))
    }

    /// Records that had no place.
    pub fn dropped(&self) -> u64 {
        self.get(word::DROPPED)
    }

    /// The stem of the log of the process that this one was forked from.
    pub fn parent(&self) -> Option<String> {
        match self.get(word::PARENT) {
            0 => None,
            pid => Some(format!("{pid}-{}", self.get(word::PARENT_TURN))),
        }
    }

    /// Finds where its copies come from, once there are some.
    pub fn find_copies(&mut self) {
        if self.copies.is_none() && self.get(word::COPIES) != 0 {
            let name = format!("{}{COPIES_SUFFIX}", self.stem);
            self.copies = Copies::open(&self.folder.join(name)).map(Arc::new);
        }
    }

    /// Makes the unwind table that the process asks for, if it asks for one.
    pub fn answer(&mut self, tables: &unwind::Cache) {
        let wanted = self.get(word::UNWIND_WANTED);
        if wanted == self.get(word::UNWIND_READY) {
            return;
        }
        // A process that is gone needs no answer.
        if let Ok(memory) = Memory::of(self.pid) {
            let table = tables.table(&memory);
            let name = format!("{}.{wanted}{UNWIND_SUFFIX}", self.stem);
            // Without the file, call paths of this process are not known, which its paths say.
            let _ = unwind::write(&table, &self.folder.join(name));
            self.table = Arc::new(table);
        }
        let ready = self.word(word::UNWIND_READY);
        ready.store(wanted.to_le(), Ordering::Release);
        wake(ready);
    }
}

/// Wakes whoever waits on the lower half of a word in any process.
fn wake(word: &AtomicU64) {
    let low = word.as_ptr().cast::<AtomicU32>();
    // SAFETY: wakes waiters on a word that outlives the call.
    unsafe { libc::syscall(libc::SYS_futex, low, libc::FUTEX_WAKE, i32::MAX) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_and_one_that_was_waited_for_is_not() {
        assert!(is_alive(std::process::id()));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        assert!(!is_alive(pid));
    }

    #[test]
    fn a_file_that_is_no_log_is_told_and_an_unfinished_one_waited_for() {
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
        assert!(written(&page).ends_with("is no log."));
        page[..8].copy_from_slice(&MAGIC.to_le_bytes());
        assert!(written(&page).contains("another version"));
        page[8..16].copy_from_slice(&VERSION.to_le_bytes());
        assert_eq!(written(&page), "open");
    }
}
