//! Logs made by hand, and what they say.

mod crosstalk;
mod flows;
mod log;
mod messages;
mod samples;
mod support;
