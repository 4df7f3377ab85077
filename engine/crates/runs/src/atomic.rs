//! Replaces files atomically: whenever the writer dies, the file is the old one or the new one.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Writes `bytes` beside `path`, syncs, and renames over it. Left-over temporary files are ignored by every reader.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // The process id keeps two writers apart; the last rename wins.
    let temporary = folder.join(format!(".{name}.{}.tmp", std::process::id()));
    let result = (|| {
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    })();
    if result.is_err() {
        let _ = fs::remove_file(&temporary);
        return result;
    }
    // The rename itself is on disk only when the folder is; some file systems cannot sync a folder, which loses nothing.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}
