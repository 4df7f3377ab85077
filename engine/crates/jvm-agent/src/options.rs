//! What `fulcrum trace` asks for: the run's folder, and in it the files `filter` and `agent.options`.

use std::path::{Path, PathBuf};

use fulcrum_jvm_core::filter::Filter;

/// Everything that can be asked for.
pub struct Options {
    /// Where the log goes.
    pub log: PathBuf,
    /// What is observed.
    pub filter: Filter,
    /// The log's size limit, bytes.
    pub limit: u64,
}

const LIMIT: u64 = 1 << 30;

impl Options {
    /// Reads them; `text` is what stands behind `=` of `-agentpath`.
    pub fn read(text: &str) -> Result<Options, String> {
        let folder = Path::new(text);
        if text.is_empty() || !folder.is_dir() {
            return Err(format!(
                "{text:?} is no folder: the agent was not started by fulcrum trace"
            ));
        }
        crate::say::into(folder);
        let filter = match std::fs::read_to_string(folder.join("filter")) {
            Ok(text) => {
                Filter::parse(&text).map_err(|error| format!("the filter is wrong at {error}"))?
            }
            Err(_) => Filter::standard(),
        };
        let options = std::fs::read_to_string(folder.join("agent.options")).unwrap_or_default();
        let limit = options
            .lines()
            .find_map(|line| line.strip_prefix("limit=")?.trim().parse().ok());
        let pid = std::process::id();
        // Several programs of one run have a log each; so has each that a process executes in turn.
        let names = std::iter::once(format!("events-{pid}.log"))
            .chain((2..1000).map(|n| format!("events-{pid}-{n}.log")));
        let mut paths = names.map(|name| folder.join(name));
        let log = paths
            .find(|path| !path.exists())
            .ok_or("there are too many logs already")?;
        Ok(Options {
            log,
            filter,
            limit: limit.unwrap_or(LIMIT),
        })
    }
}
