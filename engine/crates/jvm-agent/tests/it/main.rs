//! The integration tests of `fulcrum-jvm-agent`: one binary, so that they are linked once.

mod common;
mod events;
mod manners;
mod queues;
mod values;
