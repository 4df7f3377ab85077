//! Names of code and data addresses. The run folder keeps a table of those that its profile needs, so that the profile can
//! be shown where the programs are not available.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use fulcrum_transactions::ProcessId;
use serde::{Deserialize, Serialize};

use crate::error::RunError;

pub use fulcrum_wire::transactions::COPIES_MODULE;

/// The file name of the table in the run folder.
pub const FILE: &str = "names.json";
/// The version of the table's format.
pub const VERSION: u32 = 1;

/// The most turns that are told apart.
const MOST_TURNS: u32 = 0xffff;

/// A process of a run: its number, and the number of programs it had executed before.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct ProcessKey {
    /// The process.
    pub pid: u32,
    /// The number of programs that it had executed before while recorded.
    pub turn: u32,
}

impl ProcessKey {
    /// The process's identifier in profiles.
    pub fn id(self) -> ProcessId {
        ProcessId(u64::from(self.turn.min(MOST_TURNS)) << 32 | u64::from(self.pid))
    }
}

/// A function at an address, with the line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The function.
    pub name: String,
    /// The source file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// Names addresses in processes.
pub trait Resolver {
    /// The functions at a code address, the innermost inlined one first. `None` or empty if unknown.
    ///
    /// For a return address, callers pass the byte before it, which belongs to the call.
    fn code(&self, process: ProcessKey, address: u64) -> Option<Vec<Frame>>;

    /// The name of a data address: `cart_lock`, `table+0x40`.
    fn data(&self, process: ProcessKey, address: u64) -> Option<String>;
}

/// A resolver without names.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoNames;

impl Resolver for NoNames {
    fn code(&self, _: ProcessKey, _: u64) -> Option<Vec<Frame>> {
        None
    }

    fn data(&self, _: ProcessKey, _: u64) -> Option<String> {
        None
    }
}

/// The resolver of each run.
pub(crate) struct Resolvers<'a>(pub(crate) Vec<&'a dyn Resolver>);

impl Resolvers<'_> {
    pub(crate) fn code(&self, run: usize, process: ProcessKey, address: u64) -> Option<Vec<Frame>> {
        self.0.get(run)?.code(process, address)
    }

    pub(crate) fn data(&self, run: usize, process: ProcessKey, address: u64) -> Option<String> {
        self.0.get(run)?.data(process, address)
    }
}

/// The table, as in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameFile {
    /// [`VERSION`].
    pub version: u32,
    /// The names, by processes.
    pub processes: Vec<NamesOf>,
}

/// Names shared by some processes, because these have the same files at the same addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamesOf {
    /// The processes.
    pub processes: Vec<ProcessKey>,
    /// Functions by address, the innermost inlined one first. An empty list means Fulcrum's own code, which is not shown.
    pub code: BTreeMap<u64, Vec<Frame>>,
    /// Data by address.
    pub data: BTreeMap<u64, String>,
}

impl Default for NameFile {
    fn default() -> Self {
        NameFile {
            version: VERSION,
            processes: Vec::new(),
        }
    }
}

impl NameFile {
    /// Reads the table of a run folder. Returns `None` if it has none.
    ///
    /// # Errors
    /// [`RunError::File`], if the file cannot be read or is invalid.
    pub fn read(folder: &Path) -> Result<Option<NameFile>, RunError> {
        let path = folder.join(FILE);
        let failed = |error| RunError::File {
            path: path.clone(),
            error,
        };
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let file = serde_json::from_slice(&bytes);
        let file: NameFile = file.map_err(|error| failed(error.into()))?;
        if file.version != VERSION {
            let version = file.version;
            let text = format!("it has version {version}, expected {VERSION}");
            return Err(failed(io::Error::other(text)));
        }
        Ok(Some(file))
    }

    /// Writes the table into a run folder atomically.
    ///
    /// # Errors
    /// [`RunError::File`], if the file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), RunError> {
        let path = folder.join(FILE);
        self.write_whole(&path)
            .map_err(|error| RunError::File { path, error })
    }

    fn write_whole(&self, path: &Path) -> io::Result<()> {
        let unfinished = path.with_extension("part");
        let mut out = io::BufWriter::new(fs::File::create(&unfinished)?);
        serde_json::to_writer(&mut out, self)?;
        out.flush()?;
        drop(out);
        fs::rename(unfinished, path)
    }
}

/// The table, ready for lookups.
#[derive(Clone, Debug, Default)]
pub struct NameTable {
    groups: Vec<NamesOf>,
    by_process: HashMap<ProcessKey, usize>,
}

impl From<NameFile> for NameTable {
    fn from(file: NameFile) -> Self {
        let mut by_process = HashMap::new();
        for (row, group) in file.processes.iter().enumerate() {
            by_process.extend(group.processes.iter().map(|&it| (it, row)));
        }
        NameTable {
            groups: file.processes,
            by_process,
        }
    }
}

impl NameTable {
    fn of(&self, process: ProcessKey) -> Option<&NamesOf> {
        self.groups.get(*self.by_process.get(&process)?)
    }
}

impl Resolver for NameTable {
    fn code(&self, process: ProcessKey, address: u64) -> Option<Vec<Frame>> {
        self.of(process)?.code.get(&address).cloned()
    }

    fn data(&self, process: ProcessKey, address: u64) -> Option<String> {
        self.of(process)?.data.get(&address).cloned()
    }
}
