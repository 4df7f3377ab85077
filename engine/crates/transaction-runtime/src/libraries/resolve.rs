//! Finds which function a call was meant for: the one that its caller would have been linked to without us.
//!
//! This is the next definition in the order of the libraries that the program was started with. For a plug-in with a
//! library of its own, it is the one among the plug-in's libraries. General names such as `event_add` may belong to
//! anybody, so a library is recognised by other functions in the same file.

use core::ffi::{CStr, c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicUsize, Ordering};

use fulcrum_critical_sections::code_around;
use fulcrum_preload::quiet::Shared;
use fulcrum_preload::real;

/// A known library.
pub(crate) struct Library {
    /// Functions by which its file is recognised.
    pub(crate) marks: &'static [&'static CStr],
    /// Checks that its version is known, and keeps what is needed from it. Gets the scope of the caller.
    pub(crate) fits: fn(Scope) -> bool,
}

/// A library's function that one of ours hides, by name.
#[repr(C)]
pub(crate) struct Hidden {
    /// The hidden function if it does not belong to the known library, or 0 until this is known. The hook's entry reads it.
    passes: AtomicUsize,
    /// The hidden function if it belongs to the known library, or 0 until this is known.
    real: AtomicUsize,
    /// The code of its file: the start, and the end (exclusive).
    code: [AtomicUsize; 2],
    name: &'static CStr,
    library: &'static Library,
}

impl Hidden {
    /// A function that has not been resolved yet.
    pub(crate) const fn new(name: &'static CStr, library: &'static Library) -> Hidden {
        Hidden {
            passes: AtomicUsize::new(0),
            real: AtomicUsize::new(0),
            code: [const { AtomicUsize::new(0) }; 2],
            name,
            library,
        }
    }
}

/// The function that is hidden from a caller.
#[derive(Clone, Copy)]
pub(crate) struct Behind {
    pub(crate) address: usize,
    /// Whether it belongs to the library that the name stands for.
    pub(crate) is_library: bool,
    /// The code of its file: the start, and the end (exclusive).
    code: [usize; 2],
}

impl Behind {
    /// Whether an address is in the library's code.
    pub(crate) fn has(&self, address: usize) -> bool {
        (self.code[0]..self.code[1]).contains(&address)
    }

    /// The start (0) or the exclusive end (1) of the library's code.
    pub(crate) fn code(&self, end: usize) -> usize {
        self.code[end]
    }

    /// The function as type `F`. Calling it is as unsafe as calling that function.
    pub(crate) fn function<F: Copy>(&self) -> F {
        function(self.address)
    }
}

/// The function at a non-zero address. Calling it is as unsafe as calling that function.
pub(crate) fn function<F: Copy>(address: usize) -> F {
    const { assert!(size_of::<F>() == size_of::<usize>()) };
    // SAFETY: `F` is a function pointer, so the sizes are equal and the address is not null.
    unsafe { core::mem::transmute_copy(&address) }
}

/// Where a caller's names are looked up.
#[derive(Clone, Copy)]
pub(crate) struct Scope(*mut c_void);

impl Scope {
    /// The address of the function with this name.
    pub(crate) fn find(self, name: &CStr) -> Option<usize> {
        // SAFETY: the name is a C string; the scope is `RTLD_NEXT`, or a library that its caller keeps loaded.
        let found = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        (!found.is_null()).then_some(found.addr())
    }
}

/// The file that contains an address: its start and its name.
fn file(address: usize) -> Option<(usize, *const core::ffi::c_char)> {
    // SAFETY: zeroed is a valid `Dl_info`, and `dladdr` takes any address.
    unsafe {
        let mut found: libc::Dl_info = core::mem::zeroed();
        let result = libc::dladdr(core::ptr::without_provenance(address), &raw mut found);
        (result != 0).then_some((found.dli_fbase.addr(), found.dli_fname))
    }
}

/// Whether two addresses are in one file.
fn are_in_one_file(a: usize, b: usize) -> bool {
    match (file(a), file(b)) {
        (Some((a, _)), Some((b, _))) => a == b,
        _ => false,
    }
}

