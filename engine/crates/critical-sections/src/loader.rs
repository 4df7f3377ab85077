//! The dynamic loader's code. It runs in the middle of a section when a function is called for the first time: out of line
//! like any other, but nothing of it is told, since it leaves all registers of the call as they were.

use core::ffi::{c_int, c_void};
use core::ops::Range;

/// Where the loader's code is; nowhere in programs without one.
pub fn code() -> Range<u64> {
    // SAFETY: reads the auxiliary vector.
    let base = unsafe { libc::getauxval(libc::AT_BASE) };
    let mut search = Search { base, found: 0..0 };
    // SAFETY: the callback gets the search, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
    search.found
}

struct Search {
    base: u64,
    found: Range<u64>,
}

unsafe extern "C" fn look(
    info: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    search: *mut c_void,
) -> c_int {
    // SAFETY: the loader's description of a module, and what `code` has given.
    let (info, search) = unsafe { (&*info, &mut *search.cast::<Search>()) };
    if search.base == 0 || info.dlpi_addr != search.base {
        return 0;
    }
    for n in 0..usize::from(info.dlpi_phnum) {
        // SAFETY: as many headers as it says.
        let header = unsafe { &*info.dlpi_phdr.add(n) };
        if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0 {
            let start = info.dlpi_addr + header.p_vaddr;
            search.found = start..start + header.p_memsz;
        }
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loader_has_code_and_this_is_none_of_it() {
        let found = code();
        assert!(!found.is_empty());
        assert!(!found.contains(&(code as *const () as usize as u64)));
    }
}
