//! The settings of a session. Profiled processes read them, and see by them whether the engine is there.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use fulcrum_wire::transactions::{MAGIC, MAX_HEAD, SETTINGS_FILE, VERSION, setting};
use memmap2::MmapRaw;

use super::TransactionOptions;
use crate::program::shared_file;

/// The mapped file `settings`. Dropping it tells the processes that the engine has ended.
pub(crate) struct Settings(MmapRaw);

impl Settings {
    /// Writes it into the session's folder.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub(crate) fn create(folder: &Path, options: &TransactionOptions) -> io::Result<Settings> {
        let block = shared_file::create(&folder.join(SETTINGS_FILE), 8 * setting::COUNT)?;
        let settings = Settings(block.into());
        let head = if options.names { MAX_HEAD as u64 } else { 0 };
        for (at, value) in [
            (setting::VERSION, VERSION),
            (setting::LIMIT, options.limit),
            (setting::HEAD, head),
            (setting::SHARED_MEMORY, u64::from(options.shared_memory)),
            (setting::ENGINE, u64::from(std::process::id())),
            (setting::MAGIC, MAGIC),
        ] {
            settings.word(at).store(value.to_le(), Ordering::Release);
        }
        Ok(settings)
    }

    /// How often recording has paused and gone on: processes pause while this is odd.
    pub(crate) fn set_window(&self, number: u64) {
        self.word(setting::WINDOW)
            .store(number.to_le(), Ordering::Release);
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        assert!(at < setting::COUNT);
        // SAFETY: the word lies within the mapping, which is page-aligned, and is only used as an atomic.
        unsafe { &*self.0.as_ptr().cast::<AtomicU64>().add(at) }
    }
}

impl Drop for Settings {
    fn drop(&mut self) {
        self.word(setting::ENGINE).store(0, Ordering::Release);
    }
}
