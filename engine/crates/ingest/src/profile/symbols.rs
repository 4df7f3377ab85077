//! Names for code of which a profile knows only the place in a file.

/// Where names of code come from: from the files themselves, when they are there. This crate does not read files.
pub trait Symbols {
    /// The functions at a byte of an executable or library, outermost first, several where some were inlined. Empty when
    /// they are not known. With a build id, a file that has another one is another program.
    fn names(&self, file: &str, build_id: Option<&[u8]>, offset: u64) -> Vec<String>;
}

/// No names at all.
#[derive(Clone, Copy, Debug)]
pub struct NoSymbols;

impl Symbols for NoSymbols {
    fn names(&self, _: &str, _: Option<&[u8]>, _: u64) -> Vec<String> {
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
