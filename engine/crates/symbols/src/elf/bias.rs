//! The load bias of a module, from `/proc/PID/maps` and the program headers.
//!
//! lld and mold create segments whose address and file offset differ, so the lowest mapping alone does not suffice.

use std::path::Path;

use object::read::elf::{FileHeader as _, ProgramHeader as _};
use object::{Endianness, elf};

/// The load bias: what to add to a module's addresses in the file to get those in the process.
///
/// `maps` is the text of `/proc/PID/maps`. `elf` needs only the start of the file, up to the end of the program headers. `None` if
/// the module is not mapped with executable code, or `elf` has no such segment. Wraps if the module is loaded below its own
/// addresses.
pub fn load_bias(maps: &str, module: &Path, elf: &[u8]) -> Option<u64> {
    let segments = executable_segments(elf)?;
    let canonical = module.canonicalize().ok();
    maps.lines().filter_map(parse_mapping).find_map(|mapping| {
        let name = mapping
            .path
            .strip_suffix(" (deleted)")
            .unwrap_or(mapping.path);
        let ours = Path::new(name) == module || canonical.as_deref() == Some(Path::new(name));
        if !ours || !mapping.executable {
            return None;
        }
        let segment = segments
            .iter()
            .find(|segment| segment.maps(mapping.offset))?;
        let address = segment
            .address
            .wrapping_add(mapping.offset)
            .wrapping_sub(segment.offset);
        Some(mapping.start.wrapping_sub(address))
    })
}

struct Mapping<'a> {
    start: u64,
    offset: u64,
    executable: bool,
    path: &'a str,
}

/// Parses `start-end perms offset dev inode      path`. The path may contain spaces.
fn parse_mapping(line: &str) -> Option<Mapping<'_>> {
    let mut rest = line;
    let mut next = || {
        let (field, after) = rest.trim_start().split_once(' ')?;
        rest = after;
        Some(field)
    };
    let (start, _) = next()?.split_once('-')?;
    let permissions = next()?;
    let offset = next()?;
    let (_device, _inode) = (next()?, next()?);
    Some(Mapping {
        start: u64::from_str_radix(start, 16).ok()?,
        offset: u64::from_str_radix(offset, 16).ok()?,
        executable: permissions.as_bytes().get(2) == Some(&b'x'),
        path: rest.trim_start(),
    })
}

struct Segment {
    offset: u64,
    size: u64,
    address: u64,
}

impl Segment {
    /// Whether a mapping with this file offset maps this segment. Mappings start on page boundaries; pages are at most 64 kB.
    fn maps(&self, offset: u64) -> bool {
        offset < self.offset.saturating_add(self.size)
            && self.offset.saturating_sub(offset) < 0x1_0000
    }
}

fn executable_segments(data: &[u8]) -> Option<Vec<Segment>> {
    let header = elf::FileHeader64::<Endianness>::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, data).ok()?;
    let executable = segments
        .iter()
        .filter(|s| s.p_type(endian) == elf::PT_LOAD && s.p_flags(endian).contains(elf::PF_X))
        .map(|s| Segment {
            offset: s.p_offset(endian),
            size: s.p_filesz(endian),
            address: s.p_vaddr(endian),
        });
    Some(executable.collect())
}
