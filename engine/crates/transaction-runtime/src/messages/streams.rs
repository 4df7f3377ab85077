//! Byte streams: how much passed through each, and what the log says about it.

use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use fulcrum_preload::sys;
use fulcrum_wire::transactions::{Address, MAX_HEAD, Record, StreamKind, Via};

use super::entries::{self, Entry, Passed};
use super::identify::{self, Found, What};
use crate::log;
use crate::threads::thread::{self, Inside};

/// The most streams at once.
const MOST: u32 = 1 << 18;

/// A stream. Zeroed, it is not in use.
pub(crate) struct Stream {
    id: AtomicU32,
    /// The number of this process's descriptors that refer to it.
    descriptors: AtomicU32,
    /// The log in which it was announced.
    announced: AtomicU32,
    /// The log at the time it came into use.
    born: AtomicU32,
    /// While it is free: the next free place, plus one.
    next: AtomicU32,
    /// Bytes received since the last send, up to what is of interest.
    since_send: AtomicU32,
    /// Whether a request that came in a pause, at least in part, has no answer yet.
    is_asked: AtomicBool,
    what: UnsafeCell<Option<What>>,
    sent: AtomicU64,
    received: AtomicU64,
}

static TABLE: AtomicPtr<Stream> = AtomicPtr::new(null_mut());
/// The first free place that was in use before, plus one. The upper half counts changes.
static FREE: AtomicU64 = AtomicU64::new(0);
/// The number of places that have been in use.
static USED: AtomicU32 = AtomicU32::new(0);
static LAST_ID: AtomicU32 = AtomicU32::new(0);

/// Makes room. Call this before any other function of this module.
pub(crate) fn prepare() -> Option<()> {
    let table = sys::map_anonymous(MOST as usize * size_of::<Stream>())?;
    TABLE.store(table.cast(), Ordering::Release);
    Some(())
}

/// The stream at a place.
fn at(place: u32) -> &'static Stream {
    assert!(place < MOST);
    // SAFETY: within the table, which is never unmapped; the library is active only after `prepare`.
    unsafe { &*TABLE.load(Ordering::Relaxed).add(place as usize) }
}

impl Stream {
    /// The stream with this number, if it is still at its place.
    pub(crate) fn of(place: u32, id: u32) -> Option<&'static Stream> {
        let stream = (place < MOST).then(|| at(place))?;
        (stream.id.load(Ordering::Acquire) == id).then_some(stream)
    }

    /// Its number.
    pub(crate) fn id(&self) -> u32 {
        self.id.load(Ordering::Relaxed)
    }

    /// Another descriptor refers to it.
    pub(crate) fn keep(&self) {
        self.descriptors.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether it is a TCP connection.
    pub(crate) fn is_tcp(&self) -> bool {
        self.what().is_some_and(|it| it.kind == StreamKind::Tcp)
    }

    /// Whether this process or its parent has accepted it, so that requests arrive on it.
    pub(crate) fn is_accepted(&self) -> bool {
        self.what().is_some_and(|it| it.via == Via::Accepted)
    }

    /// Whether it is connected to this address.
    pub(crate) fn leads_to(&self, to: Address) -> bool {
        self.what().is_some_and(|it| it.peer == to)
    }

    fn what(&self) -> Option<What> {
        // SAFETY: written before its number was published, and not again while it is in use.
        unsafe { *self.what.get() }
    }

    /// Counts sent bytes. Returns the count before.
    pub(crate) fn sends(&self, bytes: u64) -> u64 {
        self.since_send.store(0, Ordering::Relaxed);
        if self.is_asked() {
            self.is_asked.store(false, Ordering::Relaxed);
        }
        self.sent.fetch_add(bytes, Ordering::Relaxed)
    }

    /// Counts received bytes. Returns the count before, and the number since the last send, at most [`MAX_HEAD`].
    pub(crate) fn receives(&self, bytes: u64) -> (u64, usize) {
        let since_send = self.since_send.load(Ordering::Relaxed);
        let more = bytes.min(MAX_HEAD as u64) as u32;
        // Two threads that receive at the same time share one message, so an inexact count hardly matters.
        let now = since_send.saturating_add(more).min(MAX_HEAD as u32);
        self.since_send.store(now, Ordering::Relaxed);
        (
            self.received.fetch_add(bytes, Ordering::Relaxed),
            since_send as usize,
        )
    }

    /// Whether a request that came in a pause, at least in part, has no answer yet: what comes belongs to it.
    #[inline]
    pub(crate) fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::Relaxed)
    }

    /// Takes over what passed before it was identified.
    fn take_over(&self, passed: &Passed) {
        let take = |count: &AtomicU64| count.swap(0, Ordering::Relaxed);
        self.sent.fetch_add(take(&passed.sent), Ordering::Relaxed);
        let received = take(&passed.received);
        self.received.fetch_add(received, Ordering::Relaxed);
        if passed.is_asked.swap(false, Ordering::Relaxed) {
            self.is_asked.store(true, Ordering::Relaxed);
            self.since_send
                .store(received.min(MAX_HEAD as u64) as u32, Ordering::Relaxed);
        }
    }

    /// The same in a pause: a request comes that is not recorded, or a part of one.
    pub(crate) fn receives_unrecorded(&self, bytes: u64) {
        self.receives(bytes);
        self.is_asked.store(true, Ordering::Relaxed);
    }

    /// Announces it in this log, if that has not happened.
    pub(crate) fn announce(&self, inside: &Inside) {
        let number = log::number();
        if self.announced.load(Ordering::Relaxed) == number
            || self.announced.swap(number, Ordering::Relaxed) == number
        {
            return;
        }
        let Some(what) = self.what() else {
            return;
        };
        let via = if self.born.load(Ordering::Relaxed) == number {
            what.via
        } else {
            Via::Inherited
        };
        inside.write(
            0,
            &Record::Open {
                stream: self.id(),
                kind: what.kind,
                via,
                inode: what.inode,
                peer_inode: what.peer_inode,
                local: what.local,
                peer: what.peer,
            },
        );
    }
}

