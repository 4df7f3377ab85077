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
    /// The first page of its log, until it has ended: a server may start more processes than one may map files.
    header: Option<Header>,
    counts: Counts,
    /// The stem of the log of the process that this one was forked from.
    pub parent: Option<String>,
    /// The process id.
    pub pid: u32,
    /// The unwind table for its samples.
    pub table: Arc<Vec<Unwind>>,
    /// The origins of the copies that it executes.
    pub copies: Option<Arc<Copies>>,
}

/// What a log has counted.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    /// The number of bytes in use in the log.
    pub bytes: u64,
    /// How often the process has sent something.
    pub messages: u64,
    /// The number of records that did not fit.
    pub dropped: u64,
}

/// The first page of a log, which the process changes meanwhile.
struct Header(MmapRaw);

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
        let header = Header(
            MmapOptions::new()
                .len(length)
                .map_raw(&file)
                .map_err(never)?,
        );
        match header.get(word::MAGIC) {
            MAGIC => {}
            0 => return Err(Unready::Later),
            _ => return Err(Unready::Never(format!("{} is not a log.", path.display()))),
        }
        if header.get(word::VERSION) != VERSION {
            let text = "was written by another version of Fulcrum's library: reinstall Fulcrum.";
            return Err(Unready::Never(format!("{} {text}", path.display())));
        }
        Ok(Logged {
            stem: stem.into(),
            folder: path.parent().unwrap_or(Path::new("/")).into(),
            counts: header.counts(),
            parent: match header.get(word::PARENT) {
                0 => None,
                pid => Some(format!("{pid}-{}", header.get(word::PARENT_TURN))),
            },
            pid: header.get(word::PID) as u32,
            header: Some(header),
            table: Arc::default(),
            copies: None,
        })
    }

    /// Whether the process still wrote this log, or could have, when its end was last looked for.
    pub(crate) fn is_open(&self) -> bool {
        self.header.is_some()
    }

    /// Looks whether the process has closed its log or, `if_alive`, has ended without doing so.
    pub(crate) fn look_for_its_end(&mut self, if_alive: bool) {
        let Some(header) = &self.header else {
            return;
        };
        let is_open = matches!(header.get(word::STATE), state::OPEN | state::FULL);
        if !is_open || if_alive && !is_alive(self.pid) {
            self.counts = header.counts();
            self.header = None;
        }
    }

    /// What its log has counted.
    pub(crate) fn counts(&self) -> Counts {
        self.header.as_ref().map_or(self.counts, Header::counts)
    }

    /// Finds the origins of its copies, once there are any. Returns whether it has.
    pub(crate) fn find_copies(&mut self) -> bool {
        if let Some(header) = &self.header
            && self.copies.is_none()
            && header.get(word::COPIES) != 0
        {
            let name = format!("{}{COPIES_SUFFIX}", self.stem);
            self.copies = Copies::open(&self.folder.join(name)).map(Arc::new);
            return self.copies.is_some();
        }
        false
    }

    /// Makes an unwind table if the process requests one. Returns whether it has.
    pub(crate) fn answer(&mut self, tables: &unwind::Cache) -> bool {
        let Some(header) = &self.header else {
            return false;
        };
        let requested = header.get(word::UNWIND_WANTED);
        if requested == header.get(word::UNWIND_READY) {
            return false;
        }
        // A process that is gone needs no table.
        let memory = Memory::of(self.pid);
        if let Ok(memory) = &memory {
            let table = tables.table(memory);
            let name = format!("{}.{requested}{UNWIND_SUFFIX}", self.stem);
            // Without the file, the call paths of this process are unknown, which the results show.
            let _ = unwind::write(&table, &self.folder.join(name));
            self.table = Arc::new(table);
        }
        let ready = header.word(word::UNWIND_READY);
        ready.store(requested.to_le(), Ordering::Release);
        wake(ready);
        memory.is_ok()
    }
}

impl Header {
    fn word(&self, at: usize) -> &AtomicU64 {
        assert!(at < word::COUNT);
        // SAFETY: the word lies within the mapped header, which is page-aligned. Both sides use its words only as atomics.
        unsafe { &*self.0.as_ptr().cast::<AtomicU64>().add(at) }
    }

    fn get(&self, at: usize) -> u64 {
        u64::from_le(self.word(at).load(Ordering::Acquire))
    }

    fn counts(&self) -> Counts {
        let most = self.get(word::LIMIT).max(HEADER);
        Counts {
            bytes: self.get(word::NEXT).clamp(HEADER, most),
            messages: self.get(word::MESSAGES),
            dropped: self.get(word::DROPPED),
        }
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
