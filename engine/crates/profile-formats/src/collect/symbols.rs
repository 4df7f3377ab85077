//! What files with code tell that a profile does not: names for places in them, and how frames find their callers.

/// Where code is in an executable or library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// A byte of the file.
    Byte(u64),
    /// An address, counted from the lowest one that the linker assigned.
    Address(u64),
}

/// A function that code is of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// As the symbol table has it.
    pub name: String,
    /// The source file; empty when it is not known.
    pub file: String,
    /// The line that ran, from 1; 0 when it is not known.
    pub line: u32,
}

/// What the registers of x86-64 hold, by their numbers in DWARF: 6 is the frame pointer, 7 the stack pointer, 16 the address
/// that runs or is returned to. `None` where it is not known.
pub type Registers = [Option<u64>; 17];

/// Where a frame was called from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are frames, and none is kept"
)]
pub enum Caller {
    /// There.
    Frame {
        /// As the caller has them.
        registers: Registers,
        /// A signal interrupted it: the address is that of an instruction, not of one behind a call.
        interrupted: bool,
    },
    /// From nowhere: a thread begins here.
    Outermost,
    /// What it takes to find it is not in the memory that was recorded.
    Lost,
    /// Nothing is known about this code.
    Unknown,
}

/// Where names of code come from: from the files themselves, when they are there. This crate does not read files.
pub trait Symbols {
    /// The functions at a place of an executable or library, outermost first, several where some were inlined. Empty when
    /// they are not known. With a build id, a file that has another one is another program.
    fn code(&self, file: &str, build_id: Option<&[u8]>, at: At) -> Vec<Code>;

    /// The caller of a frame that runs at a place of a file, which has the build id that was recorded. `read` reads a word of the
    /// thread's memory, where it was recorded.
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

/// No names at all.
#[derive(Clone, Copy, Debug)]
pub struct NoSymbols;

impl Symbols for NoSymbols {
    fn code(&self, _: &str, _: Option<&[u8]>, _: At) -> Vec<Code> {
        Vec::new()
    }
}

/// The last part of a path, in brackets: what stands for code without a name.
pub(crate) fn bracketed(file: &str) -> String {
    let base = file.rsplit(['/', '\\']).next().unwrap_or("");
    let base = base.trim_start_matches('[').trim_end_matches(']');
    match base {
        "" | "unknown" => "[unknown]".to_owned(),
        base => format!("[{base}]"),
    }
}
