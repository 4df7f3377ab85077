//! The formats of gperftools, tcmalloc, jemalloc and Go before `profile.proto`: CPU time in machine words; memory and
//! waiting as text. Both have addresses, and often a memory map that names the files.
//!
//! Libraries: `parse_jeheap` of rust-jemalloc-pprof reads jemalloc's heap profiles, one of these formats. We found no crate
//! for the others; Go's pprof reads them.

mod addresses;
mod cpu;
mod rows;
#[cfg(test)]
mod tests;
mod text;

use self::text::SYMBOLS;
use crate::collect::collected::Collected;
use crate::decode::fault::Fault;
use crate::decode::input::Input;

/// The heading of the profile itself, after the symbols.
const PROFILE: &[u8] = b"\n--- profile\n";

/// Detects the header in machine words, alone or after the symbols.
pub(crate) fn detect_cpu(input: &Input) -> bool {
    cpu::is_profile(input.bytes) || named_cpu(input).is_some()
}

/// Reads a CPU profile.
pub(crate) fn read_cpu(input: &Input) -> Result<Collected, Fault> {
    match named_cpu(input) {
        Some((symbols, start)) => cpu::read(input, &symbols, start),
        None => cpu::read(input, "", 0),
    }
}

/// Detects the first line of a profile of memory, waiting or goroutines.
pub(crate) fn detect_text(input: &Input) -> bool {
    let mut lines = input.first_lines().map(|(_, line)| line);
    match lines.next() {
        Some(SYMBOLS) => lines.any(text::begins),
        Some(line) => text::begins(line),
        None => false,
    }
}

/// Reads a profile of memory, waiting or goroutines.
pub(crate) fn read_text(input: &Input) -> Result<Collected, Fault> {
    text::read(input)
}

/// The symbols before a CPU profile, and the byte where the profile begins.
fn named_cpu(input: &Input) -> Option<(String, usize)> {
    if !input.bytes.starts_with(SYMBOLS.as_bytes()) {
        return None;
    }
    let at = memchr::memmem::find(input.bytes, PROFILE)?;
    let symbols = String::from_utf8_lossy(&input.bytes[..at]).into_owned();
    let start = at + PROFILE.len();
    cpu::is_profile(&input.bytes[start..]).then_some((symbols, start))
}
