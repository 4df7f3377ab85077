//! What is registered with libraries, by its address: for what transaction, and which handler.

use core::ptr::null_mut;
use core::slice;
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use fulcrum_preload::sys;
use fulcrum_wire::transactions::Record;

use super::handlers::StubId;
use crate::threads::thread::Inside;

/// Registrations at once, in groups of so many. Where a group is full, the oldest of it is forgotten, and then called for nobody.
const GROUPS: usize = 1 << 14;
const PLACES: usize = 8;

/// What an address is of, in the upper bits of a key, where addresses have none.
#[derive(Clone, Copy)]
#[repr(u64)]
pub(crate) enum Of {
    /// A handle or a request of libuv's.
    Uv = 1,
    /// An event of libevent's.
    Event = 2,
    /// What its handler is called with.
    Arguments = 3,
    /// A buffered one of libevent's.
    Buffers = 4,
    /// A source of GLib's.
    Source = 5,
    /// A watcher of libev's.
    Watcher = 6,
}

/// The key of something.
pub(crate) fn key(of: Of, address: u64) -> u64 {
    address & 0x0000_ffff_ffff_ffff | (of as u64) << 48
}

/// The key of the arguments that one of libevent's handlers is called with.
pub(crate) fn key_of_arguments(stub: StubId, fd: i32, argument: u64) -> u64 {
    let mixed = (argument ^ u64::from(stub.0) << 48 ^ u64::from(fd as u32) << 20)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    key(Of::Arguments, mixed >> 16)
}

/// Something that is registered. Zeroed, nothing.
pub(crate) struct Registration {
    key: AtomicU64,
    /// What was produced when it was registered; 0: nothing that is known.
    item: AtomicU64,
    /// What was produced when the handler was asked for; 0: it was not asked for since it was called.
    asked: AtomicU64,
    /// How often the handler was called since it was registered.
    calls: AtomicU32,
    /// The number of the handler, plus one.
    stub: AtomicU32,
    /// The descriptor; negative: none.
    fd: AtomicI32,
    /// Another handler, or a key: whatever the library needs.
    pub(crate) other: AtomicU64,
}

static TABLE: AtomicPtr<[Registration; PLACES]> = AtomicPtr::new(null_mut());
/// The last item that was produced. Those of shared memory are less than `1 << 32`.
static LAST_ITEM: AtomicU64 = AtomicU64::new(1 << 32);

/// What a handler is called for.
#[derive(Clone, Copy, Default)]
pub(crate) struct Due {
    pub(crate) item: u64,
    /// It was called for it before.
    pub(crate) again: bool,
    pub(crate) fd: i32,
}

/// Memory is taken when the first library registers something.
fn table() -> Option<&'static [[Registration; PLACES]]> {
    let mut table = TABLE.load(Ordering::Acquire);
    if table.is_null() {
        const LENGTH: usize = GROUPS * size_of::<[Registration; PLACES]>();
        let new = sys::map_anonymous(LENGTH)?.cast();
        let set = TABLE.compare_exchange(null_mut(), new, Ordering::AcqRel, Ordering::Acquire);
        table = match set {
            Ok(_) => new,
            Err(other) => {
                // SAFETY: what was just mapped, and nobody knows.
                unsafe { sys::call(libc::SYS_munmap, [new.addr(), LENGTH, 0, 0, 0, 0]) };
                other
            }
        };
    }
    // SAFETY: so long, zeroed, which is valid, and never unmapped.
    Some(unsafe { slice::from_raw_parts(table, GROUPS) })
}

fn group(key: u64) -> Option<&'static [Registration; PLACES]> {
    let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    table()?.get(hash as usize % GROUPS)
}

/// What is registered by a key.
pub(crate) fn find(key: u64) -> Option<&'static Registration> {
    if TABLE.load(Ordering::Relaxed).is_null() {
        return None;
    }
    group(key)?
        .iter()
        .find(|it| it.key.load(Ordering::Acquire) == key)
}

/// The place for what is to be registered by a key: the one that it has.
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

/// What was registered by a key is no more.
pub(crate) fn remove(key: u64) {
    if let Some(known) = find(key) {
        known.empty();
        known.key.store(0, Ordering::Release);
    }
}

impl Registration {
    /// Nothing is known of it any more but its key.
    pub(crate) fn empty(&self) {
        self.item.store(0, Ordering::Relaxed);
        self.asked.store(0, Ordering::Relaxed);
        self.calls.store(0, Ordering::Relaxed);
        self.stub.store(0, Ordering::Relaxed);
        self.fd.store(-1, Ordering::Relaxed);
        self.other.store(0, Ordering::Relaxed);
    }

    /// It is called when it is asked for, and for nobody else.
    pub(crate) fn empty_items(&self) {
        self.item.store(0, Ordering::Relaxed);
        self.asked.store(0, Ordering::Relaxed);
        self.calls.store(0, Ordering::Relaxed);
    }

    /// Says which handler is called for it, and for what descriptor; negative: none.
    pub(crate) fn set(&self, stub: StubId, fd: i32) {
        self.stub.store(stub.0 + 1, Ordering::Relaxed);
        self.fd.store(fd, Ordering::Relaxed);
    }

    /// The handler.
    pub(crate) fn stub(&self) -> Option<StubId> {
        self.stub.load(Ordering::Relaxed).checked_sub(1).map(StubId)
    }

    /// From now on the handler is called for what the thread does.
    pub(crate) fn produce(&self, inside: &Inside) {
        let item = next_item();
        inside.write(0, &Record::Produce { item });
        self.item.store(item, Ordering::Relaxed);
        self.calls.store(0, Ordering::Release);
    }

    /// The handler is to be called once for what the thread does. When it is still to be called for something else, one
    /// call is for both.
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

/// An item that was never given before.
pub(crate) fn next_item() -> u64 {
    LAST_ITEM.fetch_add(1, Ordering::Relaxed) + 1
}
