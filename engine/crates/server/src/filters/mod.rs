//! Filters of event traces (`*.fulcrum-filter`) in the editor: completion, diagnostics, hover.
//!
//! What a rule means for a program is told from earlier runs: the dictionaries of their logs name the methods that could
//! be observed, and the newest one says how often each was called.

mod check;
mod complete;
mod hover;
mod lines;
mod seen;

pub(crate) use check::check;
pub(crate) use complete::complete;
pub(crate) use hover::hover;
pub(crate) use seen::LogCache;

/// The language's id in editors.
pub(crate) const LANGUAGE: &str = "fulcrum-filter";
/// How its files' names end.
pub(crate) const SUFFIX: &str = ".fulcrum-filter";
