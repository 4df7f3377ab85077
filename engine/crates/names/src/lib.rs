//! The names of functions and variables, by address in an ELF file, and in readable form.
//!
//! Also for libraries that run inside other people's programs: reads no debug information and links nothing that could. Files are read
//! piece by piece and never mapped, so that a program that is rebuilt meanwhile cannot crash the reader.
#![forbid(unsafe_code)]

mod data;
mod demangle;
pub mod file;
mod table;

pub use data::DataTable;
pub use demangle::{Qualified, qualified, readable};
pub use file::FileError;
pub use table::{SymbolTable, build_id_of_notes};
