//! Names of code and data addresses: the run keeps a table of those that its profile needs, so that it can be shown where
//! the programs are not.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use fulcrum_transactions::ProcessId;
use serde::{Deserialize, Serialize};

use crate::error::RunError;

pub use fulcrum_wire::transactions::COPIES_MODULE;

/// The table's name in the run folder.
pub const FILE: &str = "names.json";
/// Changes whenever the table's format does.
pub const VERSION: u32 = 1;

/// Turns that are told apart.
const MOST_TURNS: u32 = 0xffff;

/// A process of a run: its number, and how many programs it had executed before.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct ProcessKey {
    /// The process.
    pub pid: u32,
    /// Programs that it had executed before under us.
    pub turn: u32,
}

impl ProcessKey {
    /// The number by which profiles know the process.
    pub fn id(self) -> ProcessId {
        ProcessId(u64::from(self.turn.min(MOST_TURNS)) << 32 | u64::from(self.pid))
    }
}

/// A function at an address, and the line.
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

/// Knows what is where in processes.
pub trait Resolver {
    /// The functions at an address of code, the innermost inlined one first. `None` or nothing: it is not known.
    ///
    /// Of a return address, it is the byte before it that is asked for: the call itself.
    fn code(&self, process: ProcessKey, address: u64) -> Option<Vec<Frame>>;

    /// What is at an address of data: `cart_lock`, `table+0x40`.
    fn data(&self, process: ProcessKey, address: u64) -> Option<String>;
}

/// Knows nothing.
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

/// Who knows the processes of each run.
pub(crate) struct Resolvers<'a>(pub(crate) Vec<&'a dyn Resolver>);

impl Resolvers<'_> {
    pub(crate) fn code(&self, run: usize, process: ProcessKey, address: u64) -> Option<Vec<Frame>> {
        self.0.get(run)?.code(process, address)
    }

    pub(crate) fn data(&self, run: usize, process: ProcessKey, address: u64) -> Option<String> {
        self.0.get(run)?.data(process, address)
    }
}

/// The table as it stands in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameFile {
    /// [`VERSION`].
    pub version: u32,
    /// The names, by processes.
    pub processes: Vec<NamesOf>,
}

/// Names that some processes share, since the same files are at the same addresses in all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamesOf {
    /// The processes.
    pub processes: Vec<ProcessKey>,
    /// Functions by address, the innermost inlined one first. None at all: code of Fulcrum's own, which nobody is shown.
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
    /// Reads the table of a run folder; `None` when it has none.
    ///
    /// # Errors
    /// [`RunError::File`], when it cannot be read, or is none.
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

    /// Writes the table into a run folder: all of it, or nothing.
    ///
    /// # Errors
    /// [`RunError::File`], when it cannot be written.
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

/// The table, ready to be asked.
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
