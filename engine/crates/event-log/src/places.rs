//! The places of chunks in the file: reserves disk space, maps it, and gives out parts of it.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use fulcrum_wire::log::{CHUNK_HEADER, LOG_HEADER, MIN_CHUNK};
use memmap2::{MmapOptions, MmapRaw};

/// The size of a mapping. No chunk crosses two of them.
const WINDOW: u64 = 16 << 20;
/// The step in which disk space is reserved.
const STEP: u64 = 1 << 20;

/// A part of the mapped file. Only valid as long as the [`Places`] from which it comes.
pub(crate) struct Place {
    /// The offset in the file.
    pub(crate) offset: u64,
    /// The words of the header.
    pub(crate) words: &'static [AtomicU64],
    /// The bytes after the header.
    pub(crate) data: &'static mut [u8],
}

/// Device and inode, which identify a file.
fn identity(file: &File) -> io::Result<(u64, u64)> {
    let metadata = file.metadata()?;
    Ok((metadata.dev(), metadata.ino()))
}

/// Why there is no more room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    /// The file has reached its limit.
    Limit,
    /// The disk is full, or the user's quota is used up.
    Disk,
    /// The system refuses for another reason, or the file is gone.
    Refused,
}

impl From<io::Error> for Full {
    fn from(error: io::Error) -> Full {
        match error.raw_os_error() {
            Some(libc::ENOSPC | libc::EDQUOT) => Full::Disk,
            Some(libc::EFBIG) => Full::Limit,
            _ => Full::Refused,
        }
    }
}

/// The file, and which parts of it are given out.
pub(crate) struct Places {
    file: File,
    /// The file's identity and path, to open it again: programs that close every descriptor close this one, too.
    identity: (u64, u64),
    path: Option<PathBuf>,
    limit: u64,
    windows: Vec<MmapRaw>,
    /// Everything before this is given out or in `free`.
    end: u64,
    /// The length of the file, which is reserved on the disk.
    reserved: u64,
    /// Parts that ended threads did not use.
    free: Vec<(u64, u32)>,
}

impl Places {
    pub(crate) fn new(file: File, path: Option<&Path>, limit: u64) -> io::Result<Places> {
        let identity = identity(&file)?;
        let path = path.map(std::path::absolute).transpose()?;
        Ok(Places {
            file,
            identity,
            path,
            limit,
            windows: Vec::new(),
            end: 0,
            reserved: 0,
            free: Vec::new(),
        })
    }

    /// Makes sure that the descriptor still refers to the log, and opens the log again if not.
    fn check_file(&mut self) -> Result<(), Full> {
        let is_ours = |file: &File| identity(file).is_ok_and(|it| it == self.identity);
        if is_ours(&self.file) {
            return Ok(());
        }
        let path = self.path.as_ref().ok_or(Full::Refused)?;
        let file = File::options().read(true).write(true).open(path)?;
        let file = out_of_the_way(file);
        if !is_ours(&file) {
            return Err(Full::Refused);
        }
        // The old descriptor now belongs to the program, or to no one. It must not be closed.
        let _ = std::mem::replace(&mut self.file, file).into_raw_fd();
        Ok(())
    }

    /// Reserves the file's header.
    ///
    /// # Safety
    /// Must be called once, before anything is taken. The caller must keep the places as long as the header.
    pub(crate) unsafe fn header(&mut self) -> Result<Place, Full> {
        self.reserve(LOG_HEADER)?;
        self.end = LOG_HEADER;
        // SAFETY: the header was just reserved and is given out once; the caller keeps the mapping.
        unsafe { self.place(0, LOG_HEADER as u32, LOG_HEADER as usize) }
    }

