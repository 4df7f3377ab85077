//! Debug information: from an ELF file and a scope to the address ranges of source lines and functions (COZ §3.1).
//!
//! The engine reads DWARF here, once; the profiled process gets only the sorted ranges. Files are read piece by piece and never
//! mapped, so that a program that is rebuilt meanwhile cannot crash the engine.

#![forbid(unsafe_code)]

mod call_values;
mod dwarf;
mod elf;
mod error;
mod functions;
mod lines;
mod scope;
mod sites;
mod unwind;

use std::path::Path;

pub use call_values::{CallSite, FunctionValues, Place, ValueType, function_values};
pub use elf::bias::load_bias;
pub use elf::executable::{Executable, ExecutableKind, executable_kind, is_instrumented};
pub use error::SymbolsError;
pub use fulcrum_model::Location;
pub use functions::inlined::{CodeFrame, Inlined};
pub use functions::table::{Function, FunctionRange, FunctionTable, Node};
pub use lines::table::{LineTable, Range};
pub use scope::{Scope, matches_path};
pub use sites::patch::{Window, jump_to};
pub use sites::{Site, breakpoint_sites};
pub use unwind::callers::{CallFrames, Caller, Registers};
pub use unwind::rows::{Base, UnwindRow, UnwindRule, function_extents, unwind_rows};

/// Reads a module's debug information and returns the code of every line in scope.
///
/// Code from a file out of scope that was inlined into a function in scope belongs to the innermost call site in scope. An empty
/// table is not an error: its notes say why it is empty.
pub fn line_ranges(path: &Path, scope: &Scope) -> Result<LineTable, SymbolsError> {
    elf::file::with_debug_info(path, |module| lines::table(path, scope, module))
}

/// The address of a global variable as the linker assigned it, by its readable name, such as `shop::cart_lock` or `table+0x40`. `None`
/// if the module has no such variable.
///
/// # Errors
/// When the file cannot be read, or is not an ELF file for this machine.
pub fn variable_address(path: &Path, name: &str) -> Result<Option<u64>, SymbolsError> {
    Ok(fulcrum_names::DataTable::open(path)?.named(name))
}

/// Reads a module's debug information and returns the code of every function whose declaration is in scope.
///
/// Code of functions out of scope that was inlined into a function in scope belongs to that function.
pub fn function_ranges(path: &Path, scope: &Scope) -> Result<FunctionTable, SymbolsError> {
    elf::file::with_debug_info(path, |module| functions::table(path, scope, module))
}
