//! The log: its file, header and end.

use std::fs::File;
use std::io;
use std::os::fd::FromRawFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fulcrum_wire::log::{LOG_HEADER, LOG_MAGIC, MIN_CHUNK, PLAIN_VERSION, log_state, word};

use crate::places::{Full, Place, Places, out_of_the_way};

/// A moment on all clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// The clock of events, in ticks.
    pub ticks: u64,
    /// `CLOCK_MONOTONIC`, nanoseconds.
    pub ns: u64,
    /// The calling thread's CPU time, in nanoseconds. 0 if unknown.
    pub cpu_ns: u64,
}

/// The options of a log.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The maximum size of the file, in bytes.
    pub limit: u64,
    /// The process id, for the header.
    pub pid: u32,
    /// The time of day, in nanoseconds since 1970, for the header.
    pub unix_ns: u64,
    /// One of `fulcrum_wire::log::cpu_clock`.
    pub cpu_clock: u64,
    /// `fulcrum_wire::log::VALUES_VERSION` if calls may have values, otherwise `PLAIN_VERSION`, which older versions can read, too.
    pub version: u64,
    /// Reads the clocks for the calling thread.
    pub now: fn() -> Moment,
}

/// A log that is being written. Threads write through their [`ThreadWriter`](crate::ThreadWriter)s.
pub struct Log {
    /// Before the places, which keep it mapped.
    header: Place,
    places: Mutex<Places>,
    now: fn() -> Moment,
    closed: AtomicBool,
}

impl Log {
    /// Creates the file, which must not exist.
    ///
    /// Its descriptor gets a high number, because the program may expect low ones for its own files.
    pub fn create(path: &Path, options: &Options) -> io::Result<Arc<Log>> {
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)?;
        Log::begin(file, Some(path), options)
    }

    /// A log in memory, of at most `limit` bytes, for measuring the cost of writing.
    pub fn in_memory(limit: u64, now: fn() -> Moment) -> io::Result<Arc<Log>> {
        // SAFETY: the name is a C string that outlives the call.
        let fd = unsafe { libc::memfd_create(c"fulcrum".as_ptr(), libc::MFD_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just created, and nothing else owns it.
        let file = unsafe { File::from_raw_fd(fd) };
        let options = Options {
            limit,
            pid: 0,
            unix_ns: 0,
            cpu_clock: 0,
            version: PLAIN_VERSION,
            now,
        };
        Log::begin(file, None, &options)
    }

    fn begin(file: File, path: Option<&Path>, options: &Options) -> io::Result<Arc<Log>> {
        let limit = options.limit.min(largest_file());
        if limit < LOG_HEADER + u64::from(MIN_CHUNK) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("a log of at most {limit} bytes holds nothing"),
            ));
        }
        let mut places = Places::new(out_of_the_way(file), path, limit)?;
        // SAFETY: the log keeps the places as long as the header, which is dropped first. Nothing was taken before.
        let header = unsafe { places.header() }.map_err(|full| {
            io::Error::other(match full {
                Full::Limit => "its size limit holds nothing",
                Full::Disk => "the disk is full",
                Full::Refused => "the system refuses",
            })
        })?;
        let now = (options.now)();
        for (at, value) in [
            (word::VERSION, options.version),
            (word::PID, u64::from(options.pid)),
            (word::START_UNIX_NS, options.unix_ns),
            (word::START_TICKS, now.ticks),
            (word::START_NS, now.ns),
            (word::LIMIT, limit),
            (word::CPU_CLOCK, options.cpu_clock),
            // Last: a file without it is not a log yet.
            (word::MAGIC, LOG_MAGIC),
        ] {
            header.words[at].store(value.to_le(), Ordering::Release);
        }
        Ok(Arc::new(Log {
            header,
            places: Mutex::new(places),
            now: options.now,
            closed: AtomicBool::new(false),
        }))
    }

    /// Stores the cost of probes, in picoseconds: [`word::COST_INSIDE`], [`word::COST_OUTSIDE`], [`word::COST_SKIPPED`].
    pub fn set_costs(&self, inside: u64, outside: u64, skipped: u64) {
        self.set(word::COST_INSIDE, inside);
        self.set(word::COST_OUTSIDE, outside);
        self.set(word::COST_SKIPPED, skipped);
    }

    /// Ends the log normally. Threads that still write fill their chunks and get no more.
    pub fn finish(&self) {
        if !self.closed.swap(true, Ordering::AcqRel) {
            self.end(log_state::ENDED, &(self.now)());
        }
        self.places().trim();
    }

    /// Whether no more chunks are given out.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// The calling thread's clocks.
    pub(crate) fn now(&self) -> Moment {
        (self.now)()
    }

    fn end(&self, state: u64, now: &Moment) {
        self.set(word::END_TICKS, now.ticks);
        self.set(word::END_NS, now.ns);
        self.set(word::STATE, state);
    }

    fn set(&self, at: usize, value: u64) {
        self.header.words[at].store(value.to_le(), Ordering::Release);
    }

    fn places(&self) -> std::sync::MutexGuard<'_, Places> {
        // A panic leaves nothing half-done in there that matters.
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a chunk. `None` if the log is closed. Closes the log if there is no room.
    ///
    /// # Safety
    /// The caller must keep the log as long as the place.
    pub(crate) unsafe fn take(&self, size: u32) -> Option<Place> {
        if self.is_closed() {
            return None;
        }
        // SAFETY: the log keeps the places, and the caller the log.
        let taken = unsafe { self.places().take(size) };
        let full = match taken {
            Ok(place) => return Some(place),
            Err(full) => full,
        };
        if !self.closed.swap(true, Ordering::AcqRel) {
            let state = match full {
                Full::Limit => log_state::FULL,
                Full::Disk => log_state::DISK_FULL,
                Full::Refused => log_state::REFUSED,
            };
            self.end(state, &(self.now)());
        }
        None
    }

    /// Takes back an unused part of a place.
    ///
    /// # Safety
    /// The part must come from [`Log::take`], and must not be used or given back again.
    pub(crate) unsafe fn give_back(&self, offset: u64, size: u32) {
        // SAFETY: the caller promises the same.
        unsafe { self.places().give_back(offset, size) };
    }

    /// Counts an event for which there was no room.
    pub(crate) fn drop_event(&self) {
        let dropped: &AtomicU64 = &self.header.words[word::DROPPED];
        // The header is little-endian. Builds for big-endian machines fail here.
        const { assert!(cfg!(target_endian = "little")) };
        dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// The limit on file sizes (`ulimit -f`), which kills programs that exceed it.
fn largest_file() -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the struct is ours and outlives the call.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
    limit.rlim_cur
}
