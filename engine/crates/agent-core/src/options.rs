//! The options of `fulcrum trace`: the run's folder, and in it the files `filter` and `agent.options`, which has lines
//! `NAME=VALUE`.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use fulcrum_filter::Filter;
use fulcrum_hotspot::{Meter, Rule};
use fulcrum_wire::log::{PLAIN_VERSION, VALUES_VERSION};

use crate::say::say;

/// All options.
pub struct Options {
    /// Where the log goes.
    pub log: PathBuf,
    /// What is observed.
    pub filter: Filter,
    /// The log's size limit, bytes.
    pub limit: u64,
    /// What shuts gates; without it there are none.
    pub rule: Option<Rule>,
    /// A method without a gate, `Class.method`: its calls are the units of work.
    pub unit: Option<String>,
    /// Another path for the log.
    pub output: Option<Output>,
    /// The process that records.
    pub recorder: Option<u32>,
}

const LIMIT: u64 = 1 << 30;

impl Options {
    /// The version of the log: older versions of Fulcrum read those without values.
    pub fn log_version(&self) -> u64 {
        match self.filter.values.is_empty() {
            true => PLAIN_VERSION,
            false => VALUES_VERSION,
        }
    }

    /// Reads the options of the run in the folder `text`.
    pub fn read(text: &str) -> Result<Options, String> {
        let folder = Path::new(text);
        if text.is_empty() {
            return Err("no folder is named: the agent was not started by fulcrum trace".into());
        }
        // Even if it cannot be read: the message says why.
        crate::say::into(folder);
        if !folder.is_dir() {
            return Err(format!(
                "{text:?} is not a folder: the agent was not started by fulcrum trace"
            ));
        }
        let mut filter = match std::fs::read_to_string(folder.join("filter")) {
            Ok(text) => {
                Filter::parse(&text).map_err(|error| format!("the filter is wrong at {error}"))?
            }
            Err(_) => Filter::standard(),
        };
        let options = std::fs::read_to_string(folder.join("agent.options")).unwrap_or_default();
        let option = |name: &str| {
            let mut lines = options.lines();
            lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
        };
        let limit = number("limit", option("limit"))?.unwrap_or(LIMIT);
        let recorder = number("recorder", option("recorder"))?;
        let rule = match option("rule") {
            Some(text) => {
                Some(Rule::parse(text).map_err(|error| format!("the rule is wrong: {error}"))?)
            }
            None => None,
        };
        if let Some(rule) = &rule {
            // What the rule uses must be observed.
            filter.contention |= rule.needs(Meter::Contention);
            filter.allocations |= rule.needs(Meter::Allocation);
        }
        let pid = std::process::id();
        // Each program of a run has a log, also each that a process executes in turn.
        let names = std::iter::once(format!("events-{pid}.log"))
            .chain((2..1000).map(|n| format!("events-{pid}-{n}.log")));
        let mut paths = names.map(|name| folder.join(name));
        let log = paths
            .find(|path| !path.exists())
            .ok_or("there are too many logs already")?;
        Ok(Options {
            log,
            filter,
            limit,
            rule,
            unit: option("unit").map(|it| it.trim().to_owned()),
            output: option("output").map(|it| Output(it.into())),
            recorder,
        })
    }
}

/// The number in a line of `agent.options`, if that line exists.
fn number<T: FromStr>(name: &str, value: Option<&str>) -> Result<Option<T>, String> {
    let Some(value) = value else { return Ok(None) };
    let wrong = |_| format!("agent.options is wrong at {name}={value}: expected a whole number");
    value.trim().parse().map(Some).map_err(wrong)
}

/// The path where the filter's `output` wants the log.
pub struct Output(PathBuf);

impl Output {
    /// Links the log there, by a hard link where the file system can. A link that this run has made already stays: the log of the
    /// run's first program is the one that was asked for.
    pub fn link(&self, log: &Path) {
        let linked = std::fs::hard_link(log, &self.0).or_else(|_| {
            let log = std::fs::canonicalize(log)?;
            std::os::unix::fs::symlink(log, &self.0)
        });
        if let Err(error) = linked {
            let (output, log) = (self.0.display(), log.display());
            say(&format!(
                "The log is only at {log}, not at {output}: {error}."
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(options: &str) -> Result<(u64, Option<u32>), String> {
        let folder = tempfile::tempdir().expect("room");
        std::fs::write(folder.path().join("agent.options"), options).expect("room");
        let read = Options::read(folder.path().to_str().expect("an ASCII path"));
        read.map(|it| (it.limit, it.recorder))
    }

    #[test]
    fn numbers_are_read_and_the_limit_has_a_default() {
        assert_eq!(read("limit=4096\nrecorder= 17 \n"), Ok((4096, Some(17))));
        assert_eq!(read("unit=a.B.c\n"), Ok((LIMIT, None)));
    }

    #[test]
    fn a_broken_number_is_an_error_that_names_it() {
        for line in ["limit=1GB", "limit=", "limit=-1", "recorder=me"] {
            let wrong = format!("agent.options is wrong at {line}: expected a whole number");
            assert_eq!(read(&format!("unit=a.B.c\n{line}\n")), Err(wrong));
        }
    }
}
