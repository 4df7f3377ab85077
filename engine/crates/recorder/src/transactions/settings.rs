//! The session's settings, which profiled processes read, and which tell them that the engine is there.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use fulcrum_wire::transactions::{MAGIC, MAX_HEAD, SETTINGS_FILE, VERSION, setting};
use memmap2::MmapMut;

use super::TransactionOptions;
use crate::control::map_new;

/// The file `settings`, mapped. Dropped, it says that the engine has ended.
pub struct Settings(MmapMut);

impl Settings {
    /// Writes it into the session's folder.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn create(folder: &Path, options: &TransactionOptions) -> io::Result<Settings> {
        let settings = Settings(map_new(&folder.join(SETTINGS_FILE), 8 * setting::COUNT)?);
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

    fn word(&self, at: usize) -> &AtomicU64 {
        assert!(at < setting::COUNT);
        // SAFETY: within the mapping, which is page-aligned; processes only read it.
        unsafe { &*self.0.as_ptr().cast::<AtomicU64>().add(at) }
    }
}

impl Drop for Settings {
    fn drop(&mut self) {
        self.word(setting::ENGINE).store(0, Ordering::Release);
    }
}
