//! The writers: profiles as folded stacks, pprof or speedscope, and OpenTelemetry's messages.

mod folded;
mod names;
pub mod open_telemetry;
mod pprof;
mod proto;
mod samples;
mod speedscope;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io::{self, Write};

use fulcrum_model::text::shorten;

use self::samples::Order;
use crate::{Calls, Profile};

/// The formats that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputFormat {
    /// Folded stacks with one value type. Processes and threads become the outermost frames; files, lines and binaries are
    /// lost.
    Folded,
    /// pprof's `profile.proto`, compressed, with all value types. Processes and threads become the label `thread`.
    Pprof,
    /// speedscope's JSON with one value type. Processes and threads become profiles; binaries are lost.
    Speedscope,
}

/// Why a profile cannot be written.
#[derive(Debug)]
pub enum WriteError {
    /// The format needs stacks, and the profile is a call graph.
    NoStacks,
    /// The profile has no value type with this number.
    NoSuchValue {
        /// The number.
        value: usize,
    },
    /// All values of this type are 0, and the format cannot express that.
    Nothing {
        /// Its name.
        value: String,
    },
    /// Writing failed.
    Io(io::Error),
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::NoStacks => f.write_str(
                "this profile is a call graph: it knows the cost of single calls, not of stacks, so it cannot become \
                 folded stacks, pprof or speedscope",
            ),
            WriteError::NoSuchValue { value } => {
                write!(f, "the profile has no value type number {value}")
            }
            WriteError::Nothing { value } => {
                let value = shorten(value);
                write!(f, "all values of type {value:?} are 0: there is no stack to write")
            }
            WriteError::Io(error) => write!(f, "the profile cannot be written: {error}"),
        }
    }
}

impl std::error::Error for WriteError {}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        WriteError::Io(error)
    }
}

/// Writes a profile. `value` is the number of the value type to write. pprof has all of them and shows this one first.
///
/// # Errors
/// When the profile has no stacks or no such value type, when there is nothing to write, and when `to` fails.
pub fn write(
    profile: &Profile,
    format: OutputFormat,
    value: usize,
    to: &mut impl Write,
) -> Result<(), WriteError> {
    write_stacks(profile, format, value, Order::Tree, to)
}

/// As [`write()`], but only the stacks that end at these nodes, in this order.
///
/// # Errors
/// As [`write()`].
///
/// # Panics
/// When there is no such node.
pub fn write_in_order(
    profile: &Profile,
    format: OutputFormat,
    value: usize,
    nodes: &[u32],
    to: &mut impl Write,
) -> Result<(), WriteError> {
    write_stacks(profile, format, value, Order::These(nodes), to)
}

fn write_stacks(
    profile: &Profile,
    format: OutputFormat,
    value: usize,
    order: Order,
    to: &mut impl Write,
) -> Result<(), WriteError> {
    let Calls::Tree(tree) = &profile.calls else {
        return Err(WriteError::NoStacks);
    };
    if value >= tree.value_types().len() {
        return Err(WriteError::NoSuchValue { value });
    }
    if format != OutputFormat::Pprof && tree.values(value).iter().all(|&value| value == 0) {
        let value = tree.value_types()[value].name.clone();
        return Err(WriteError::Nothing { value });
    }
    match format {
        OutputFormat::Folded => folded::write(tree, order, value, to)?,
        OutputFormat::Pprof => pprof::write(tree, order, value, to)?,
        OutputFormat::Speedscope => speedscope::write(tree, order, value, to)?,
    }
    Ok(())
}
