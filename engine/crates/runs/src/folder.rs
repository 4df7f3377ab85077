//! One run's folder: created, written, finished.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use crate::manifest::{Ended, Manifest, SourceSnapshot};
use crate::{RunError, atomic, layout, time};

/// Source files larger than this are not copied.
const SNAPSHOT_LIMIT: u64 = 8 << 20;
/// The size of a run with more files than this is not computed.
const SIZE_LIMIT: usize = 500;

/// A run on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// A new folder `<utc-time>-<name>` in the workspace's store; `-2`, `-3`… when it is taken.
    pub fn create(workspace: &Path, name: &str) -> Result<Self, RunError> {
        let runs = layout::runs_folder(workspace);
        fs::create_dir_all(&runs).map_err(RunError::at("create the folder of runs", &runs))?;
        // Runs do not belong into version control.
        let ignore = workspace.join(".fulcrum/.gitignore");
        if !ignore.exists() {
            let _ = fs::write(&ignore, "*\n");
        }
        let base = format!("{}-{}", time::compact(SystemTime::now()), file_name(name));
        let mut path = runs.join(&base);
        for n in 2_u32.. {
            match fs::create_dir(&path) {
                Ok(()) => break,
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                    path = runs.join(format!("{base}-{n}"))
                }
                Err(e) => return Err(RunError::at("create the run folder", &path)(e)),
            }
        }
        Ok(RunFolder {
            path: absolute(&path),
        })
    }

    /// Exactly this folder. It may exist if it is empty; its parents are created.
    pub fn create_at(path: &Path) -> Result<Self, RunError> {
        fs::create_dir_all(path).map_err(RunError::at("create the run folder", path))?;
        let mut entries =
            fs::read_dir(path).map_err(RunError::at("look into the run folder", path))?;
        if entries.next().is_some() {
            let taken = io::Error::new(io::ErrorKind::AlreadyExists, "the folder is not empty");
            return Err(RunError::at("record into", path)(taken));
        }
        Ok(RunFolder {
            path: absolute(path),
        })
    }

    /// An existing run: a folder that holds a manifest or a recording.
    pub fn open(path: &Path) -> Result<Self, RunError> {
        if layout::is_run(path) {
            return Ok(RunFolder {
                path: absolute(path),
            });
        }
        let missing = io::Error::new(
            io::ErrorKind::NotFound,
            "there is no run.json and no causal-*.jsonl in it",
        );
        Err(RunError::at("open the run", path)(missing))
    }

    /// Absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces `run.json`, atomically.
    pub fn write_manifest(&self, manifest: &Manifest) -> Result<(), RunError> {
        let path = self.path.join("run.json");
        atomic::write(&path, manifest.to_json().as_bytes()).map_err(RunError::at("write", &path))
    }

    /// Reads `run.json`; a run that says it is going on but whose recorder died is `Lost`.
    pub fn read_manifest(&self) -> Result<Manifest, RunError> {
        let path = self.path.join("run.json");
        let bytes = fs::read(&path).map_err(RunError::at("read", &path))?;
        Manifest::parse(&bytes).map_err(|e| {
            let error = io::Error::new(
                io::ErrorKind::InvalidData,
                format!("it is not a manifest ({e})"),
            );
            RunError::at("read", &path)(error)
        })
    }

    /// Refuses a run that is still being recorded, which must not be deleted.
    pub fn check_removable(&self) -> Result<(), RunError> {
        match self.read_manifest() {
            Ok(manifest) if manifest.ended == Ended::Running => {
                let busy =
                    io::Error::new(io::ErrorKind::ResourceBusy, "it is still being recorded");
                Err(RunError::at("delete", &self.path)(busy))
            }
            _ => Ok(()),
        }
    }

    /// Deletes the folder with everything in it. See [`RunFolder::check_removable`].
    pub fn remove(&self) -> Result<(), RunError> {
        self.check_removable()?;
        fs::remove_dir_all(&self.path).map_err(RunError::at("delete", &self.path))
    }

    /// Bytes of all files; `None` when there are too many of them to look at each.
    pub fn size(&self) -> Option<u64> {
        let (mut folders, mut files, mut bytes) = (vec![self.path.clone()], 0, 0_u64);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                files += 1;
                if files > SIZE_LIMIT {
                    return None;
                }
                // The metadata of links themselves: what they lead to is elsewhere.
                match entry.metadata() {
                    Ok(it) if it.is_dir() => folders.push(entry.path()),
                    Ok(it) => bytes += on_disk(&it),
                    Err(_) => {}
                }
            }
        }
        Some(bytes)
    }

    /// Writes the manifest for the last time: `end` is now.
    pub fn finish(
        &self,
        manifest: &mut Manifest,
        ended: Ended,
        exit_code: Option<i32>,
        signal: Option<i32>,
    ) -> Result<(), RunError> {
        manifest.ended = ended;
        manifest.exit_code = exit_code;
        manifest.signal = signal;
        manifest.end = Some(time::now_rfc3339());
        manifest.recorder = None;
        self.write_manifest(manifest)
    }

    /// Copies a source file into `sources/`; call it once for each path. The result belongs into [`Manifest::sources`]. `None` when
    /// the file cannot be read or is too large for source code: results then have no snapshot, which is no error.
    pub fn snapshot_source(&self, path: &Path) -> Option<SourceSnapshot> {
        let size = fs::metadata(path).ok().filter(fs::Metadata::is_file)?.len();
        if size > SNAPSHOT_LIMIT {
            return None;
        }
        let bytes = fs::read(path).ok()?;
        let folder = self.path.join("sources");
        fs::create_dir_all(&folder).ok()?;
        let base = file_name(&path.file_name()?.to_string_lossy());
        // The next free number: only this recorder writes here.
        let n = fs::read_dir(&folder)
            .ok()?
            .filter_map(Result::ok)
            .filter(|e| !is_hidden(&e.path()))
            .count();
        let snapshot = format!("sources/{n}-{base}");
        atomic::write(&self.path.join(&snapshot), &bytes).ok()?;
        Some(SourceSnapshot {
            path: path.to_string_lossy().into_owned(),
            snapshot,
        })
    }

    /// The text of a source file as it was when the run was recorded. `source` is the path that results name.
    pub fn read_snapshot(&self, source: &str) -> Option<String> {
        let manifest = self.read_manifest().ok()?;
        let entry = manifest.sources.iter().find(|s| s.path == source)?;
        let relative = Path::new(&entry.snapshot);
        // A manifest from elsewhere must not reach outside its folder.
        relative
            .components()
            .all(|c| matches!(c, Component::Normal(_)))
            .then_some(())?;
        let bytes = fs::read(self.path.join(relative)).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn is_hidden(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// What a file takes on disk. A log that is being written, or whose recorder was killed, is as long as it may become.
fn on_disk(file: &fs::Metadata) -> u64 {
    /// File systems that compress small files, or store them elsewhere, report too few blocks for them.
    const SPARSE: u64 = 1 << 20;
    match file.len() {
        length if length < SPARSE => length,
        #[cfg(unix)]
        length => length.min(std::os::unix::fs::MetadataExt::blocks(file) * 512),
        #[cfg(not(unix))]
        length => length,
    }
}

/// `name` as a part of a file name on every system: the base name, with anything unusual made a dash.
pub(crate) fn file_name(name: &str) -> String {
    let base = name
        .rsplit(['/', '\\'])
        .find(|part| !part.is_empty())
        .unwrap_or_default();
    let clean: String = base
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || matches!(c, '.' | '_' | '+' | '-') {
                c
            } else {
                '-'
            }
        })
        .take(60)
        .collect();
    let clean = clean.trim_start_matches('.');
    if clean.is_empty() {
        "run".into()
    } else {
        clean.into()
    }
}
