//! A run folder that processes can write into whatever user they become: servers that root starts fork, and their children
//! drop its rights.
//!
//! Only root's programs can become another user, so nothing changes for anybody else. As in `/tmp`, everybody may make files
//! while the run goes on, and nobody may remove another user's.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The folder, until it is closed.
pub struct OpenFolder {
    path: PathBuf,
    /// How it was; `None` when it was left alone.
    before: Option<Permissions>,
}

fn is_root() -> bool {
    // SAFETY: a plain call without arguments.
    unsafe { libc::geteuid() == 0 }
}

impl OpenFolder {
    /// Opens it to everybody when this is root.
    pub fn open(path: &Path) -> io::Result<OpenFolder> {
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

    /// Closes it again, and what was recorded in it: no process of the run may be left.
    pub fn close(&self) -> io::Result<()> {
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

/// Lets processes of the run open a file of ours whatever user they become.
pub fn share(file: &File) -> io::Result<()> {
    if is_root() {
        file.set_permissions(Permissions::from_mode(0o666))?;
    }
    Ok(())
}
