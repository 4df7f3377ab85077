//! Why a call tree cannot be built.

use std::fmt;

/// Why a call tree cannot be built. The reader of a file adds where in the file it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallTreeError {
    /// A tree without any value type.
    NoValueTypes,
    /// A sample with another number of values than the tree has types.
    WrongValues {
        /// The number of value types.
        expected: usize,
        /// The number of values in the sample.
        found: usize,
    },
    /// A sample without a frame.
    EmptyStack,
    /// A frame number that [`intern`](super::CallTreeBuilder::intern) never gave out.
    UnknownFrame(u32),
    /// A stack with more frames than the limit.
    TooDeep {
        /// Its frames.
        depth: usize,
        /// The limit.
        limit: u32,
    },
    /// More different frames than the limit.
    TooManyFrames {
        /// The limit.
        limit: u32,
    },
    /// More nodes than the limit.
    TooManyNodes {
        /// The limit.
        limit: u32,
    },
    /// The values of one type, without their signs, add up to more than [`MAX_MAGNITUDE`](super::MAX_MAGNITUDE).
    TooMuchCost {
        /// The type's name.
        value: String,
    },
}

impl fmt::Display for CallTreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallTreeError::NoValueTypes => write!(f, "a call tree needs at least one value type"),
            CallTreeError::WrongValues { expected, found } => {
                write!(f, "expected {expected} values in a sample, got {found}")
            }
            CallTreeError::EmptyStack => {
                write!(f, "expected at least one frame in a stack, got none")
            }
            CallTreeError::UnknownFrame(id) => write!(f, "there is no frame number {id}"),
            CallTreeError::TooDeep { depth, limit } => {
                write!(f, "a stack has {depth} frames, the limit is {limit}")
            }
            CallTreeError::TooManyFrames { limit } => {
                write!(f, "there are more than {limit} different frames")
            }
            CallTreeError::TooManyNodes { limit } => {
                write!(f, "the call tree has more than {limit} nodes")
            }
            CallTreeError::TooMuchCost { value } => write!(
                f,
                "the values of type {:?} add up to more than 64 bits can hold: use a larger unit",
                crate::text::shorten(value)
            ),
        }
    }
}

impl std::error::Error for CallTreeError {}
