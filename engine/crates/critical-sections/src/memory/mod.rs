//! The program's code, the memory for translations, and the thread-local words.

pub(crate) mod code;
pub(crate) mod loader;
pub(crate) mod regions;
pub(crate) mod tls;
