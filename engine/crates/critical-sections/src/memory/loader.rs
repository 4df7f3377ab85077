//! Finds the code of the dynamic loader. The loader runs in the middle of a section when a function is first called. It
//! runs out of line like other code, but is not reported, because it preserves all registers of the call.

use core::ffi::{c_int, c_void};
use core::ops::Range;

/// The loader's code, or an empty range in programs without a loader.
pub(crate) fn code() -> Range<u64> {
    // SAFETY: only reads the auxiliary vector.
    let base = unsafe { libc::getauxval(libc::AT_BASE) };
    find(&|module, _| base != 0 && module == base)
}

/// The code of the module that contains this address, or an empty range.
pub fn code_around(address: u64) -> Range<u64> {
    find(&|_, code| code.contains(&address))
}

/// The first code segment that satisfies `is_wanted`, which gets the module's base and the segment's addresses.
fn find(is_wanted: &dyn Fn(u64, &Range<u64>) -> bool) -> Range<u64> {
    let mut search = Search {
        is_wanted,
        found: 0..0,
    };
    // SAFETY: the callback gets a pointer to the search, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    search.found
}

struct Search<'a> {
    is_wanted: &'a dyn Fn(u64, &Range<u64>) -> bool,
    found: Range<u64>,
}

unsafe extern "C" fn visit(
    info: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    search: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes a valid description of a module, and `find` a valid search.
    let (info, search) = unsafe { (&*info, &mut *search.cast::<Search<'_>>()) };
    for n in 0..usize::from(info.dlpi_phnum) {
        // SAFETY: the loader's description has `dlpi_phnum` headers.
        let header = unsafe { &*info.dlpi_phdr.add(n) };
        if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0 {
            let start = info.dlpi_addr.wrapping_add(header.p_vaddr);
            let code = start..start.wrapping_add(header.p_memsz);
            if (search.is_wanted)(info.dlpi_addr, &code) {
                search.found = code;
                return 1;
            }
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_in_the_code_around_it() {
        let own = code as *const () as usize as u64;
        assert!(code_around(own).contains(&own));
        let data = 0_u64;
        assert!(code_around((&raw const data).addr() as u64).is_empty());
    }

    #[test]
    fn the_loader_has_code_and_this_is_none_of_it() {
        let found = code();
        assert!(!found.is_empty());
        assert!(!found.contains(&(code as *const () as usize as u64)));
    }
}
