//! Logs made by hand, and what they contain.

mod crosstalk;
mod damage;
mod flows;
mod handlers;
mod log;
mod messages;
mod run;
mod samples;
mod simulation;
mod spans;
mod support;
mod tasks;
mod timeline;
mod traces;
mod windows;
