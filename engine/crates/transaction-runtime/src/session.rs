//! The session: its folder and its settings, which the engine writes before the program starts.

use core::ffi::CStr;
use core::fmt::{self, Write};
use core::slice;
use core::sync::atomic::{AtomicU64, Ordering};

use fulcrum_preload::kept::Kept;
use fulcrum_preload::sys;
use fulcrum_wire::transactions::{
    MAGIC, MAX_HEAD, SESSION_VARIABLE, SETTINGS_FILE, VERSION, setting,
};

/// The longest path of a file in the folder, including its terminating zero.
const PATH: usize = libc::PATH_MAX as usize;

/// The session's settings.
pub(crate) struct Session {
    settings: &'static [AtomicU64],
    folder: &'static str,
}

static SESSION: Kept<Session> = Kept::new();

/// Keeps a value for the life of the process, without an allocator.
pub(crate) fn keep<T>(value: T) -> Option<&'static T> {
    let at = sys::map_anonymous(size_of::<T>().max(1))?.cast::<T>();
    // SAFETY: fresh, page-aligned memory of this size that is never unmapped.
    unsafe {
        at.write(value);
        Some(&*at)
    }
}

impl Session {
    fn setting(&self, at: usize) -> u64 {
        u64::from_le(self.settings[at].load(Ordering::Acquire))
    }

    /// The maximum size of a log, in bytes.
    pub(crate) fn limit(&self) -> u64 {
        self.setting(setting::LIMIT)
    }

    /// The number of bytes kept from the start of each message.
    pub(crate) fn head(&self) -> usize {
        (self.setting(setting::HEAD) as usize).min(MAX_HEAD)
    }

    /// Whether flow through shared memory is detected.
    pub(crate) fn watches_memory(&self) -> bool {
        self.setting(setting::SHARED_MEMORY) != 0
    }

    /// How often recording has paused and gone on: it pauses while this is odd. Little-endian.
    pub(crate) fn window(&self) -> &'static AtomicU64 {
        &self.settings[setting::WINDOW]
    }

    /// Whether the engine is running.
    pub(crate) fn has_engine(&self) -> bool {
        let engine = self.setting(setting::ENGINE);
        // SAFETY: only checks whether the process exists; which process it is does not matter.
        let there = || unsafe { sys::call(libc::SYS_kill, [engine as usize, 0, 0, 0, 0, 0]) };
        engine != 0 && there() != -(libc::ESRCH as isize)
    }

    /// The folder of the logs.
    pub(crate) fn folder(&self) -> &'static str {
        self.folder
    }
}

/// The session. `None` before [`attach`] succeeded.
#[inline]
pub(crate) fn session() -> Option<&'static Session> {
    SESSION.get()
}

/// Finds the session in the environment. Returns `None` if this program is not to be profiled.
pub(crate) fn attach() -> Option<&'static Session> {
    let mut variable = [0; 64];
    variable[..SESSION_VARIABLE.len()].copy_from_slice(SESSION_VARIABLE.as_bytes());
    // SAFETY: the variable's name is a C string, and nobody changes the environment this early.
    let folder = unsafe {
        let value = libc::getenv(variable.as_ptr().cast());
        if value.is_null() {
            return None;
        }
        CStr::from_ptr(value).to_str().ok()?
    };
    let name = Name::new(format_args!("{folder}/{SETTINGS_FILE}"))?;
    let length = setting::COUNT * size_of::<u64>();
    let (settings, _) = map(&name, libc::PROT_READ, length)?;
    // SAFETY: the mapping is at least this long, and never unmapped.
    let settings = unsafe { slice::from_raw_parts(settings.cast::<AtomicU64>(), setting::COUNT) };
    // `setenv` may move the environment, so we keep our own copy of the folder.
    let copy = sys::map_anonymous(folder.len().max(1))?;
    // SAFETY: fresh memory of this length, filled with bytes that were valid UTF-8.
    let folder = unsafe {
        copy.copy_from_nonoverlapping(folder.as_ptr(), folder.len());
        str::from_utf8_unchecked(slice::from_raw_parts(copy, folder.len()))
    };
    let session = Session { settings, folder };
    let is_ours =
        session.setting(setting::MAGIC) == MAGIC && session.setting(setting::VERSION) == VERSION;
    if !is_ours || !session.has_engine() {
        return None;
    }
    let session = keep(session)?;
    SESSION.set(session);
    Some(session)
}

/// A file in the folder, as a C path.
pub(crate) struct Name {
    bytes: [u8; PATH],
    length: usize,
}

impl Name {
    /// Returns `None` if the path is too long.
    pub(crate) fn new(format: fmt::Arguments<'_>) -> Option<Name> {
        let mut name = Name {
            bytes: [0; PATH],
            length: 0,
        };
        name.write_fmt(format).ok()?;
        Some(name)
    }

    /// The address of the path, for system calls.
    pub(crate) fn address(&self) -> usize {
        self.bytes.as_ptr().addr()
    }
}

impl Write for Name {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        if end >= PATH {
            return Err(fmt::Error);
        }
        self.bytes[self.length..end].copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

/// Opens a file. Returns the negative error number on failure.
pub(crate) fn open(name: &Name, flags: i32) -> Result<usize, isize> {
    let flags = (flags | libc::O_CLOEXEC) as usize;
    // SAFETY: the name is a C string.
    let fd = unsafe { sys::call(libc::SYS_open, [name.address(), flags, 0o600, 0, 0, 0]) };
    usize::try_from(fd).map_err(|_| fd)
}

/// Closes a descriptor from [`open`].
pub(crate) fn close(fd: usize) {
    // SAFETY: closes our own descriptor.
    unsafe { sys::call(libc::SYS_close, [fd, 0, 0, 0, 0, 0]) };
}

/// Maps a whole file, shared. Returns its address and length, or `None` if it is missing or shorter than `least`.
pub(crate) fn map(name: &Name, protection: i32, least: usize) -> Option<(*mut u8, usize)> {
    let flags = if protection & libc::PROT_WRITE != 0 {
        libc::O_RDWR
    } else {
        libc::O_RDONLY
    };
    let fd = open(name, flags).ok()?;
    // SAFETY: plain system calls on a descriptor that we own.
    let (at, length) = unsafe {
        let end = [fd, 0, libc::SEEK_END as usize, 0, 0, 0];
        let length = sys::call(libc::SYS_lseek, end).max(0) as usize;
        let shared = libc::MAP_SHARED as usize;
        let args = [0, length, protection as usize, shared, fd, 0];
        (sys::call(libc::SYS_mmap, args), length)
    };
    close(fd);
    if at <= 0 {
        return None;
    }
    if length < least {
        // SAFETY: unmaps what was just mapped and passed to nobody.
        unsafe { sys::call(libc::SYS_munmap, [at as usize, length, 0, 0, 0, 0]) };
        return None;
    }
    Some((at as *mut u8, length))
}
