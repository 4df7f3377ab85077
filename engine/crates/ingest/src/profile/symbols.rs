//! Names for code of which a profile knows only the place in a file.

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

/// Where names of code come from: from the files themselves, when they are there. This crate does not read files.
pub trait Symbols {
    /// The functions at a place of an executable or library, outermost first, several where some were inlined. Empty when
    /// they are not known. With a build id, a file that has another one is another program.
    fn code(&self, file: &str, build_id: Option<&[u8]>, at: At) -> Vec<Code>;
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
pub fn bracketed(file: &str) -> String {
    let base = file.rsplit(['/', '\\']).next().unwrap_or("");
    let base = base.trim_start_matches('[').trim_end_matches(']');
    match base {
        "" | "unknown" => "[unknown]".to_owned(),
        base => format!("[{base}]"),
    }
}
