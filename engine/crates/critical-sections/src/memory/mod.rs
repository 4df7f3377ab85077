//! Memory: the program's code, the memory for translations, and the words that belong to a thread.

pub(crate) mod code;
pub(crate) mod loader;
pub(crate) mod regions;
pub(crate) mod tls;
