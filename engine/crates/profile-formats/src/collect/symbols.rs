//! What executables and libraries know and a profile does not: the names of addresses, and how frames find their callers.
//!
//! This crate reads no files, so the caller implements [`Symbols`].

/// Where code is in an executable or library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// An offset in the file, in bytes.
    Byte(u64),
    /// An address, counted from the lowest one that the linker assigned.
    Address(u64),
}

/// The function that code belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// As the symbol table has it.
    pub name: String,
    /// The source file; empty when unknown.
    pub file: String,
    /// The line that ran, from 1; 0 when unknown.
    pub line: u32,
}

/// The registers of x86-64 by their DWARF numbers: 6 is the frame pointer, 7 the stack pointer, 16 the address that runs or is
/// returned to. `None` where the value is unknown.
pub type Registers = [Option<u64>; 17];

/// The caller of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are frames, and none is kept"
)]
pub enum Caller {
    /// A frame.
    Frame {
        /// The caller's registers.
        registers: Registers,
        /// A signal interrupted it: the address is that of an instruction, not a return address.
        interrupted: bool,
    },
    /// None: a thread begins here.
    Outermost,
    /// The memory that is needed to find it was not recorded.
    Lost,
    /// Nothing is known about this code.
    Unknown,
}

/// Names for code, from the executables and libraries themselves.
pub trait Symbols {
    /// The functions at a place of an executable or library, outermost first; several when functions were inlined. Empty when
    /// unknown. A file with another build id is another program.
    fn code(&self, file: &str, build_id: Option<&[u8]>, at: At) -> Vec<Code>;

    /// The caller of a frame that runs at a place of a file with the recorded build id. `read` reads a word of the thread's
    /// memory, if it was recorded.
    fn caller(
        &self,
        _file: (&str, Option<&[u8]>),
        _at: At,
        _frame: &Registers,
        _read: &dyn Fn(u64) -> Option<u64>,
    ) -> Caller {
        Caller::Unknown
    }
}

/// Knows no names.
#[derive(Clone, Copy, Debug)]
pub struct NoSymbols;

impl Symbols for NoSymbols {
    fn code(&self, _: &str, _: Option<&[u8]>, _: At) -> Vec<Code> {
        Vec::new()
    }
}

/// The last part of a path, in brackets: the name of code without a name.
pub(crate) fn bracketed(file: &str) -> String {
    let base = file.rsplit(['/', '\\']).next().unwrap_or("");
    let base = base.trim_start_matches('[').trim_end_matches(']');
    match base {
        "" | "unknown" => "[unknown]".to_owned(),
        base => format!("[{base}]"),
    }
}
