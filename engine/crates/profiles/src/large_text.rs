//! Texts of folded stacks that are larger than their trees: they are read piece by piece and never held.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use fulcrum_model::{Cancelled, Digest, Progress};
use fulcrum_profile_formats::{Limits, Profile, ReadAt};

use crate::error::Error;

/// Bytes at the beginning of a file that its format is detected by.
const HEAD: usize = 1 << 20;
/// Bytes of the file at a time for its digest.
const CHUNK: usize = 1 << 20;

/// A large text of folded stacks in a file.
pub(crate) struct LargeText {
    file: File,
    length: u64,
    head: Vec<u8>,
}

impl ReadAt for LargeText {
    fn length(&self) -> u64 {
        self.length
    }

    fn read_exact_at(&self, into: &mut [u8], at: u64) -> io::Result<()> {
        self.file.read_exact_at(into, at)
    }
}

impl LargeText {
    /// The text in a file of more than `large` bytes and within the limits. `None` when the file is anything else or cannot be read;
    /// reading it as a whole then says why.
    pub(crate) fn open(path: &Path, large: u64, limits: Limits) -> Option<LargeText> {
        // Checked before it is opened: the writer of a pipe may be done after its first reader.
        let about = fs::metadata(path).ok()?;
        let sizes = large.max(HEAD as u64)..=limits.bytes as u64;
        if !about.is_file() || !sizes.contains(&about.len()) {
            return None;
        }
        let mut text = LargeText {
            file: File::open(path).ok()?,
            length: about.len(),
            head: vec![0; HEAD],
        };
        text.file.read_exact_at(&mut text.head, 0).ok()?;
        fulcrum_profile_formats::begins_folded(&text.head).then_some(text)
    }

    /// The digest of its bytes.
    ///
    /// # Errors
    /// When it cannot be read, or the work was cancelled.
    pub(crate) fn digest(&self, progress: &Progress) -> Result<io::Result<String>, Cancelled> {
        let (mut digest, mut chunk) = (Digest::default(), vec![0; CHUNK]);
        let mut at = 0;
        while at < self.length {
            progress.check()?;
            let size = (self.length - at).min(CHUNK as u64);
            let chunk = &mut chunk[..size as usize];
            if let Err(error) = self.file.read_exact_at(chunk, at) {
                return Ok(Err(error));
            }
            digest.add(chunk);
            at += size;
        }
        Ok(Ok(digest.finish()))
    }

    /// Its profile.
    ///
    /// # Errors
    /// When it is damaged or cannot be read, or `progress` was cancelled.
    pub(crate) fn profile(
        &self,
        name: &str,
        limits: Limits,
        progress: &Progress,
    ) -> Result<Profile, Error> {
        let text = fulcrum_profile_formats::LargeText {
            bytes: self,
            head: &self.head,
        };
        let read = fulcrum_profile_formats::read_large_text(&text, name, limits, progress);
        let read = read.map_err(|error| Error::File(error.to_string()))?;
        read.ok_or(Error::Cancelled)
    }
}
