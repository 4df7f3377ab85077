//! What every recording needs of a program and its processes: starting it, and what `/proc`, clocks, shared files and call frame
//! information say about it.

pub(crate) mod clock;
pub(crate) mod launch;
pub(crate) mod open_folder;
pub(crate) mod proc;
pub(crate) mod shared_file;
pub(crate) mod unwind;
