//! The files of a run.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use fulcrum_wire::transactions::{HEADER, LOG_SUFFIX, SETTINGS_FILE, WINDOWS_FILE, setting, word};

use crate::error::RunError;
use crate::log::{Log, LogError};
use crate::samples::{self, Samples};
use crate::windows::Windows;

/// The contents of a run's folder.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    logs: Vec<LogFile>,
    samples: Option<Vec<u8>>,
    windows: Windows,
    is_going_on: bool,
}

#[derive(Debug)]
struct LogFile {
    name: String,
    bytes: Vec<u8>,
}

/// Whether a folder has logs of transactions.
pub fn is_run(folder: &Path) -> bool {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files
        .into_iter()
        .any(|it| it.file_name().to_string_lossy().ends_with(LOG_SUFFIX))
}

impl Folder {
    pub(crate) fn read(path: &Path) -> Result<Self, RunError> {
        let failed = |path: PathBuf| move |error| RunError::File { path, error };
        let mut logs = Vec::new();
        for entry in fs::read_dir(path).map_err(failed(path.into()))? {
            let entry = entry.map_err(failed(path.into()))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(LOG_SUFFIX) {
                let bytes = read_log(&entry.path()).map_err(failed(entry.path()))?;
                logs.push(LogFile { name, bytes });
            }
        }
        let file = path.join(samples::FILE);
        let samples = match fs::read(&file) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(RunError::File { path: file, error }),
        };
        let file = path.join(WINDOWS_FILE);
        let windows = match fs::read(&file) {
            Ok(bytes) => Windows::read(&bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Windows::default(),
            Err(error) => return Err(RunError::File { path: file, error }),
        };
        Ok(Folder {
            windows,
            is_going_on: is_going_on(path),
            ..Folder::with(path, logs, samples)?
        })
    }

    /// A folder with contents that were read elsewhere.
    pub(crate) fn of(
        logs: Vec<(String, Vec<u8>)>,
        samples: Option<Vec<u8>>,
    ) -> Result<Self, RunError> {
        let logs = logs.into_iter();
        let logs = logs.map(|(name, bytes)| LogFile { name, bytes }).collect();
        Folder::with(Path::new(""), logs, samples)
    }

    fn with(
        path: &Path,
        mut logs: Vec<LogFile>,
        samples: Option<Vec<u8>>,
    ) -> Result<Self, RunError> {
        if logs.is_empty() {
            return Err(RunError::NoLogs(path.into()));
        }
        logs.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Folder {
            path: path.into(),
            logs,
            samples,
            windows: Windows::default(),
            is_going_on: false,
        })
    }

    /// Whether it is still being recorded. Then this is its state when it was read.
    pub(crate) fn is_going_on(&self) -> bool {
        self.is_going_on
    }

    /// The name of the run in notes.
    pub(crate) fn name(&self) -> String {
        match self.path.file_name() {
            Some(name) => name.to_string_lossy().into_owned(),
            None => "The run".into(),
        }
    }

    /// The readable logs, by the start of their processes.
    pub(crate) fn logs(&self) -> Vec<Log<'_>> {
        let mut logs: Vec<Log<'_>> = self
            .logs
            .iter()
            .filter_map(|it| Log::read(&it.bytes).ok())
            .collect();
        logs.sort_by_key(|it| {
            let it = it.header();
            (it.start_unix_ns, it.pid, it.turn)
        });
        logs.dedup_by_key(|it| (it.header().pid, it.header().turn));
        logs
    }

    /// The unreadable logs.
    pub(crate) fn refused(&self) -> impl Iterator<Item = (&str, LogError)> {
        let all = self.logs.iter();
        all.filter_map(|it| Some((&*it.name, Log::read(&it.bytes).err()?)))
    }

    /// When it was recorded.
    pub(crate) fn windows(&self) -> &Windows {
        &self.windows
    }

    /// The samples, or `None` if the run has none.
    pub(crate) fn samples(&self) -> Result<Option<Samples<'_>>, RunError> {
        // The recorder was killed before it had written the file's header.
        let Some(bytes) = self.samples.as_ref().filter(|it| !it.is_empty()) else {
            return Ok(None);
        };
        let path = self.path.join(samples::FILE);
        let failed = |error| RunError::Samples { path, error };
        Samples::read(bytes).map(Some).map_err(failed)
    }
}

/// Whether the recording process still exists. It removes its number from the settings when it ends.
fn is_going_on(folder: &Path) -> bool {
    let settings = fs::read(folder.join(SETTINGS_FILE)).unwrap_or_default();
    let at = 8 * setting::ENGINE;
    let engine = settings
        .get(at..at + 8)
        .map(|it| u64::from_le_bytes(it.try_into().unwrap_or_default()));
    engine.is_some_and(|it| it != 0 && Path::new(&format!("/proc/{it}")).exists())
}

/// Reads a log without the unused zeros at its end.
fn read_log(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    (&mut file).take(HEADER).read_to_end(&mut bytes)?;
    let next = bytes.get(word::NEXT * 8..word::NEXT * 8 + 8);
    let next = next.map_or(0, |it| {
        u64::from_le_bytes(it.try_into().unwrap_or_default())
    });
    // The number is damaged: read the whole file.
    let used = if (HEADER..=length).contains(&next) {
        next
    } else {
        length
    };
    file.seek(SeekFrom::Start(HEADER.min(length)))?;
    file.take(used.saturating_sub(HEADER))
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}