fn is_library(hidden: &Hidden, found: usize, scope: Scope) -> bool {
    let mut marks = hidden.library.marks.iter();
    let has = |mark: &&CStr| {
        let other = scope.find(mark);
        other.is_some_and(|it| are_in_one_file(it, found))
    };
    marks.all(has) && (hidden.library.fits)(scope)
}

fn found(hidden: &Hidden, address: usize, scope: Scope) -> Behind {
    let code = code_around(address as u64);
    Behind {
        address,
        is_library: is_library(hidden, address, scope),
        code: [code.start as usize, code.end as usize],
    }
}

/// What a call from this site is meant for. Aborts if there is nothing; no program could have made the call then.
pub(crate) fn behind(hidden: &Hidden, site: impl FnOnce() -> u64) -> Behind {
    let known = hidden.real.load(Ordering::Acquire);
    if known != 0 {
        return Behind {
            address: known,
            is_library: true,
            code: [0, 1].map(|at| hidden.code[at].load(Ordering::Relaxed)),
        };
    }
    look_up(hidden, site)
}

#[cold]
fn look_up(hidden: &Hidden, site: impl FnOnce() -> u64) -> Behind {
    let next = Scope(libc::RTLD_NEXT);
    if let Some(address) = next.find(hidden.name) {
        let behind = found(hidden, address, next);
        for (place, value) in hidden.code.iter().zip(behind.code) {
            place.store(value, Ordering::Relaxed);
        }
        let place = if behind.is_library {
            &hidden.real
        } else {
            &hidden.passes
        };
        place.store(address, Ordering::Release);
        return behind;
    }
    let site = site();
    let found = known_of(hidden, site).or_else(|| of_plugin(hidden, site));
    // SAFETY: `abort` has no precondition.
    found.unwrap_or_else(|| unsafe { libc::abort() })
}

/// The function among a plug-in's own libraries.
fn of_plugin(hidden: &Hidden, site: u64) -> Option<Behind> {
    let (_, name) = file(site as usize)?;
    // SAFETY: the name belongs to a loaded library, which stays loaded while its code runs.
    let library = unsafe { libc::dlopen(name, libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if library.is_null() {
        return None;
    }
    let scope = Scope(library);
    let found = scope.find(hidden.name).map(|it| found(hidden, it, scope));
    // SAFETY: releases the reference that `dlopen` has counted. Bypasses our own hook, because nothing is unloaded.
    unsafe { real!(dlclose: fn(*mut c_void) -> c_int)(library) };
    let found = found?;
    remember(hidden, site, found);
    Some(found)
}

/// What was found for a call site in a plug-in.
#[derive(Clone, Copy)]
struct Known {
    hidden: *const Hidden,
    site: u64,
    behind: Behind,
}

/// The known call sites. Sites without a place are resolved at each call.
struct Plugins {
    known: [Known; 256],
}

// SAFETY: the addresses are only compared.
unsafe impl Send for Plugins {}

static PLUGINS: Shared<Plugins> = Shared::new(Plugins {
    known: [NOTHING; 256],
});
const NOTHING: Known = Known {
    hidden: null_mut(),
    site: 0,
    behind: Behind {
        address: 0,
        is_library: false,
        code: [0; 2],
    },
};

fn place(hidden: &Hidden, site: u64) -> usize {
    let hash =
        (core::ptr::from_ref(hidden).addr() as u64 ^ site).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (hash >> 56) as usize
}

fn known_of(hidden: &Hidden, site: u64) -> Option<Behind> {
    let plugins = PLUGINS.try_lock()?;
    let known = &plugins.known[place(hidden, site)];
    (known.hidden == core::ptr::from_ref(hidden) && known.site == site).then_some(known.behind)
}

fn remember(hidden: &Hidden, site: u64, behind: Behind) {
    if let Some(mut plugins) = PLUGINS.try_lock() {
        plugins.known[place(hidden, site)] = Known {
            hidden,
            site,
            behind,
        };
    }
}

/// A library may have been unloaded, so plug-ins are resolved anew.
pub(crate) fn forget() {
    if let Some(mut plugins) = PLUGINS.try_lock() {
        plugins.known = [NOTHING; 256];
    }
}

/// In a forked child: a thread that was resolving exists only in the parent.
pub(crate) fn begin_again() {
    // SAFETY: in a forked child, no other thread has it.
    unsafe { PLUGINS.raw() }.free();
}
