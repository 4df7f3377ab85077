//! Debug information: from an ELF file and a scope to the address ranges of source lines (COZ §3.1).
//!
//! The engine reads DWARF here, once; the profiled process gets only the sorted ranges.
//! Files are read piece by piece, never mapped: a program that is rebuilt meanwhile cannot stop the engine.

#![forbid(unsafe_code)]

mod bias;
mod call_values;
mod callers;
mod containers;
mod error;
mod executable;
mod file;
mod files;
mod function_table;
mod functions;
mod inlined;
mod inlines;
mod line_table;
mod lines;
mod paint;
mod patch;
mod paths;
mod scope;
mod sites;
mod units;
mod unwind;

use std::path::Path;

pub use bias::load_bias;
pub use call_values::{CallSite, FunctionValues, Place, ValueType, function_values};
pub use callers::{CallFrames, Caller, Registers};
pub use error::SymbolsError;
pub use executable::{Executable, ExecutableKind, executable_kind, is_instrumented};
pub use fulcrum_model::Location;
pub use function_table::{Function, FunctionRange, FunctionTable, Node};
pub use inlined::{CodeFrame, Inlined};
pub use line_table::{LineTable, Range};
pub use patch::{Window, jump_to};
pub use scope::{Scope, matches_path};
pub use sites::{Site, breakpoint_sites};
pub use unwind::{Base, UnwindRow, UnwindRule, function_extents, unwind_rows};

/// Reads a module's debug information and gives the code of every line in scope.
///
/// Code that comes from a file out of scope but was inlined into a function in scope belongs to the innermost
/// call site in scope. An empty table is not an error: its notes say why it is empty.
pub fn line_ranges(path: &Path, scope: &Scope) -> Result<LineTable, SymbolsError> {
    file::with_debug_info(path, |module| lines::table(path, scope, module))
}

/// The address of a global variable as the linker assigned it, by the name that people know it by: `shop::cart_lock`,
/// `table+0x40`. `None` where the module has none of that name.
///
/// # Errors
/// When the file cannot be read or is no ELF file of this machine's kind.
pub fn variable_address(path: &Path, name: &str) -> Result<Option<u64>, SymbolsError> {
    Ok(fulcrum_names::DataTable::open(path)?.named(name))
}

/// Reads a module's debug information and gives the code of every function whose declaration is in scope.
///
/// Code of functions out of scope that was inlined into one in scope belongs to the latter.
pub fn function_ranges(path: &Path, scope: &Scope) -> Result<FunctionTable, SymbolsError> {
    file::with_debug_info(path, |module| functions::table(path, scope, module))
}
