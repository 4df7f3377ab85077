//! Which descriptor an event is for: programs register descriptors with data of their choice, and events bring these.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering};

use super::entries::{end, registration};

/// Finds descriptors by what they were registered with. Each group is a hash bucket. If a bucket is full, an event belongs
/// to no known stream.
const GROUPS: usize = 1 << 14;
const PLACES: usize = 4;
static REGISTERED: [[AtomicU32; PLACES]; GROUPS] =
    [const { [const { AtomicU32::new(0) }; PLACES] }; GROUPS];

fn group(epoll: c_int, data: u64) -> &'static [AtomicU32; PLACES] {
    let hash = (data ^ (epoll as u64) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    &REGISTERED[hash as usize % GROUPS]
}

/// Records a descriptor by what it is registered with.
pub(crate) fn remember(fd: c_int, epoll: c_int, data: u64) {
    let group = group(epoll, data);
    let is_free = |place: &&AtomicU32| {
        let known = place.load(Ordering::Relaxed) as c_int - 1;
        let known_by = registration(known);
        known == fd
            || !known_by.is_some_and(|(epoll, data)| core::ptr::eq(self::group(epoll, data), group))
    };
    let place = group.iter().find(is_free);
    let place = place.unwrap_or(&group[fd as usize % PLACES]);
    place.store(fd as u32 + 1, Ordering::Relaxed);
}

/// A window begins: remembers what was registered in the pause before.
pub(crate) fn begin_window() {
    for fd in 0..end() as c_int {
        if let Some((epoll, data)) = registration(fd) {
            remember(fd, epoll, data);
        }
    }
}

/// The descriptor that was registered with this.
pub(crate) fn registered(epoll: c_int, data: u64) -> Option<c_int> {
    let mut known = group(epoll, data)
        .iter()
        .map(|place| place.load(Ordering::Relaxed) as c_int - 1);
    known.find(|fd| registration(*fd) == Some((epoll, data)))
}
