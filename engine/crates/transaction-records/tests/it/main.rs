//! Logs made by hand, and what they say.

mod log;
mod samples;
mod support;
