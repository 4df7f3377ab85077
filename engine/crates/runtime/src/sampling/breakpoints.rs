//! Breakpoint progress points (COZ §3.3): counts visits to a line without a change of the source.
//!
//! The engine has decided and encoded everything ([`fulcrum_wire::PointsHeader`]). This module copies bytes and opens events
//! once, in the constructor, while the process has one thread.

use core::ffi::CStr;
use core::mem::size_of;
use core::slice;
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use fulcrum_preload::{descriptors, sys};
use fulcrum_wire::perf::Attributes;
use fulcrum_wire::{
    JUMP, MOST_POINTS, NONE, POINTS_MAGIC, PointEntry, PointsHeader, STUBS_AT, SiteEntry, Stretch,
    VERSION, mechanism,
};

use crate::process::control;
use crate::process::folder::{self, Name};
use crate::sampling::perf::open_event;

/// Most sites that are counted by events.
const MOST_EVENTS: usize = 64;

/// One counting event.
struct Event {
    fd: AtomicI32,
    point: AtomicU32,
    site: AtomicU32,
}

static EVENTS: [Event; MOST_EVENTS] = [const {
    Event {
        fd: AtomicI32::new(-1),
        point: AtomicU32::new(NONE),
        site: AtomicU32::new(NONE),
    }
}; MOST_EVENTS];
/// By point, samples in its lines: for points whose visits are estimated from samples.
static SAMPLED: [AtomicU64; MOST_POINTS] = [const { AtomicU64::new(0) }; MOST_POINTS];
static ANY_SAMPLED: AtomicU32 = AtomicU32::new(0);
static HEADER: AtomicPtr<PointsHeader> = AtomicPtr::new(core::ptr::null_mut());

/// The mapped and checked file.
#[derive(Clone, Copy)]
struct File(&'static PointsHeader);

impl File {
    fn current() -> Option<File> {
        // SAFETY: set by `open` after its checks; mapped for the life of the process.
        unsafe { HEADER.load(Ordering::Acquire).as_ref() }.map(File)
    }

    fn open(name: &Name) -> Option<File> {
        let (at, length) = control::map_file(name, 0, 0, size_of::<PointsHeader>())?;
        // SAFETY: mapped for the life of the process, at least as long as the header.
        let header = unsafe { &*at.cast::<PointsHeader>() };
        let fits = |at: u64, count: u32, size: usize| {
            at.is_multiple_of(8) && at + u64::from(count) * size as u64 <= length as u64
        };
        let sound = header.magic == POINTS_MAGIC
            && header.version == VERSION
            && header.length == length as u64
            && header.point_count as usize <= MOST_POINTS
            && fits(
                header.points_at,
                header.point_count,
                size_of::<PointEntry>(),
            )
            && fits(header.sites_at, header.site_count, size_of::<SiteEntry>())
            && fits(
                header.stretches_at,
                header.stretch_count,
                size_of::<Stretch>(),
            )
            && header.code_at + header.code_length <= length as u64;
        sound.then(|| {
            HEADER.store(at.cast(), Ordering::Release);
            File(header)
        })
    }

    fn part<T>(self, at: u64, count: u64) -> &'static [T] {
        let base = core::ptr::from_ref(self.0).cast::<u8>();
        // SAFETY: `open` has checked that every part lies within the mapping; parts are 8-aligned.
        unsafe { slice::from_raw_parts(base.add(at as usize).cast::<T>(), count as usize) }
    }

    fn points(self) -> &'static [PointEntry] {
        self.part(self.0.points_at, self.0.point_count.into())
    }

    fn sites(self) -> &'static [SiteEntry] {
        self.part(self.0.sites_at, self.0.site_count.into())
    }

    fn stretches(self, point: &PointEntry) -> &'static [Stretch] {
        let all: &[Stretch] = self.part(self.0.stretches_at, self.0.stretch_count.into());
        let first = point.first_stretch as usize;
        all.get(first..first + point.stretch_count as usize)
            .unwrap_or(&[])
    }
}