    /// A place of this size, or a smaller one if there is no more room. An error if there is no useful room.
    ///
    /// # Safety
    /// The caller must keep the places as long as the place.
    pub(crate) unsafe fn take(&mut self, size: u32) -> Result<Place, Full> {
        if let Some((offset, free)) = self.free.pop() {
            let taken = if free - size.min(free) < MIN_CHUNK {
                free
            } else {
                self.free.push((offset + u64::from(size), free - size));
                size
            };
            // SAFETY: the part was given back, so nobody uses it; the caller keeps the mapping.
            return unsafe { self.place(offset, taken, CHUNK_HEADER) };
        }
        let mut size = size;
        loop {
            let mut offset = self.end;
            let left = WINDOW - offset % WINDOW;
            if left < u64::from(size) {
                // Sizes are powers of two, and offsets multiples of the smallest, so the rest is of use to others.
                self.free.push((offset, left as u32));
                offset += left;
                self.end = offset;
            }
            match self.reserve(offset + u64::from(size)) {
                Ok(()) => {
                    // SAFETY: the part was just reserved, and `end` moves past it; the caller keeps the mapping.
                    let place = unsafe { self.place(offset, size, CHUNK_HEADER) }?;
                    self.end = offset + u64::from(size);
                    return Ok(place);
                }
                Err(full) if size <= MIN_CHUNK => return Err(full),
                Err(_) => size /= 2,
            }
        }
    }

    /// Takes back an unused part of a place.
    ///
    /// # Safety
    /// The part must come from [`Places::take`], and must not be used or given back again.
    pub(crate) unsafe fn give_back(&mut self, offset: u64, size: u32) {
        self.free.push((offset, size));
    }

    /// Releases disk space that was never given out.
    pub(crate) fn trim(&mut self) {
        // Space that stays reserved after a failure is harmless.
        if self.check_file().is_ok() && self.file.set_len(self.end).is_ok() {
            self.reserved = self.end;
        }
    }

    /// Makes sure that the file has disk space up to `end`.
    fn reserve(&mut self, end: u64) -> Result<(), Full> {
        while self.reserved < end {
            self.check_file()?;
            let to = (self.reserved + STEP).min(self.limit);
            if to < end && to == self.limit {
                return Err(Full::Limit);
            }
            let length = to - self.reserved;
            // SAFETY: the call only uses a descriptor that we own.
            let failed = unsafe {
                libc::fallocate(
                    self.file.as_raw_fd(),
                    0,
                    self.reserved as libc::off_t,
                    length as libc::off_t,
                )
            } != 0;
            if failed {
                // Not every file system can do this. Then we write zeros.
                let error = std::io::Error::last_os_error();
                if error.raw_os_error() != Some(libc::EOPNOTSUPP) {
                    return Err(error.into());
                }
                let zeros = vec![0; length as usize];
                self.file.write_all_at(&zeros, self.reserved)?;
            }
            self.reserved = to;
        }
        Ok(())
    }

    /// Maps a part of the file, with a header of `header` bytes.
    ///
    /// # Safety
    /// The part must be reserved, and no other place may overlap it. The caller must keep the places as long as the place.
    unsafe fn place(&mut self, offset: u64, size: u32, header: usize) -> Result<Place, Full> {
        let window = (offset / WINDOW) as usize;
        while self.windows.len() <= window {
            self.check_file()?;
            let map = MmapOptions::new()
                .offset(self.windows.len() as u64 * WINDOW)
                .len(WINDOW as usize)
                .map_raw(&self.file);
            self.windows.push(map?);
        }
        let within = (offset % WINDOW) as usize;
        assert!(within + size as usize <= WINDOW as usize && within.is_multiple_of(CHUNK_HEADER));
        // SAFETY: the range is in the mapping, as was just checked, which the caller keeps. It is in reserved disk space, and no other
        // place overlaps it, as the caller promises. The words are aligned to 64 bytes.
        unsafe {
            let start = self.windows[window].as_mut_ptr().add(within);
            Ok(Place {
                offset,
                words: std::slice::from_raw_parts(start.cast::<AtomicU64>(), header / 8),
                data: std::slice::from_raw_parts_mut(start.add(header), size as usize - header),
            })
        }
    }
}

/// Moves a file to a descriptor above those that programs use, if there is one.
pub(crate) fn out_of_the_way(file: File) -> File {
    let fd = fulcrum_preload::descriptors::out_of_the_way(file.into_raw_fd());
    // SAFETY: the descriptor is the file's own or its replacement, and nothing else owns it.
    unsafe { File::from_raw_fd(fd) }
}
