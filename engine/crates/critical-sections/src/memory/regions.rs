//! Finds the code that can be translated: that of files, which does not change. Just-in-time compilers rewrite theirs.
//!
//! The kernel's list is parsed by hand: `procfs` allocates a list of all mappings, and nothing may be allocated here.

use fulcrum_preload::{descriptors, quiet, sys};

/// The most code mappings remembered.
const MOST: usize = 2048;
/// Bytes of the list of mappings read at a time.
const PIECE: usize = 4096;
/// The longest line that is parsed. The rest of a longer line belongs to the file name.
const LONGEST_LINE: usize = 512;

/// The code mappings at the time they were last read.
pub(crate) struct Regions {
    found: [(u64, u64); MOST],
    count: usize,
    /// How many addresses were in none of them.
    missed: u32,
}

impl Regions {
    /// No mappings.
    pub(crate) fn new() -> Self {
        Regions {
            found: [(0, 0); MOST],
            count: 0,
            missed: 0,
        }
    }

    /// The code starting at an address, or `None` if none there can be translated.
    pub(crate) fn code(&mut self, ip: u64) -> Option<&'static [u8]> {
        if self.end(ip).is_none() {
            self.missed = self.missed.saturating_add(1);
            // Addresses of just-in-time code are new each time, and reading the mappings takes tens of microseconds.
            if self.missed > 64 && !self.missed.is_multiple_of(256) {
                return None;
            }
            self.refresh();
        }
        // At least as long as any instruction.
        let length = (self.end(ip)? - ip).min(16) as usize;
        let start = core::ptr::with_exposed_provenance::<u8>(ip as usize);
        // SAFETY: the mapping is readable and not writable, and `length` stays within it.
        Some(unsafe { core::slice::from_raw_parts(start, length) })
    }

    /// Whether an address is in one of the mappings.
    pub(crate) fn has(&self, ip: u64) -> bool {
        self.end(ip).is_some()
    }

    fn end(&self, ip: u64) -> Option<u64> {
        let known = &self.found[..self.count];
        let at = known.partition_point(|it| it.1 <= ip);
        let (start, end) = *known.get(at)?;
        (start <= ip).then_some(end)
    }

    /// Forgets all mappings.
    pub(crate) fn forget(&mut self) {
        self.count = 0;
    }

    /// Reads the process's mappings, which the kernel lists by address.
    pub(crate) fn refresh(&mut self) {
        self.count = 0;
        quiet::uninterrupted(|| {
            descriptors::apart(|| {
                read_lines(|line| {
                    if let Some(range) = code_of_a_file(line)
                        && self.count < MOST
                    {
                        self.found[self.count] = range;
                        self.count += 1;
                    }
                });
                Some(())
            })
        });
    }
}

fn read_lines(mut with: impl FnMut(&[u8])) {
    let path = c"/proc/self/maps";
    let args = [
        libc::AT_FDCWD as usize,
        path.as_ptr().addr(),
        (libc::O_RDONLY | libc::O_CLOEXEC) as usize,
        0,
        0,
        0,
    ];
    // SAFETY: the path is a C string literal.
    let file = unsafe { sys::call(libc::SYS_openat, args) };
    if file < 0 {
        return;
    }
    let mut piece = [0_u8; PIECE];
    let mut line = [0_u8; LONGEST_LINE];
    let mut length = 0;
    loop {
        let args = [file as usize, piece.as_mut_ptr().addr(), PIECE, 0, 0, 0];
        // SAFETY: the kernel writes at most `PIECE` bytes, which the buffer holds.
        let read = unsafe { sys::call(libc::SYS_read, args) };
        let Some(bytes) = usize::try_from(read).ok().and_then(|it| piece.get(..it)) else {
            break;
        };
        if bytes.is_empty() {
            break;
        }
        for byte in bytes {
            if *byte == b'\n' {
                with(&line[..length]);
                length = 0;
            } else if length < LONGEST_LINE {
                line[length] = *byte;
                length += 1;
            }
        }
    }
    // SAFETY: closes a descriptor that this function opened.
    unsafe { sys::call(libc::SYS_close, [file as usize, 0, 0, 0, 0, 0]) };
}

/// The address range of a line's mapping, if it holds code of a file or of the kernel.
fn code_of_a_file(line: &[u8]) -> Option<(u64, u64)> {
    let mut words = line.split(|it| *it == b' ').filter(|it| !it.is_empty());
    let (addresses, rights) = (words.next()?, words.next()?);
    let (_offset, _device, file) = (words.next()?, words.next()?, words.next()?);
    let name = words.next().unwrap_or(b"");
    let is_of_a_file = file != b"0" && !name.starts_with(b"/memfd:");
    if !rights.starts_with(b"r-x") || !(is_of_a_file || name == b"[vdso]") {
        return None;
    }
    let middle = addresses.iter().position(|it| *it == b'-')?;
    let (start, end) = (&addresses[..middle], &addresses[middle + 1..]);
    Some((hexadecimal(start)?, hexadecimal(end)?))
}

fn hexadecimal(digits: &[u8]) -> Option<u64> {
    let digits = core::str::from_utf8(digits).ok()?;
    u64::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_of_files_and_of_the_kernel_is_translated() {
        let check =
            |line: &str, expect| assert_eq!(code_of_a_file(line.as_bytes()), expect, "{line}");
        check(
            "55d0-55f0 r-xp 00001000 fe:00 1234       /usr/bin/a b",
            Some((0x55d0, 0x55f0)),
        );
        check(
            "7ffc-7ffe r-xp 00000000 00:00 0        [vdso]",
            Some((0x7ffc, 0x7ffe)),
        );
        check("55d0-55f0 r--p 00001000 fe:00 1234     /usr/bin/a", None);
        check("55d0-55f0 rwxp 00001000 fe:00 1234     /usr/bin/a", None);
        check("55d0-55f0 r-xp 00000000 00:00 0", None);
        check(
            "55d0-55f0 r-xp 00000000 00:01 77       /memfd:jit (deleted)",
            None,
        );
        check("55d0", None);
        check("", None);
    }

    #[test]
    fn the_code_of_this_test_is_found_and_data_is_not() {
        let mut regions = Box::new(Regions::new());
        let function = hexadecimal as fn(&[u8]) -> Option<u64>;
        assert_eq!(
            regions.code(function as usize as u64).map(<[u8]>::len),
            Some(16)
        );
        let data = 0_u64;
        assert_eq!(regions.code((&raw const data).addr() as u64), None);
    }
}
