//! A run folder that processes can write into whatever user they become: servers that root starts drop root's privileges.
//!
//! Only root's programs can become another user, so for other users nothing changes. As in `/tmp`, everyone may create files
//! during the run, and no one may remove another user's files.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A folder that is open to every user until [`OpenFolder::close`].
pub(crate) struct OpenFolder {
    path: PathBuf,
    /// Its permissions before; `None` when they were not changed.
    before: Option<Permissions>,
}

fn is_root() -> bool {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

impl OpenFolder {
    /// Opens it to every user, when we are root.
    pub(crate) fn open(path: &Path) -> io::Result<OpenFolder> {
        let before = if is_root() {
            let before = fs::metadata(path)?.permissions();
            fs::set_permissions(path, Permissions::from_mode(0o1777))?;
            Some(before)
        } else {
            None
        };
        Ok(OpenFolder {
            path: path.into(),
            before,
        })
    }

    /// Restores its permissions, and restricts those of the recorded files. No process of the run may be left.
    pub(crate) fn close(&self) -> io::Result<()> {
        let Some(before) = &self.before else {
            return Ok(());
        };
        fs::set_permissions(&self.path, before.clone())?;
        for entry in fs::read_dir(&self.path)? {
            let path = entry?.path();
            if path.extension().is_some_and(|it| it == "jsonl") {
                fs::set_permissions(path, Permissions::from_mode(0o644))?;
            }
        }
        Ok(())
    }
}

/// Lets the processes of the run open one of our files, whatever user they become.
pub(crate) fn share(file: &File) -> io::Result<()> {
    if is_root() {
        file.set_permissions(Permissions::from_mode(0o666))?;
    }
    Ok(())
}
