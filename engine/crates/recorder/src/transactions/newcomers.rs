//! Which logs are new in the folder of a run.
//!
//! The kernel tells of new files. Listing the folder instead, fifty times a second, would take longer with every process that
//! there ever was. It is only listed where the kernel does not tell (the user has too many watches already), or has lost count.

use std::ffi::OsStr;
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use fulcrum_wire::transactions::LOG_SUFFIX;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};

/// Tells of new logs.
pub(crate) struct Newcomers {
    folder: PathBuf,
    watch: Option<OwnedFd>,
    /// The kernel has lost count, or nobody has looked yet.
    lost_count: bool,
}

impl Newcomers {
    /// Of the logs in this folder.
    pub(crate) fn of(folder: &Path) -> Newcomers {
        Newcomers {
            folder: folder.to_owned(),
            watch: watch(folder).ok(),
            lost_count: true,
        }
    }

    /// The stems of the logs that are new since the last call. It may name others again.
    pub(crate) fn take(&mut self) -> Vec<String> {
        let mut found = Vec::new();
        if let Some(watch) = &self.watch {
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut events = Reader::new(watch, &mut buffer);
            // It ends with an error when nothing is left.
            while let Ok(event) = events.next() {
                self.lost_count |= event.events().contains(ReadFlags::QUEUE_OVERFLOW);
                let name = event.file_name().map(|it| OsStr::from_bytes(it.to_bytes()));
                found.extend(name.and_then(stem).map(str::to_owned));
            }
        }
        if self.lost_count || self.watch.is_none() {
            self.lost_count = false;
            let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
            found.extend(entries.filter_map(|it| Some(stem(&it.file_name())?.to_owned())));
        }
        found
    }
}

fn watch(folder: &Path) -> rustix::io::Result<OwnedFd> {
    let watch = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
    inotify::add_watch(&watch, folder, WatchFlags::CREATE | WatchFlags::ONLYDIR)?;
    Ok(watch)
}

/// `<pid>-<turn>` of a log's name; `None` for all other files.
fn stem(name: &OsStr) -> Option<&str> {
    name.to_str()?.strip_suffix(LOG_SUFFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logs_are_found(newcomers: &mut Newcomers, every_time: bool) {
        let folder = newcomers.folder.clone();
        let write = |name: &str| fs::write(folder.join(name), []).unwrap();
        let mut take = || {
            let mut found = newcomers.take();
            found.sort_unstable();
            found
        };
        assert_eq!(take(), ["1-0"], "what was there before");
        assert_eq!(take().is_empty(), !every_time);
        for name in ["12-0.txlog", "12-0.1.unwind", "13-1.txlog"] {
            write(name);
        }
        let new = take();
        let before: &[&str] = if every_time { &["1-0"] } else { &[] };
        assert_eq!(new, [before, &["12-0", "13-1"]].concat());
    }

    fn folder_with_a_log() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("1-0.txlog"), []).unwrap();
        folder
    }

    #[test]
    fn a_log_is_told_of_once_and_other_files_never() {
        let folder = folder_with_a_log();
        let mut newcomers = Newcomers::of(folder.path());
        assert!(newcomers.watch.is_some(), "the kernel tells");
        logs_are_found(&mut newcomers, false);
    }

    #[test]
    fn the_folder_is_listed_where_the_kernel_does_not_tell() {
        let folder = folder_with_a_log();
        let mut newcomers = Newcomers::of(folder.path());
        newcomers.watch = None;
        logs_are_found(&mut newcomers, true);
    }
}
