//! The integration tests of `fulcrum-events`: one binary, so that they are linked once.

mod common;
mod export;
mod index;
mod log;
mod memory;
mod progress;
mod queues;
mod refine;
mod timeline;
mod tools;
mod values;
