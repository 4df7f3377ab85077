//! The filter language (JPMT §4.2): which events and which methods are observed.
//!
//! The agents apply it, the engine reads and writes it, and the server helps to write it.
//!
//! Constraints, because this also runs inside other people's programs: no I/O, no locks, and no panics on any input.
#![forbid(unsafe_code)]

mod choose;
mod directives;
mod filter;
mod pattern;

pub use choose::with_values;
pub use directives::{DIRECTIVES, Directive};
pub use filter::{Action, Filter, FilterError, LONGEST_TEXT, MOST_VALUES, MethodPattern, Rule};
pub use pattern::{Pattern, matches};
