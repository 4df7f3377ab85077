//! Messages between threads and processes: the program's descriptors, the streams behind them, and the bytes that pass
//! through.

pub(crate) mod descriptors;
pub(crate) mod entries;
pub(crate) mod identify;
pub(crate) mod io;
pub(crate) mod registrations;
pub(crate) mod streams;
pub(crate) mod unix_peers;