/// Applies the engine's list, if it has written one. `register` makes a progress point of a name and its number.
pub(crate) fn install(register: fn(&[u8], u32)) {
    let (folder, process) = (folder::folder(), control::process());
    let name = Name::new(format_args!(
        "{folder}/{}-{}.points",
        process.pid, process.turn
    ));
    let Some(file) = name.and_then(|name| File::open(&name)) else {
        return;
    };
    let has_arena = file.0.arena != 0 && map_arena(file);
    for (index, point) in file.points().iter().enumerate() {
        let first = point.first_site as usize;
        let last = first + point.site_count as usize;
        let Some(sites) = file.sites().get(first..last) else {
            continue;
        };
        let mut used = 0;
        for (number, site) in sites.iter().enumerate() {
            let how = instrument(file, index as u32, (first + number) as u32, site, has_arena);
            if how == 0 {
                // Counting some of a line's sites would change what a visit is.
                used = 0;
                break;
            }
            used |= how;
        }
        if used == 0 && point.may_sample != 0 && point.stretch_count > 0 {
            close_events(index as u32);
            used = mechanism::SAMPLED;
            ANY_SAMPLED.store(1, Ordering::Release);
        }
        point.used.store(used, Ordering::Release);
        if used != 0 {
            let name = file.part::<u8>(point.name.at, point.name.length);
            register(name, index as u32);
        }
    }
}

/// Opens the events again in a forked child: the parent's events count only the parent.
pub(crate) fn reopen_in_child() {
    let Some(file) = File::current() else {
        return;
    };
    for event in &EVENTS {
        let fd = event.fd.swap(-1, Ordering::Relaxed);
        if fd < 0 {
            continue;
        }
        descriptors::close(fd);
        let number = event.site.load(Ordering::Relaxed) as usize;
        if let Some(site) = file.sites().get(number)
            && let Some((fd, _)) = open(file, site)
        {
            event.fd.store(fd, Ordering::Relaxed);
        }
    }
}

/// Visits to a point so far.
pub(crate) fn count(point: u32) -> usize {
    let Some(file) = File::current() else {
        return 0;
    };
    let Some(entry) = file.points().get(point as usize) else {
        return 0;
    };
    let used = entry.used.load(Ordering::Relaxed);
    if used & mechanism::SAMPLED != 0 {
        return SAMPLED[point as usize].load(Ordering::Relaxed) as usize;
    }
    let mut count = 0;
    if used & mechanism::TRAMPOLINE != 0 {
        // SAFETY: an aligned word of the arena, which is mapped when this mechanism is in use.
        count += unsafe { &*(entry.counter as *const AtomicU64) }.load(Ordering::Relaxed);
    }
    if used & (mechanism::UPROBE | mechanism::HARDWARE) != 0 {
        let ours = |event: &&Event| event.point.load(Ordering::Relaxed) == point;
        count += EVENTS.iter().filter(ours).map(read).sum::<u64>();
    }
    count as usize
}

/// Counts samples at an address, for points whose visits are estimated from samples. Async-signal-safe.
#[inline]
pub(crate) fn sample(address: u64, samples: u64) {
    if ANY_SAMPLED.load(Ordering::Relaxed) == 0 {
        return;
    }
    let Some(file) = File::current() else {
        return;
    };
    for (index, point) in file.points().iter().enumerate() {
        let inside = |it: &Stretch| it.start <= address && address < it.end;
        if point.used.load(Ordering::Relaxed) & mechanism::SAMPLED != 0
            && file.stretches(point).iter().any(inside)
        {
            SAMPLED[index].fetch_add(samples, Ordering::Relaxed);
        }
    }
}

fn read(event: &Event) -> u64 {
    let fd = event.fd.load(Ordering::Relaxed);
    if fd < 0 {
        return 0;
    }
    let mut value = 0_u64;
    let args = [fd as usize, &raw mut value as usize, 8, 0, 0, 0];
    // SAFETY: reads 8 bytes from our own descriptor into `value`.
    unsafe { sys::call(libc::SYS_read, args) };
    value
}

/// Instruments one site by the first mechanism that is allowed and works. Returns the mechanism, or 0.
fn instrument(file: File, point: u32, number: u32, site: &SiteEntry, has_arena: bool) -> u32 {
    if site.allowed & mechanism::TRAMPOLINE != 0 && has_arena && write_jump(site) {
        return mechanism::TRAMPOLINE;
    }
    let free = |event: &&Event| event.site.load(Ordering::Relaxed) == NONE;
    let Some(event) = EVENTS.iter().find(free) else {
        return 0;
    };
    let Some((fd, how)) = open(file, site) else {
        return 0;
    };
    event.fd.store(fd, Ordering::Relaxed);
    event.site.store(number, Ordering::Relaxed);
    event.point.store(point, Ordering::Relaxed);
    how
}

