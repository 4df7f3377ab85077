//! Messages about what goes wrong: never on the program's own streams, and each one once.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

static FILE: Mutex<Option<PathBuf>> = Mutex::new(None);
static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
static LOG: OnceLock<fn(&str) -> bool> = OnceLock::new();

/// Sets the function that writes messages into the log. It returns `false` when there is no log.
pub fn through(log: fn(&str) -> bool) {
    // It is always the same function.
    let _ = LOG.set(log);
}

/// Sets the folder for messages that the log cannot hold.
pub fn into(folder: &Path) {
    let path = file_in(folder);
    *FILE.lock().unwrap_or_else(PoisonError::into_inner) = Some(path);
    SAID.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

fn file_in(folder: &Path) -> PathBuf {
    folder.join(format!("agent-{}.txt", std::process::id()))
}

/// Writes a message into the folder of another run than the current one. If that fails, whoever asked still learns of the
/// refusal.
pub fn say_in(folder: &Path, text: &str) {
    let _ = append(&file_in(folder), text);
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    writeln!(file, "{text}")
}

/// Tells the reader of the run why a request is refused. Returns an error when the folder cannot be written to.
pub fn refuse(text: &str) -> io::Result<()> {
    if LOG.get().is_some_and(|log| log(text)) {
        return Ok(());
    }
    match &*FILE.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(path) => append(path, text),
        None => Err(io::ErrorKind::NotFound.into()),
    }
}

/// Writes a message for the reader of the run. There is nobody to tell when this fails.
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

/// Runs something, and reports if it panics: the program goes on.
pub fn guarded<T: Default>(what: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(what)).unwrap_or_else(|_| {
        // This may panic for the same reason.
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
