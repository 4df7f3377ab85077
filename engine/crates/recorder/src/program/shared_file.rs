//! Files that the recorder and the profiled processes map together.
//!
//! Other processes write to them at any time, so they are kept as raw mappings: no slice of them exists once they are shared.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use memmap2::{MmapMut, MmapRaw};

use super::open_folder;

/// Creates a file of `length` zero bytes and maps it. Turn the mapping into a [`MmapRaw`] before a process learns of the file.
pub(crate) fn create(path: &Path, length: usize) -> io::Result<MmapMut> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .open(path)?;
    open_folder::share(&file)?;
    file.set_len(length as u64)?;
    // SAFETY: the file is new, and no other process knows of it yet.
    unsafe { MmapMut::map_mut(&file) }
}

/// Maps a file that a process has created.
pub(crate) fn open(file: &File) -> io::Result<MmapRaw> {
    MmapRaw::map_raw(file)
}
