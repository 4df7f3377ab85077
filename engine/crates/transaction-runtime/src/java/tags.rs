//! Tags of the program's objects: numbers that the machine keeps with them, and drops with them.

use fulcrum_jvm_interface::jni::Object;
use fulcrum_jvm_interface::jvmti::Jvmti;
use fulcrum_preload::quiet::Lock;
use fulcrum_wire::transactions::{LockKind, Record};

use crate::libraries::next_item;
use crate::threads::thread;

/// A tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// The object is unknown.
    None,
    /// It was handed on, `pending` times more often than it was taken. If this was for several transactions, it is unclear
    /// which one is meant.
    Task { item: u64, pending: u64 },
    /// It is registered with a future. It may be called several times for that, and handed to an executor.
    Registered { item: u64 },
    /// A virtual thread, by number.
    Virtual(u64),
    /// A queue, by number.
    Queue(u64),
    /// A class: the number of its name, whether its objects only wrap a task, and what they are as locks.
    Class {
        name: u64,
        wraps: bool,
        lock: LockKind,
    },
}

/// The bits of an item or a number.
const VALUE: u32 = 46;
/// The bits of the pending count. Once it is at its maximum, it no longer decreases.
const PENDING: u32 = 13;
const MOST_PENDING: u64 = (1 << PENDING) - 1;

impl Tag {
    fn of(tag: i64) -> Tag {
        let tag = tag.cast_unsigned();
        let value = tag & ((1 << VALUE) - 1);
        let pending = tag >> VALUE & MOST_PENDING;
        match tag >> (VALUE + PENDING) {
            1 => Tag::Task {
                item: value,
                pending,
            },
            2 => Tag::Registered { item: value },
            3 => Tag::Virtual(value),
            4 => Tag::Queue(value),
            5 => Tag::Class {
                name: value,
                wraps: pending & 1 != 0,
                lock: LockKind::of((pending >> 1) as u8).unwrap_or(LockKind::Condition),
            },
            _ => Tag::None,
        }
    }

    fn number(self) -> i64 {
        let (kind, pending, value) = match self {
            Tag::None => (0, 0, 0),
            Tag::Task { item, pending } => (1, pending.min(MOST_PENDING), item),
            Tag::Registered { item } => (2, 0, item),
            Tag::Virtual(number) => (3, 0, number),
            Tag::Queue(number) => (4, 0, number),
            Tag::Class { name, wraps, lock } => {
                (5, u64::from(wraps) | u64::from(lock as u8) << 1, name)
            }
        };
        (kind << (VALUE + PENDING) | pending << VALUE | value).cast_signed()
    }

    /// The tag of an object.
    #[inline]
    pub(crate) fn get(jvmti: Jvmti, object: Object) -> Tag {
        Tag::of(jvmti.tag(object))
    }

    /// Sets the tag of an object. Returns `false` if the machine is about to end.
    #[inline]
    pub(crate) fn set(self, jvmti: Jvmti, object: Object) -> bool {
        jvmti.set_tag(object, self.number())
    }
}

/// Serialises changes: two threads may hand on one object at the same time.
static CHANGING: Lock = Lock::new();

/// The object is handed on for the thread's work. Returns its item, or 0 if it has none and nothing was written.
pub(crate) fn hand_on(jvmti: Jvmti, object: Object) -> u64 {
    let changing = CHANGING.lock();
    let item = match Tag::get(jvmti, object) {
        Tag::None => {
            let (item, pending) = (next_item(), 1);
            match (Tag::Task { item, pending }).set(jvmti, object) {
                true => item,
                false => 0,
            }
        }
        Tag::Task { item, pending } => {
            let pending = match pending {
                MOST_PENDING => MOST_PENDING,
                fewer => fewer + 1,
            };
            (Tag::Task { item, pending }).set(jvmti, object);
            item
        }
        _ => 0,
    };
    drop(changing);
    produce(item);
    item
}

/// The object is registered for the thread's work, unless it is already: futures pass it from one to the next.
pub(crate) fn register(jvmti: Jvmti, object: Object) {
    let changing = CHANGING.lock();
    let item = match Tag::get(jvmti, object) {
        Tag::None => next_item(),
        _ => 0,
    };
    let is_set = item != 0 && (Tag::Registered { item }).set(jvmti, object);
    drop(changing);
    if is_set {
        produce(item);
    }
}

/// The object is taken or called. Returns its item, or 0 if it was not seen being handed on.
pub(crate) fn take(jvmti: Jvmti, object: Object) -> u64 {
    let _changing = CHANGING.lock();
    match Tag::get(jvmti, object) {
        Tag::Task { item, pending } => {
            let left = match pending {
                MOST_PENDING => MOST_PENDING,
                more => more.saturating_sub(1),
            };
            match left {
                0 => Tag::None,
                pending => Tag::Task { item, pending },
            }
            .set(jvmti, object);
            item
        }
        Tag::Registered { item } => item,
        _ => 0,
    }
}

/// The item of an object, or 0 if it has none.
pub(crate) fn item_of(jvmti: Jvmti, object: Object) -> u64 {
    match Tag::get(jvmti, object) {
        Tag::Task { item, .. } | Tag::Registered { item } => item,
        _ => 0,
    }
}

fn produce(item: u64) {
    if item != 0
        && let Some(inside) = thread::enter()
    {
        inside.write(0, &Record::Produce { item });
    }
}
