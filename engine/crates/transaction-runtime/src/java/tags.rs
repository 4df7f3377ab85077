//! What an object of the program's is to us: a number that the machine keeps with it, and forgets with it.

use fulcrum_jvm_interface::jni::Object;
use fulcrum_jvm_interface::jvmti::Jvmti;
use fulcrum_preload::quiet::Lock;
use fulcrum_wire::transactions::Record;

use crate::libraries::next_item;
use crate::threads::thread;

/// A tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// Nothing is known of the object.
    None,
    /// It was handed on, so often more than it was taken. When that was for several transactions, nobody can tell which is meant.
    Task { item: u64, pending: u64 },
    /// It is registered with a future. It may be called several times for that, and handed to an executor.
    Registered { item: u64 },
    /// A virtual thread, by its number.
    Virtual(u64),
    /// A queue, by its number.
    Queue(u64),
    /// A class: the number of its name, and whether its objects only wrap a task.
    Class { name: u64, wraps: bool },
}

/// Bits of an item, or of a number.
const VALUE: u32 = 46;
/// Bits of how often something is pending; more is never less again.
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
                wraps: pending != 0,
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
            Tag::Class { name, wraps } => (5, u64::from(wraps), name),
        };
        (kind << (VALUE + PENDING) | pending << VALUE | value).cast_signed()
    }

    /// The one that an object has.
    #[inline]
    pub(crate) fn get(jvmti: Jvmti, object: Object) -> Tag {
        Tag::of(jvmti.tag(object))
    }

    /// An object has this one from now on. `false` when the machine is about to end.
    #[inline]
    pub(crate) fn set(self, jvmti: Jvmti, object: Object) -> bool {
        jvmti.set_tag(object, self.number())
    }
}

/// Two threads may hand on one object at a time.
static CHANGING: Lock = Lock::new();

/// The object is handed on for what the thread does. The item that it is known by; 0: it is none, and nothing was written.
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

/// The object is registered for what the thread does, unless it is already: futures hand it from one to the other.
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

/// The object is taken, or called. The item that it is known by; 0: nobody was seen to hand it on.
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

/// The item that an object is known by; 0: none.
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
