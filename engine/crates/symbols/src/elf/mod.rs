//! ELF files: opening modules and their separate debug files, what kind of program a file is, where it was loaded.

pub(crate) mod bias;
pub(crate) mod executable;
pub(crate) mod file;