fn close_events(point: u32) {
    for event in &EVENTS {
        if event.point.load(Ordering::Relaxed) == point {
            descriptors::close(event.fd.swap(-1, Ordering::Relaxed));
            event.site.store(NONE, Ordering::Relaxed);
            event.point.store(NONE, Ordering::Relaxed);
        }
    }
}

const EVENT_BREAKPOINT: u32 = 5;
const EXECUTE: u32 = 4;
const INHERIT: u64 = 1 << 1;
const INHERIT_THREADS_ONLY: u64 = 1 << 35;

/// Opens an event that counts every arrival of this thread and of those that it will create.
fn open(file: File, site: &SiteEntry) -> Option<(i32, u32)> {
    let counting = |attributes: Attributes| {
        let only_threads = INHERIT | INHERIT_THREADS_ONLY;
        // Kernels before 5.13 do not know the second bit; their forked children count for us too.
        [only_threads, INHERIT].into_iter().find_map(|inherit| {
            let attributes = Attributes {
                size: size_of::<Attributes>() as u32,
                flags: attributes.flags | inherit,
                ..attributes
            };
            open_event(&attributes).map(descriptors::protect)
        })
    };
    if site.allowed & mechanism::UPROBE != 0 && file.0.uprobe_type != NONE {
        let path = file.part::<u8>(site.file.at, site.file.length + 1);
        if let Ok(path) = CStr::from_bytes_with_nul(path)
            && let Some(fd) = counting(Attributes {
                kind: file.0.uprobe_type,
                config1: path.as_ptr() as u64,
                config2: site.offset,
                ..Attributes::default()
            })
        {
            return Some((fd, mechanism::UPROBE));
        }
    }
    if site.allowed & mechanism::HARDWARE != 0
        && let Some(fd) = counting(Attributes {
            kind: EVENT_BREAKPOINT,
            breakpoint: EXECUTE,
            config1: site.address,
            config2: size_of::<usize>() as u64,
            flags: Attributes::USER_ONLY,
            ..Attributes::default()
        })
    {
        return Some((fd, mechanism::HARDWARE));
    }
    None
}

fn map_arena(file: File) -> bool {
    let code = file.part::<u8>(file.0.code_at, file.0.code_length);
    let length = STUBS_AT + code.len().next_multiple_of(sys::PAGE);
    let (at, stubs) = (file.0.arena as usize, file.0.arena as usize + STUBS_AT);
    let writable = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: a fresh mapping where nothing was mapped; the stubs' bytes lie within it.
    unsafe {
        let args = [at, length, writable, flags as usize, usize::MAX, 0];
        let got = sys::call(libc::SYS_mmap, args);
        if got != at as isize {
            if got > 0 {
                sys::call(libc::SYS_munmap, [got as usize, length, 0, 0, 0, 0]);
            }
            return false;
        }
        core::ptr::copy_nonoverlapping(code.as_ptr(), stubs as *mut u8, code.len());
        protect(stubs, length - STUBS_AT, libc::PROT_READ | libc::PROT_EXEC)
    }
}

fn write_jump(site: &SiteEntry) -> bool {
    let at = site.address as usize;
    // SAFETY: the engine has found code of at least that length there, in a mapped module.
    let present = unsafe { slice::from_raw_parts(at as *const u8, JUMP) };
    if present != &site.original[..JUMP] {
        return false;
    }
    let page = at & !(sys::PAGE - 1);
    let length = (at + JUMP - page).next_multiple_of(sys::PAGE);
    // SAFETY: whole pages of the module's code, which nobody else executes yet; their protection is put back.
    unsafe {
        if !protect(page, length, libc::PROT_READ | libc::PROT_WRITE) {
            return false;
        }
        core::ptr::copy_nonoverlapping(site.jump.as_ptr(), at as *mut u8, JUMP);
        protect(page, length, libc::PROT_READ | libc::PROT_EXEC)
    }
}

/// # Safety
/// The pages must be ours or put back before anybody uses them otherwise.
unsafe fn protect(at: usize, length: usize, protection: i32) -> bool {
    // SAFETY: as this function's contract.
    unsafe {
        sys::call(
            libc::SYS_mprotect,
            [at, length, protection as usize, 0, 0, 0],
        ) == 0
    }
}
