//! Open runs of transactions: they are kept, so that each of their types opens at once.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use fulcrum_answers::what_if::gains;
use fulcrum_model::{Cancelled, Progress};
use fulcrum_runs::RunFolder;
use fulcrum_transaction_records::run::{Options, Run, RunError};

use crate::protocol::CrosstalkGain;
use crate::protocol::failure::Failure;

/// At most so many runs are kept: two that are compared, and one more.
const MOST_RUNS: usize = 3;

/// The runs that were opened last, while their files stay unchanged.
#[derive(Debug, Default)]
pub(crate) struct OpenRuns(Mutex<Vec<(Stamp, Arc<OpenRun>)>>);

/// A run of transactions.
#[derive(Debug)]
pub(crate) struct OpenRun {
    /// Its folder.
    pub folder: PathBuf,
    /// What people call it.
    pub name: String,
    /// The run.
    pub run: Run,
    /// What waiters would gain without their waits, by the pairs of its crosstalk.
    pub gains: Vec<Option<CrosstalkGain>>,
    /// Notes of the recorder and the reader, whole sentences.
    pub notes: Vec<String>,
}

/// The files of a run: name, length, when it was last written.
type Stamp = Vec<(PathBuf, u64, Option<SystemTime>)>;

impl OpenRuns {
    /// A run by its folder or a file in it.
    ///
    /// # Errors
    /// When there is none, or when it was cancelled.
    pub(crate) fn open(&self, run: &str, progress: &Progress) -> Result<Arc<OpenRun>, Failure> {
        let folder = folder_of(Path::new(run));
        if !folder.is_dir() {
            return Err(Failure::user(
                format!("there is no folder {}", folder.display()),
                Some("The run may have been deleted: choose another one in the Runs view."),
            ));
        }
        let stamp = stamp(&folder);
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept()
            .iter()
            .find_map(|(then, it)| (*then == stamp && it.folder == folder).then(|| Arc::clone(it)));
        if let Some(known) = known {
            return Ok(known);
        }
        let opened = Arc::new(OpenRun::read(folder, progress)?);
        let mut kept = kept();
        kept.retain(|(_, it)| it.folder != opened.folder);
        if kept.len() == MOST_RUNS {
            kept.remove(0);
        }
        kept.push((stamp, Arc::clone(&opened)));
        Ok(opened)
    }
}

impl OpenRun {
    fn read(folder: PathBuf, progress: &Progress) -> Result<Self, Failure> {
        let options = Options {
            timeline: true,
            ..Options::default()
        };
        let run = fulcrum_profiles::transactions::open(&[&folder], &options, progress);
        let mut run = run.map_err(|error| failure(&error))?;
        // Nothing else needs the timeline, which is as large as the run.
        let gains = gains(&run.stitched, &std::mem::take(&mut run.timeline));
        let mut notes = recorders_notes(&folder);
        for note in &run.notes {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        let name = folder.file_name().unwrap_or(folder.as_os_str());
        Ok(OpenRun {
            name: name.to_string_lossy().into_owned(),
            run,
            gains,
            notes,
            folder,
        })
    }
}

/// The run's folder, from the folder or a file in it.
fn folder_of(run: &Path) -> PathBuf {
    match run.parent() {
        Some(folder) if run.is_file() => folder.into(),
        _ => run.into(),
    }
}

/// The files of a run; of a run that was stitched, also those of its parts.
fn stamp(folder: &Path) -> Stamp {
    let mut stamp = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(about) if about.is_dir() => folders.push(entry.path()),
                Ok(about) => stamp.push((entry.path(), about.len(), about.modified().ok())),
                Err(_) => {}
            }
        }
    }
    stamp.sort();
    stamp
}

/// The recorder's notes; none where no manifest can be read.
fn recorders_notes(folder: &Path) -> Vec<String> {
    let manifest = RunFolder::open(folder)
        .ok()
        .and_then(|it| it.read_manifest().ok());
    manifest.map_or_else(Vec::new, |it| it.notes)
}

fn failure(error: &RunError) -> Failure {
    let advice = match error {
        RunError::NoLogs(_) => {
            "Record one with Run and Profile Transactions…, or choose another run in the Runs view."
        }
        RunError::File { .. } => "Check that the folder exists and can be read.",
        RunError::Samples { .. } => {
            "Delete that file: the run then opens without CPU time. Or record it again."
        }
        RunError::Stitch(_) => "Its files are damaged. Record it again.",
        RunError::Cancelled => return Cancelled.into(),
    };
    Failure::user(error.to_string(), Some(advice))
}
