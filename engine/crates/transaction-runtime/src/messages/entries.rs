//! What is known about the program's descriptors, by number.

use core::ffi::c_int;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use fulcrum_preload::sys;
use fulcrum_wire::transactions::Via;

use crate::windows;

/// Descriptors from this number on are ignored.
const MOST: usize = 1 << 18;

/// What a descriptor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Not identified yet. Holds how the process got it.
    Unknown(Via),
    /// Something that is not logged.
    Nothing,
    /// A stream, with its place and its number.
    Stream {
        /// See [`Stream::of`](crate::messages::streams::Stream::of).
        place: u32,
        /// Never reused.
        id: u32,
    },
}

const NOTHING: u64 = 1;
const STREAM: u64 = 2;

impl Entry {
    fn to_word(self) -> u64 {
        match self {
            Entry::Unknown(via) => (via as u64) << 2,
            Entry::Nothing => NOTHING,
            Entry::Stream { place, id } => STREAM | u64::from(place) << 2 | u64::from(id) << 32,
        }
    }

    fn of(word: u64) -> Entry {
        match word & 3 {
            NOTHING => Entry::Nothing,
            STREAM => Entry::Stream {
                place: word as u32 >> 2,
                id: (word >> 32) as u32,
            },
            _ => Entry::Unknown(match word >> 2 {
                1 => Via::Accepted,
                2 => Via::Connected,
                3 => Via::Made,
                4 => Via::Inherited,
                _ => Via::Found,
            }),
        }
    }
}

/// A descriptor, in one cache line. Zeroed, it is not identified yet.
#[derive(Default)]
#[repr(align(64))]
pub(crate) struct Descriptor {
    entry: AtomicU64,
    /// The epoll descriptor that it was last registered with, plus one.
    epoll: AtomicU32,
    /// The data that it was registered with.
    data: AtomicU64,
    /// The mark of the last recorded registration, or 0.
    mark: AtomicU64,
    /// What has passed through it while it was not identified.
    passed: Passed,
}

/// What passed through a descriptor before it was identified, in pauses.
#[derive(Default)]
pub(crate) struct Passed {
    /// Bytes.
    pub(crate) sent: AtomicU64,
    /// Bytes.
    pub(crate) received: AtomicU64,
    /// Whether it has received something since it last sent, or was accepted and has not sent anything.
    pub(crate) is_asked: AtomicBool,
}

impl Passed {
    /// Bytes were sent.
    pub(crate) fn sends(&self, bytes: u64) {
        self.sent.fetch_add(bytes, Ordering::Relaxed);
        self.is_asked.store(false, Ordering::Relaxed);
    }

    /// Bytes were received.
    pub(crate) fn receives(&self, bytes: u64) {
        self.received.fetch_add(bytes, Ordering::Relaxed);
        self.is_asked.store(true, Ordering::Relaxed);
    }

    fn begin(&self, is_asked: bool) {
        self.sent.store(0, Ordering::Relaxed);
        self.received.store(0, Ordering::Relaxed);
        self.is_asked.store(is_asked, Ordering::Relaxed);
    }
}

static TABLE: AtomicPtr<Descriptor> = AtomicPtr::new(null_mut());
/// One more than the highest number with an entry.
static END: AtomicUsize = AtomicUsize::new(0);

/// Makes room. Call this before any other function of this module.
pub(crate) fn prepare() -> Option<()> {
    let table = sys::map_anonymous(MOST * size_of::<Descriptor>())?;
    TABLE.store(table.cast(), Ordering::Release);
    Some(())
}

/// A descriptor, or `None` if its number is too high.
#[inline]
fn at(fd: c_int) -> Option<&'static Descriptor> {
    let fd = usize::try_from(fd).ok().filter(|fd| *fd < MOST)?;
    // SAFETY: within the table, which is never unmapped; the library is active only after `prepare`.
    Some(unsafe { &*TABLE.load(Ordering::Relaxed).add(fd) })
}

/// What is known about a descriptor.
#[inline]
pub(crate) fn get(fd: c_int) -> Option<Entry> {
    Some(Entry::of(at(fd)?.entry.load(Ordering::Acquire)))
}

/// Sets what was found, unless something else has become known meanwhile.
pub(crate) fn set_if(fd: c_int, before: Entry, found: Entry) -> bool {
    let Some(descriptor) = at(fd) else {
        return false;
    };
    END.fetch_max(fd as usize + 1, Ordering::Relaxed);
    let words = (before.to_word(), found.to_word());
    let set =
        descriptor
            .entry
            .compare_exchange(words.0, words.1, Ordering::AcqRel, Ordering::Relaxed);
    set.is_ok()
}

/// Sets what is known, and returns what was known before. Returns `None` if the number is too high.
pub(crate) fn set(fd: c_int, entry: Entry) -> Option<Entry> {
    let descriptor = at(fd)?;
    END.fetch_max(fd as usize + 1, Ordering::Relaxed);
    let is_asked = entry == Entry::Unknown(Via::Accepted) && !windows::is_open();
    descriptor.passed.begin(is_asked);
    let before = descriptor.entry.swap(entry.to_word(), Ordering::AcqRel);
    Some(Entry::of(before))
}

/// What has passed through a descriptor that is not identified.
pub(crate) fn passed(fd: c_int) -> Option<&'static Passed> {
    at(fd).map(|it| &it.passed)
}

/// Whether anything is known about it.
#[inline]
pub(crate) fn is_known(fd: c_int) -> bool {
    at(fd).is_some_and(|it| {
        it.entry.load(Ordering::Relaxed) != 0 || it.epoll.load(Ordering::Relaxed) != 0
    })
}

/// One more than the highest number with an entry.
pub(crate) fn end() -> usize {
    END.load(Ordering::Relaxed)
}

/// Sets the epoll descriptor and the data that it is registered with, or removes them.
pub(crate) fn register(fd: c_int, registration: Option<(c_int, u64)>) {
    if let Some(descriptor) = at(fd) {
        let (epoll, data) = registration.map_or((0, 0), |(epoll, data)| (epoll as u32 + 1, data));
        END.fetch_max(fd as usize + 1, Ordering::Relaxed);
        descriptor.data.store(data, Ordering::Relaxed);
        if registration.is_none() {
            descriptor.mark.store(0, Ordering::Relaxed);
        }
        descriptor.epoll.store(epoll, Ordering::Release);
    }
}

/// The epoll descriptor and the data that it was last registered with, if it still is.
pub(crate) fn registration(fd: c_int) -> Option<(c_int, u64)> {
    let descriptor = at(fd)?;
    let epoll = descriptor.epoll.load(Ordering::Acquire).checked_sub(1)?;
    Some((epoll as c_int, descriptor.data.load(Ordering::Relaxed)))
}

/// The mark of the last recorded registration of a descriptor, or 0 if there is none.
pub(crate) fn mark(fd: c_int) -> u64 {
    at(fd).map_or(0, |it| it.mark.load(Ordering::Relaxed))
}

/// Sets the mark of the last recorded registration.
pub(crate) fn set_mark(fd: c_int, mark: u64) {
    if let Some(descriptor) = at(fd) {
        descriptor.mark.store(mark, Ordering::Relaxed);
    }
}
