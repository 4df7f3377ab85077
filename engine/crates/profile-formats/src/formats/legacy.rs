//! What gperftools, tcmalloc, jemalloc and Go wrote before there was `profile.proto`: processor time in words of the machine,
//! memory and waiting as text. Both know addresses, and often the map of memory that names their files.

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

/// The section that has the profile itself.
const PROFILE: &[u8] = b"\n--- profile\n";

/// A header of words, alone or behind the names of its addresses.
pub(crate) fn detect_cpu(input: &Input) -> bool {
    cpu::is_profile(input.bytes) || named_cpu(input).is_some()
}

/// Reads processor time.
pub(crate) fn read_cpu(input: &Input) -> Result<Collected, Fault> {
    match named_cpu(input) {
        Some((symbols, start)) => cpu::read(input, &symbols, start),
        None => cpu::read(input, "", 0),
    }
}

/// The first line of memory's, waiting's or goroutines' profiles.
pub(crate) fn detect_text(input: &Input) -> bool {
    let mut lines = input.first_lines().map(|(_, line)| line);
    match lines.next() {
        Some(SYMBOLS) => lines.any(text::begins),
        Some(line) => text::begins(line),
        None => false,
    }
}

/// Reads memory, waiting or goroutines.
pub(crate) fn read_text(input: &Input) -> Result<Collected, Fault> {
    text::read(input)
}

/// The symbols before a profile of processor time, and where that begins.
fn named_cpu(input: &Input) -> Option<(String, usize)> {
    if !input.bytes.starts_with(SYMBOLS.as_bytes()) {
        return None;
    }
    let at = memchr::memmem::find(input.bytes, PROFILE)?;
    let symbols = String::from_utf8_lossy(&input.bytes[..at]).into_owned();
    let start = at + PROFILE.len();
    cpu::is_profile(&input.bytes[start..]).then_some((symbols, start))
}
