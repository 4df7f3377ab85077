//! `run.json`: what was run, where, how it ended.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{place, time};

/// The manifest of a run. Every key may be missing when read, so that an older or damaged one still says what it can.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Manifest {
    /// Version of this layout: 1.
    pub schema: u64,
    /// What was recorded.
    pub kind: RunKind,
    /// The program, as it was given.
    pub command: String,
    /// Its arguments, without the program.
    pub arguments: Vec<String>,
    /// Its working folder.
    pub cwd: String,
    /// Names of its environment variables, sorted. Never their values.
    pub environment_names: Vec<String>,
    /// The machine's name.
    pub host: String,
    /// The processor's name and the number of CPUs.
    pub cpu: String,
    /// The kernel's release.
    pub kernel: String,
    /// The commit of the working folder, when it is in a git repository.
    pub git_revision: Option<String>,
    /// RFC 3339, UTC.
    pub start: String,
    /// RFC 3339, UTC. `None` while running, or when the recorder was killed.
    pub end: Option<String>,
    /// How the run ended.
    pub ended: Ended,
    /// The program's status when it exited.
    pub exit_code: Option<i32>,
    /// The signal that ended the program.
    pub signal: Option<i32>,
    /// A fingerprint of the program's file, by which a run that continues this one knows the same build. `None` when what was
    /// profiled are other files, as of a launcher.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program_digest: Option<String>,
    /// The recorder's options, by name.
    pub options: BTreeMap<String, serde_json::Value>,
    /// Who recorded.
    pub tool: Tool,
    /// Snapshots of the source files that results point into.
    pub sources: Vec<SourceSnapshot>,
    /// What a reader should know. Whole sentences.
    pub notes: Vec<String>,
    /// The first line that was known to be worth something, of a causal profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_verdict: Option<FirstVerdict>,
    /// The critical section that was sped up, of a causal profile that is to tell what it is worth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<PricedSection>,
    /// The recording process, so that a run whose recorder died is told from one that is going on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorder: Option<Recorder>,
}

/// What was recorded. In the file a text, which is kept as it is when this version does not know it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum RunKind {
    /// A causal profile.
    Causal,
    /// An event trace.
    Events,
    /// A transactional profile.
    Transactions,
    /// The manifest does not say.
    #[default]
    Missing,
    /// Something that this version does not know.
    Unknown(String),
}

impl From<String> for RunKind {
    fn from(text: String) -> Self {
        match &*text {
            "causal" => RunKind::Causal,
            "events" => RunKind::Events,
            "transactions" => RunKind::Transactions,
            "" => RunKind::Missing,
            _ => RunKind::Unknown(text),
        }
    }
}

impl From<RunKind> for String {
    fn from(kind: RunKind) -> Self {
        match kind {
            RunKind::Causal => "causal".into(),
            RunKind::Events => "events".into(),
            RunKind::Transactions => "transactions".into(),
            RunKind::Missing => String::new(),
            RunKind::Unknown(text) => text,
        }
    }
}

/// A verdict while a run goes on: what one line gains at least. The final results know nothing of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FirstVerdict {
    /// Of which line or function, as records name it.
    pub target: String,
    /// At which progress point.
    pub progress_point: String,
    /// The program speedup at least if that is twice as fast, a fraction.
    pub at_least: f64,
    /// How long the run had lasted, seconds.
    pub seconds: f64,
}

/// A critical section that others wait for, and whose requests tell what it would be worth if it took less time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PricedSection {
    /// The type of transaction that waits.
    pub waiter: String,
    /// The type for which it waits.
    pub holder: String,
    /// The lock, as crosstalk names it.
    pub lock: String,
    /// The mean wait, nanoseconds.
    pub mean_ns: f64,
    /// The function whose sections are sped up, with everything that it calls while it holds the lock.
    pub function: String,
    /// The lock is no variable of the program, so the sections are those of any lock.
    pub any_lock: bool,
    /// The waiter goes through that function, too: its own sections are among them.
    pub shared: bool,
    /// How much of the waits was behind that function, 0 to 1.
    pub share: f64,
    /// The type whose requests are progress points; `None` when lines are.
    pub request: Option<String>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    /// It is going on. On disk also when the recorder was killed; reading turns that into `Lost`.
    Running,
    /// The program exited by itself.
    Exited,
    /// The program was ended by a signal that was not ours.
    Signalled,
    /// We stopped the program.
    Stopped,
    /// The recorder died, or the manifest does not say.
    #[default]
    #[serde(other)]
    Lost,
}

/// Who recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tool {
    /// `fulcrum`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A source file as it was when the run was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SourceSnapshot {
    /// The file as results name it.
    pub path: String,
    /// The copy, relative to the run folder.
    pub snapshot: String,
}

/// A recording process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recorder {
    /// Process id.
    pub pid: u32,
    /// When it started, in clock ticks since boot; tells a reused process id. 0 when unknown.
    pub started: u64,
}

impl Manifest {
    /// The manifest of a causal run that starts now, in this process: everything about the machine filled in.
    pub fn begin(command: &OsStr, arguments: &[impl AsRef<OsStr>], cwd: &Path) -> Self {
        let mut environment_names: Vec<String> = std::env::vars_os()
            .map(|(name, _)| name.to_string_lossy().into_owned())
            .collect();
        environment_names.sort();
        Manifest {
            schema: 1,
            kind: RunKind::Causal,
            command: command.to_string_lossy().into_owned(),
            arguments: arguments
                .iter()
                .map(|a| a.as_ref().to_string_lossy().into_owned())
                .collect(),
            cwd: cwd.to_string_lossy().into_owned(),
            environment_names,
            host: place::host(),
            cpu: place::cpu(),
            kernel: place::kernel(),
            git_revision: place::git_revision(cwd),
            start: time::now_rfc3339(),
            ended: Ended::Running,
            tool: Tool {
                name: "fulcrum".into(),
                version: env!("CARGO_PKG_VERSION").into(),
            },
            recorder: Some(Recorder::this()),
            ..Manifest::default()
        }
    }

    /// Reads a manifest; `Running` with a dead recorder becomes `Lost`.
    pub fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        let mut manifest: Manifest = serde_json::from_slice(bytes)?;
        if manifest.ended == Ended::Running && !manifest.recorder.is_some_and(|r| r.is_alive()) {
            manifest.ended = Ended::Lost;
        }
        Ok(manifest)
    }

    /// The manifest as it is written.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a manifest has only string keys");
        text.push('\n');
        text
    }
}

impl Recorder {
    /// This process.
    pub fn this() -> Self {
        let pid = std::process::id();
        Recorder {
            pid,
            started: place::process_start(pid).unwrap_or(0),
        }
    }

    /// Whether that process still exists.
    pub fn is_alive(self) -> bool {
        match place::process_start(self.pid) {
            Some(started) => self.started == 0 || self.started == started,
            None => false,
        }
    }
}
