//! What is registered with libraries, by address: the transaction and the handler.

use core::ptr::null_mut;
use core::slice;
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use fulcrum_preload::sys;
use fulcrum_wire::transactions::Record;

use super::handlers::StubId;
use crate::threads::thread::Inside;

/// The number of groups of registrations. If a group is full, its oldest registration is forgotten; its handler is then
/// called for nothing.
const GROUPS: usize = 1 << 14;
const PLACES: usize = 8;

/// What kind of object an address refers to. Stored in the upper bits of a key, which addresses do not use.
#[derive(Clone, Copy)]
#[repr(u64)]
pub(crate) enum ObjectKind {
    /// A handle or a request of libuv.
    Uv = 1,
    /// An event of libevent.
    Event = 2,
    /// The arguments of a libevent event's handler.
    Arguments = 3,
    /// A bufferevent of libevent.
    Buffers = 4,
    /// A source of GLib.
    Source = 5,
    /// A watcher of libev.
    Watcher = 6,
}

/// The key of an object.
pub(crate) fn key(of: ObjectKind, address: u64) -> u64 {
    address & 0x0000_ffff_ffff_ffff | (of as u64) << 48
}

/// The key of the arguments that a libevent handler is called with.
pub(crate) fn key_of_arguments(stub: StubId, fd: i32, argument: u64) -> u64 {
    let mixed = (argument ^ u64::from(stub.0) << 48 ^ u64::from(fd as u32) << 20)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    key(ObjectKind::Arguments, mixed >> 16)
}

/// A registration. Zeroed, there is none.
pub(crate) struct Registration {
    key: AtomicU64,
    /// The item produced by the registration, or 0 if unknown.
    item: AtomicU64,
    /// The item produced when the handler was requested, or 0 if this has not happened since it was last called.
    asked: AtomicU64,
    /// How often the handler was called since the registration.
    calls: AtomicU32,
    /// The number of the handler's stub, plus one.
    stub: AtomicU32,
    /// The descriptor, or negative if there is none.
    fd: AtomicI32,
    /// Another handler, or a key, depending on the library.
    pub(crate) other: AtomicU64,
}

static TABLE: AtomicPtr<[Registration; PLACES]> = AtomicPtr::new(null_mut());
/// The last item that was produced. Items of shared memory are below `1 << 32`.
static LAST_ITEM: AtomicU64 = AtomicU64::new(1 << 32);

/// What a handler is called for.
#[derive(Clone, Copy, Default)]
pub(crate) struct Due {
    pub(crate) item: u64,
    /// Whether it was called for the same before.
    pub(crate) again: bool,
    pub(crate) fd: i32,
}

/// The table, allocated when the first library registers something.
fn table() -> Option<&'static [[Registration; PLACES]]> {
    let mut table = TABLE.load(Ordering::Acquire);
    if table.is_null() {
        const LENGTH: usize = GROUPS * size_of::<[Registration; PLACES]>();
        let new = sys::map_anonymous(LENGTH)?.cast();
        let set = TABLE.compare_exchange(null_mut(), new, Ordering::AcqRel, Ordering::Acquire);
        table = match set {
            Ok(_) => new,
            Err(other) => {
                // SAFETY: unmaps what was just mapped and published to nobody.
                unsafe { sys::call(libc::SYS_munmap, [new.addr(), LENGTH, 0, 0, 0, 0]) };
                other
            }
        };
    }
    // SAFETY: the mapping has this length and is never unmapped. Zeroed entries are valid.
    Some(unsafe { slice::from_raw_parts(table, GROUPS) })
}

fn group(key: u64) -> Option<&'static [Registration; PLACES]> {
    let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    table()?.get(hash as usize % GROUPS)
}

/// The registration with this key.
pub(crate) fn find(key: u64) -> Option<&'static Registration> {
    if TABLE.load(Ordering::Relaxed).is_null() {
        return None;
    }
    group(key)?
        .iter()
        .find(|it| it.key.load(Ordering::Acquire) == key)
}

/// The place for a registration with this key: its existing one, if any.
pub(crate) fn place(key: u64) -> Option<&'static Registration> {
    let group = group(key)?;
    let has = |it: &&Registration| it.key.load(Ordering::Acquire) == key;
    if let Some(known) = group.iter().find(has) {
        return Some(known);
    }
    let take = |it: &&Registration, before: u64| {
        it.key
            .compare_exchange(before, key, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    };
    let free = group.iter().find(|it| take(it, 0));
    let taken = free.or_else(|| {
        let oldest = group
            .iter()
            .min_by_key(|it| it.item.load(Ordering::Relaxed))?;
        let before = oldest.key.load(Ordering::Relaxed);
        take(&oldest, before).then_some(oldest)
    })?;
    taken.empty();
    Some(taken)
}

/// Removes the registration with this key.
pub(crate) fn remove(key: u64) {
    if let Some(known) = find(key) {
        known.empty();
        known.key.store(0, Ordering::Release);
    }
}

impl Registration {
    /// Resets everything but the key.
    pub(crate) fn empty(&self) {
        self.item.store(0, Ordering::Relaxed);
        self.asked.store(0, Ordering::Relaxed);
        self.calls.store(0, Ordering::Relaxed);
        self.stub.store(0, Ordering::Relaxed);
        self.fd.store(-1, Ordering::Relaxed);
        self.other.store(0, Ordering::Relaxed);
    }

    /// From now on it is called only when requested.
    pub(crate) fn empty_items(&self) {
        self.item.store(0, Ordering::Relaxed);
        self.asked.store(0, Ordering::Relaxed);
        self.calls.store(0, Ordering::Relaxed);
    }

    /// Sets the handler, and the descriptor, or a negative number for none.
    pub(crate) fn set(&self, stub: StubId, fd: i32) {
        self.stub.store(stub.0 + 1, Ordering::Relaxed);
        self.fd.store(fd, Ordering::Relaxed);
    }

    /// The stub of the handler.
    pub(crate) fn stub(&self) -> Option<StubId> {
        self.stub.load(Ordering::Relaxed).checked_sub(1).map(StubId)
    }

    /// From now on the handler is called for the thread's current work.
    pub(crate) fn produce(&self, inside: &Inside) {
        let item = next_item();
        inside.write(0, &Record::Produce { item });
        self.item.store(item, Ordering::Relaxed);
        self.calls.store(0, Ordering::Release);
    }

    /// The handler will be called once for the thread's current work. If it is still due for something else, one call
    /// serves both.
    pub(crate) fn ask(&self, inside: &Inside) {
        let item = next_item();
        let asked = self
            .asked
            .compare_exchange(0, item, Ordering::AcqRel, Ordering::Acquire);
        let item = asked.err().unwrap_or(item);
        inside.write(0, &Record::Produce { item });
    }

    /// The handler is called.
    pub(crate) fn call(&self) -> Due {
        let asked = self.asked.swap(0, Ordering::AcqRel);
        let (item, again) = match asked {
            0 => {
                let calls = self.calls.fetch_add(1, Ordering::Acquire);
                (self.item.load(Ordering::Relaxed), calls > 0)
            }
            asked => (asked, false),
        };
        Due {
            item,
            again,
            fd: self.fd.load(Ordering::Relaxed),
        }
    }
}

/// A new item, never used before.
pub(crate) fn next_item() -> u64 {
    LAST_ITEM.fetch_add(1, Ordering::Relaxed) + 1
}
