//! The run folder, kept open: a process may become another user, or change its root, and still has records to write.
//!
//! When root profiles, the recorder makes the folder and its files writable for everybody during the run (`open_folder`),
//! because nobody knows which user a process will become. That user may not be able to reach the folder by its path.

use core::ffi::CStr;
use core::fmt::Write;
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicU64, Ordering};

use fulcrum_preload::{descriptors, sys};
use fulcrum_runtime_core::record::Text;

/// Longest path of a file in the run folder.
pub(crate) const PATH: usize = libc::PATH_MAX as usize;

static FOLDER: AtomicPtr<&'static str> = AtomicPtr::new(core::ptr::null_mut());
/// The open folder, or -1.
static FD: AtomicI32 = AtomicI32::new(-1);
static INODE: AtomicU64 = AtomicU64::new(0);

/// A file of the run folder, as a C path.
pub(crate) struct Name {
    bytes: [u8; PATH],
    length: usize,
}

impl Name {
    /// `None` when the path is too long.
    pub(crate) fn new(format: core::fmt::Arguments<'_>) -> Option<Name> {
        let mut name = Name {
            bytes: [0; PATH],
            length: 0,
        };
        let mut text = Text::new(&mut name.bytes[..PATH - 1]);
        let _ = text.write_fmt(format);
        name.length = text.finish()?.len();
        Some(name)
    }

    /// The path.
    pub(crate) fn as_c(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or(c"")
    }

    /// The path relative to the run folder; `None` for a file outside it.
    fn in_folder(&self) -> Option<&CStr> {
        let rest = self.bytes.strip_prefix(path()?.as_bytes())?;
        CStr::from_bytes_until_nul(rest.strip_prefix(b"/")?).ok()
    }
}

fn path() -> Option<&'static str> {
    // SAFETY: null, or set by [`set`] and never freed.
    unsafe { FOLDER.load(Ordering::Acquire).as_ref().copied() }
}

/// The run folder's path. Only after [`set`].
pub(crate) fn folder() -> &'static str {
    path().unwrap_or("")
}

/// Sets the folder, whose name lives as long as the process, and opens it. To be called while the process has one thread.
pub(crate) fn set(name: &'static &'static str) {
    FOLDER.store(core::ptr::from_ref(name).cast_mut(), Ordering::Release);
    let Some(path) = Name::new(format_args!("{name}")) else {
        return;
    };
    let flags = (libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC) as usize;
    // SAFETY: the path outlives the call.
    let fd = unsafe {
        let here = libc::AT_FDCWD as usize;
        let path = path.as_c().as_ptr() as usize;
        sys::call(libc::SYS_openat, [here, path, flags, 0, 0, 0])
    };
    if fd >= 0 {
        let fd = descriptors::protect(fd as i32);
        INODE.store(inode(fd).unwrap_or(0), Ordering::Relaxed);
        FD.store(fd, Ordering::Release);
    }
}

/// Opens a file of the folder. Returns what `open(2)` returns.
pub(crate) fn open(name: &Name, flags: i32, mode: u32) -> isize {
    let (flags, mode) = (flags as usize, mode as usize);
    let fd = FD.load(Ordering::Acquire);
    // The program may have closed the number and opened a folder of its own.
    if let Some(name) = name.in_folder()
        && fd >= 0
        && inode(fd) == Some(INODE.load(Ordering::Relaxed))
    {
        // SAFETY: the path outlives the call.
        return unsafe {
            sys::call(
                libc::SYS_openat,
                [fd as usize, name.as_ptr() as usize, flags, mode, 0, 0],
            )
        };
    }
    // SAFETY: the path outlives the call.
    unsafe {
        let here = libc::AT_FDCWD as usize;
        let path = name.as_c().as_ptr() as usize;
        sys::call(libc::SYS_openat, [here, path, flags, mode, 0, 0])
    }
}

/// Lets any user open a file again, if this process is root's and may become another user's.
pub(crate) fn share(fd: i32) {
    // SAFETY: plain system calls on a descriptor that we own.
    unsafe {
        if sys::call(libc::SYS_geteuid, [0; 6]) == 0 {
            sys::call(libc::SYS_fchmod, [fd as usize, 0o666, 0, 0, 0, 0]);
        }
    }
}

/// The inode number of an open file.
pub(crate) fn inode(fd: i32) -> Option<u64> {
    // SAFETY: zeroed is a valid stat, and the kernel fills it.
    unsafe {
        let mut status: libc::stat = core::mem::zeroed();
        let result = sys::call(
            libc::SYS_fstat,
            [fd as usize, &raw mut status as usize, 0, 0, 0, 0],
        );
        (result == 0).then_some(status.st_ino)
    }
}