/// A new stream with one descriptor, or `None` if there are too many.
pub(crate) fn add(what: What) -> Option<Entry> {
    let place = take_free().or_else(take_new)?;
    let stream = at(place);
    let id = LAST_ID.fetch_add(1, Ordering::Relaxed) + 1;
    // SAFETY: nobody knows this place until its number is published.
    unsafe { *stream.what.get() = Some(what) };
    stream.descriptors.store(1, Ordering::Relaxed);
    stream.announced.store(0, Ordering::Relaxed);
    stream.born.store(log::number(), Ordering::Relaxed);
    stream.since_send.store(0, Ordering::Relaxed);
    stream.is_asked.store(false, Ordering::Relaxed);
    stream.sent.store(0, Ordering::Relaxed);
    stream.received.store(0, Ordering::Relaxed);
    stream.id.store(id, Ordering::Release);
    Some(Entry::Stream { place, id })
}

fn take_new() -> Option<u32> {
    let more = |used| (used < MOST).then_some(used + 1);
    USED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
        .ok()
}

fn take_free() -> Option<u32> {
    let mut head = FREE.load(Ordering::Acquire);
    loop {
        let place = (head as u32).checked_sub(1)?;
        let next = u64::from(at(place).next.load(Ordering::Relaxed));
        let changed = (head >> 32).wrapping_add(1) << 32 | next;
        match FREE.compare_exchange_weak(head, changed, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return Some(place),
            Err(other) => head = other,
        }
    }
}

fn give_back(place: u32) {
    let mut head = FREE.load(Ordering::Relaxed);
    loop {
        at(place).next.store(head as u32, Ordering::Relaxed);
        let changed = (head >> 32).wrapping_add(1) << 32 | u64::from(place + 1);
        match FREE.compare_exchange_weak(head, changed, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => return,
            Err(other) => head = other,
        }
    }
}

/// One descriptor less refers to it. The last one closes it.
pub(crate) fn release(stream: &Stream, place: u32) {
    if stream.descriptors.fetch_sub(1, Ordering::AcqRel) != 1 {
        return;
    }
    let id = stream.id.swap(0, Ordering::AcqRel);
    if stream.announced.load(Ordering::Relaxed) == log::number()
        && let Some(inside) = thread::enter()
    {
        inside.write(0, &Record::Close { stream: id });
    }
    give_back(place);
}

/// The stream of a descriptor about which this much is known. Identifies the descriptor if necessary, but not in a signal
/// handler that has interrupted our code.
pub(crate) fn of(inside: Option<&Inside>, fd: c_int, entry: Entry) -> Option<&'static Stream> {
    match entry {
        Entry::Nothing => None,
        Entry::Stream { place, id } => Stream::of(place, id),
        Entry::Unknown(via) => find_out(inside?, fd, via, None),
    }
}

/// A TCP socket is being connected to this address for the calling thread's work. Announces the connection now, because it
/// may be used for other work.
pub(crate) fn connecting(inside: &Inside, fd: c_int, to: Address) {
    if let Some(stream) = find_out(inside, fd, Via::Connected, Some(to)) {
        stream.announce(inside);
    }
}

#[cold]
fn find_out(inside: &Inside, fd: c_int, via: Via, to: Option<Address>) -> Option<&'static Stream> {
    let before = Entry::Unknown(via);
    let found = match identify::inspect(inside, fd, via, to) {
        Found::NotYet => return None,
        Found::Nothing => Entry::Nothing,
        Found::Stream(what) => known(via, &what).or_else(|| add(what))?,
    };
    let is_set = entries::set_if(fd, before, found);
    if let Entry::Stream { place, id } = found {
        let stream = Stream::of(place, id)?;
        if is_set {
            if let Some(passed) = entries::passed(fd) {
                stream.take_over(passed);
            }
            return Some(stream);
        }
        release(stream, place);
    }
    // Another thread was faster.
    match entries::get(fd)? {
        Entry::Stream { place, id } => Stream::of(place, id),
        _ => None,
    }
}

/// A stream that existed at program start, or came from another process, may be known by another descriptor.
fn known(via: Via, what: &What) -> Option<Entry> {
    if via != Via::Found {
        return None;
    }
    (0..USED.load(Ordering::Relaxed)).find_map(|place| {
        let stream = at(place);
        let id = stream.id();
        let other = (id != 0).then(|| stream.what()).flatten()?;
        let same = (other.kind, other.inode) == (what.kind, what.inode);
        same.then(|| {
            stream.keep();
            Entry::Stream { place, id }
        })
    })
}
