//! JDK Flight Recorder's files: samples of execution, native code, allocation and waiting, with Java's stacks.
//!
//! A file is a sequence of chunks, each with its own classes, constants and events: nothing in one refers to another.

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

/// The magic number.
pub(crate) fn detect(input: &Input) -> bool {
    input.bytes.starts_with(chunk::MAGIC)
}

/// Reads a profile.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let mut recording = Recording::new(input.lines());
    for chunk in chunk::chunks(input.bytes) {
        let chunk = chunk?;
        let at = chunk.at;
        // A chunk has twelve megabytes, unless the recording was told otherwise.
        input.read_until(at)?;
        recording.chunk(&chunk).map_err(|fault| fault.at_byte(at))?;
    }
    recording.finish()
}
