//! What goes wrong: never on the program's own streams, and each thing once.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

static FILE: Mutex<Option<PathBuf>> = Mutex::new(None);
static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
static LOG: OnceLock<fn(&str) -> bool> = OnceLock::new();

/// Sentences go into the log this way from now on; it gives `false` when there is no log.
pub fn through(log: fn(&str) -> bool) {
    // Whoever says it a second time says the same.
    let _ = LOG.set(log);
}

/// Where to say what the log cannot hold.
pub fn into(folder: &Path) {
    let path = file_in(folder);
    *FILE.lock().unwrap_or_else(PoisonError::into_inner) = Some(path);
    SAID.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

fn file_in(folder: &Path) -> PathBuf {
    folder.join(format!("agent-{}.txt", std::process::id()))
}

/// Tells the reader of a run that is not the one that is being written. Whoever asked sees that it was refused, when this
/// fails.
pub fn say_in(folder: &Path, text: &str) {
    let _ = append(&file_in(folder), text);
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    writeln!(file, "{text}")
}

/// Tells the reader of the run why what was asked for is not done. An error when there is no way to: the folder cannot be
/// written into.
pub fn refuse(text: &str) -> io::Result<()> {
    if LOG.get().is_some_and(|log| log(text)) {
        return Ok(());
    }
    match &*FILE.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(path) => append(path, text),
        None => Err(io::ErrorKind::NotFound.into()),
    }
}

/// Tells the reader of the run a sentence. There is nobody to tell when this fails.
pub fn say(text: &str) {
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.len() > 1000 || !said.insert(text.to_owned()) {
        return;
    }
    drop(said);
    if LOG.get().is_some_and(|log| log(text)) {
        return;
    }
    if let Some(path) = &*FILE.lock().unwrap_or_else(PoisonError::into_inner) {
        let _ = append(path, text);
    }
}

/// Does something that may be wrong in a way that we did not think of, and says so: the program goes on.
pub fn guarded<T: Default>(what: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(what)).unwrap_or_else(|_| {
        // Not within this: the same mistake may be in there.
        let _ = catch_unwind(|| {
            say("A mistake of Fulcrum's own: the agent panicked. Events may be missing; please report it.");
        });
        T::default()
    })
}

/// Panics print nothing: the program's standard error is its own.
pub fn silence() {
    std::panic::set_hook(Box::new(|_| {}));
}
