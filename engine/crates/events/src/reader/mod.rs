//! Reading an event log: its header, dictionary, chunks, and the events of each thread.

pub(crate) mod bytes;
pub(crate) mod chunks;
pub(crate) mod clock;
pub(crate) mod cursor;
pub(crate) mod dictionary;
pub(crate) mod event;
pub(crate) mod find;
pub(crate) mod merge;
pub(crate) mod open;
pub(crate) mod selection;
