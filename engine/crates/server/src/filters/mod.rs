//! Filters of event traces (`*.fulcrum-filter`) in the editor: completion, diagnostics, hover.
//!
//! What a rule means for a program comes from earlier runs: the dictionaries of their logs name the methods that could be
//! observed, and the newest log says how often each was called.

mod check;
mod complete;
mod hover;
mod lines;
mod observed;

pub(crate) use check::check;
pub(crate) use complete::complete;
pub(crate) use hover::hover;
pub(crate) use observed::LogCache;
