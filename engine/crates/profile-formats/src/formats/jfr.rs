//! JDK Flight Recorder's files: samples of execution, native code, allocation and waiting, with Java's stacks.
//!
//! A file is a sequence of chunks, each with its own classes, constants and events. Nothing in a chunk refers to another.
//!
//! Libraries: jfrs 0.2.5 takes the size of a chunk from its head, which is 0 until the chunk is closed, so it does not read
//! what a killed JVM leaves. It keeps all constants as generic values, and its errors give no place.

mod chunk;
mod metadata;
mod pools;
mod recording;
#[cfg(test)]
mod tests;
mod values;

use self::recording::Recording;
use crate::collect::collected::Collected;
use crate::decode::fault::Fault;
use crate::decode::input::Input;

/// Detects the magic number.
pub(crate) fn detect(input: &Input) -> bool {
    input.bytes.starts_with(chunk::MAGIC)
}

/// Reads a profile.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let mut recording = Recording::new(input.grain);
    for chunk in chunk::chunks(input.bytes) {
        let chunk = chunk?;
        let at = chunk.at;
        // By default a chunk has 12 MB, so this reports progress often enough.
        input.read_until(at)?;
        recording.chunk(&chunk).map_err(|fault| fault.at_byte(at))?;
    }
    recording.finish()
}
