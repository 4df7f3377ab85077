//! The bytes of a log, from a file or from memory.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A file, or bytes in memory.
#[derive(Debug)]
pub(crate) enum LogBytes {
    File(File),
    Bytes(Vec<u8>),
}

impl LogBytes {
    pub(crate) fn length(&self) -> io::Result<u64> {
        match self {
            LogBytes::File(file) => Ok(file.metadata()?.len()),
            LogBytes::Bytes(bytes) => Ok(bytes.len() as u64),
        }
    }

    /// Reads bytes from `offset` on, as far as there are any, and returns how many. A file is never mapped, because it may still be
    /// written, or be truncated at any time.
    pub(crate) fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        match self {
            LogBytes::File(file) => {
                let mut done = 0;
                while done < into.len() {
                    match file.read_at(&mut into[done..], offset + done as u64) {
                        Ok(0) => break,
                        Ok(count) => done += count,
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok(done)
            }
            LogBytes::Bytes(bytes) => {
                let from = usize::try_from(offset)
                    .unwrap_or(usize::MAX)
                    .min(bytes.len());
                let rest = &bytes[from..];
                let count = rest.len().min(into.len());
                into[..count].copy_from_slice(&rest[..count]);
                Ok(count)
            }
        }
    }
}

/// Decodes little-endian 64-bit words.
pub(crate) fn words<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let mut words = [0; N];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = u64::from_le_bytes(bytes.try_into().expect("chunks of 8"));
    }
    words
}
