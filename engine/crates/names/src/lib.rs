//! Names of functions and variables: by their place in an ELF file, and as people write them.
//!
//! Also for libraries that run inside other people's programs: no debug information is read, and nothing is linked that
//! could read it. Files are read piece by piece, never mapped: a program that is rebuilt meanwhile cannot stop the reader.
#![forbid(unsafe_code)]

mod data;
mod demangle;
pub mod file;
mod table;

pub use data::DataTable;
pub use demangle::{Qualified, qualified, readable};
pub use file::FileError;
pub use table::{SymbolTable, build_id_of_notes};
