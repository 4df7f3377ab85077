//! The log as a whole: its file, its header and its end.

use std::fs::File;
use std::io;
use std::os::fd::FromRawFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fulcrum_wire::log::{LOG_HEADER, LOG_MAGIC, MIN_CHUNK, PLAIN_VERSION, log_state, word};

use crate::places::{Full, Place, Places, out_of_the_way};

/// A moment on all clocks at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// The clock of events, in its own unit.
    pub ticks: u64,
    /// `CLOCK_MONOTONIC`, nanoseconds.
    pub ns: u64,
    /// The calling thread's CPU time, nanoseconds; 0 when it is not known.
    pub cpu_ns: u64,
}

/// How a log is to be.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The file grows no larger than this, bytes.
    pub limit: u64,
    /// The process, for the header.
    pub pid: u32,
    /// The time of day, nanoseconds since 1970, for the header.
    pub unix_ns: u64,
    /// One of `fulcrum_wire::log::cpu_clock`.
    pub cpu_clock: u64,
    /// `fulcrum_wire::log::VALUES_VERSION` when calls may have values, else `PLAIN_VERSION`, which older versions read too.
    pub version: u64,
    /// Reads the clocks for the calling thread.
    pub now: fn() -> Moment,
}

/// A log that is being written. Threads write through their [`ThreadWriter`](crate::ThreadWriter)s.
pub struct Log {
    places: Mutex<Places>,
    header: Place,
    now: fn() -> Moment,
    closed: AtomicBool,
}

impl Log {
    /// Creates the file, which must not exist.
    ///
    /// Its descriptor is moved out of the way of numbers that the program may expect for its own files.
    pub fn create(path: &Path, options: &Options) -> io::Result<Arc<Log>> {
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)?;
        Log::begin(file, Some(path), options)
    }

    /// A log that is only in memory, of at most `limit` bytes: to see what writing costs.
    pub fn in_memory(limit: u64, now: fn() -> Moment) -> io::Result<Arc<Log>> {
        // SAFETY: a plain call with a string that outlives it.
        let fd = unsafe { libc::memfd_create(c"fulcrum".as_ptr(), libc::MFD_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and nobody else's.
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
        let header = places.header().map_err(|full| {
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
            // Last: a file without it is no log yet.
            (word::MAGIC, LOG_MAGIC),
        ] {
            header.words[at].store(value.to_le(), Ordering::Release);
        }
        Ok(Arc::new(Log {
            places: Mutex::new(places),
            header,
            now: options.now,
            closed: AtomicBool::new(false),
        }))
    }

    /// Stores what probes cost, picoseconds: [`word::COST_INSIDE`], [`word::COST_OUTSIDE`], [`word::COST_SKIPPED`].
    pub fn set_costs(&self, inside: u64, outside: u64, skipped: u64) {
        self.set(word::COST_INSIDE, inside);
        self.set(word::COST_OUTSIDE, outside);
        self.set(word::COST_SKIPPED, skipped);
    }

    /// Ends the log in order. Threads that still write fill their chunks and get no more.
    pub fn finish(&self) {
        if !self.closed.swap(true, Ordering::AcqRel) {
            self.end(log_state::ENDED, &(self.now)());
        }
        self.places().trim();
    }

    /// Whether it takes no more chunks.
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
        // Nothing in there can be left half done by a panic that matters.
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a chunk. `None` when the log is closed, and it is closed when there is no room.
    pub(crate) fn take(&self, size: u32) -> Option<Place> {
        if self.is_closed() {
            return None;
        }
        let full = match self.places().take(size) {
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

    /// Takes back what was not used of a place.
    pub(crate) fn give_back(&self, offset: u64, size: u32) {
        self.places().give_back(offset, size);
    }

    /// Counts an event that found no place.
    pub(crate) fn drop_event(&self) {
        let dropped: &AtomicU64 = &self.header.words[word::DROPPED];
        // Read as little-endian: this library is for little-endian machines, and says so when it is built for others.
        const { assert!(cfg!(target_endian = "little")) };
        dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// A limit on files' sizes (`ulimit -f`) ends a program that exceeds it.
fn largest_file() -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the struct is ours and outlives the call.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
    limit.rlim_cur
}
