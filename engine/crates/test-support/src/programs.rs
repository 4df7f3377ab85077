//! Test programs, each compiled once and kept in the target folder, under a key of all that its result depends on.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::UNIX_EPOCH;

/// Files, and the commands that build something from them in a separate folder.
///
/// ```no_run
/// # use fulcrum_test_support::programs::Recipe;
/// let folder = Recipe::new("greeter")
///     .file("greeter.c", "#include <stdio.h>\nint main(void) { return puts(\"hello\"); }\n")
///     .command(["gcc", "-g", "greeter.c", "-o", "greeter"])
///     .build();
/// assert!(folder.join("greeter").exists());
/// ```
#[derive(Clone, Debug)]
pub struct Recipe {
    name: String,
    files: Vec<(String, Vec<u8>)>,
    reads: Vec<PathBuf>,
    commands: Vec<Vec<OsString>>,
}

impl Recipe {
    /// A recipe without files and commands. The name helps people who read the folder.
    pub fn new(name: &str) -> Recipe {
        Recipe {
            name: name.to_owned(),
            files: Vec::new(),
            reads: Vec::new(),
            commands: Vec::new(),
        }
    }

    /// Adds a file, by its path in the folder.
    #[must_use]
    pub fn file(mut self, name: &str, text: impl AsRef<[u8]>) -> Recipe {
        self.files.push((name.to_owned(), text.as_ref().to_vec()));
        self
    }

    /// Names a file that commands read where it is. When its content changes, everything is built again.
    #[must_use]
    pub fn reads(mut self, path: impl Into<PathBuf>) -> Recipe {
        self.reads.push(path.into());
        self
    }

    /// Adds a command, which runs in the folder.
    #[must_use]
    pub fn command<S: AsRef<OsStr>>(mut self, words: impl IntoIterator<Item = S>) -> Recipe {
        let words = words.into_iter().map(|it| it.as_ref().to_owned());
        self.commands.push(words.collect());
        self
    }

    /// The folder in which all commands have run. Nobody writes into it afterwards; a test copies what it changes.
    ///
    /// # Panics
    ///
    /// When a command fails, with what it said.
    pub fn build(&self) -> PathBuf {
        let target = super::profile_folder();
        let all = target
            .parent()
            .expect("profiles are in the target folder")
            .join("test-programs");
        fs::create_dir_all(&all).expect("the target folder is writable");
        let folder = all.join(format!("{}-{:016x}", self.name, self.key(&all)));
        let done = folder.join(".done");
        if done.exists() {
            return folder;
        }
        // Held until this returns. Programs know the folder's name, from their debug information, so they are built in it.
        let lock = folder.with_extension("lock");
        let _lock = locked(&lock);
        if !done.exists() {
            if folder.exists() {
                fs::remove_dir_all(&folder).expect("what a killed test left is ours");
            }
            fs::create_dir(&folder).expect("it is not there");
            for (name, text) in &self.files {
                let path = folder.join(name);
                fs::create_dir_all(path.parent().expect("below the folder")).expect("room");
                fs::write(path, text).expect("room");
            }
            for words in &self.commands {
                run(words, &folder);
            }
            fs::write(&done, "").expect("room");
        }
        folder
    }

    /// The key of the recipe. `all` is the parent folder, which is part of programs' debug information.
    fn key(&self, all: &Path) -> u64 {
        let mut hasher = DefaultHasher::new();
        all.hash(&mut hasher);
        self.files.hash(&mut hasher);
        self.commands.hash(&mut hasher);
        for path in &self.reads {
            path.hash(&mut hasher);
            let bytes = fs::read(path);
            let bytes = bytes.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            bytes.hash(&mut hasher);
        }
        for words in &self.commands {
            version(&words[0]).hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// Identifies a version of a program without starting it: its file, size, and modification time in nanoseconds.
fn version(program: &OsStr) -> Option<(PathBuf, u64, u128)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let file = std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find_map(|file| fs::canonicalize(file).ok())?;
    let metadata = fs::metadata(&file).ok()?;
    let time = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((file, metadata.len(), time.as_nanos()))
}

fn run(words: &[OsString], folder: &Path) {
    let output = Command::new(&words[0])
        .args(&words[1..])
        .current_dir(folder)
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}", words[0].display()));
    assert!(
        output.status.success(),
        "{words:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Waits for a lock file. The lock is released when the file is closed, also by the end of the process.
fn locked(path: &Path) -> File {
    let file = File::create(path).expect("the target folder is writable");
    // SAFETY: the descriptor is open as long as `file` lives.
    let taken = unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) };
    assert_eq!(taken, 0, "{}", std::io::Error::last_os_error());
    file
}

/// Copies a built folder's files into another one.
///
/// # Panics
///
/// When a file cannot be read or written.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("room");
    for entry in fs::read_dir(from).expect("it was built") {
        let path = entry.expect("readable").path();
        let copy = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            self::copy(&path, &copy);
        } else if !path.ends_with(".done") {
            fs::copy(&path, copy).expect("room");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_built_once_and_again_when_anything_differs() {
        let log = tempfile::NamedTempFile::new().unwrap();
        let header = tempfile::NamedTempFile::new().unwrap();
        let recipe = |text: &str| {
            let line = format!("cat source >> {}; cp source made", log.path().display());
            Recipe::new("once")
                .file("source", text)
                .reads(header.path())
                .command(["sh", "-c", &line])
        };
        let built = |text: &str| fs::read_to_string(recipe(text).build().join("made")).unwrap();
        let folders = std::thread::scope(|scope| {
            let both = [0, 1].map(|_| scope.spawn(|| built("a")));
            both.map(|it| it.join().unwrap())
        });
        assert_eq!(folders, ["a", "a"]);
        assert_eq!(fs::read_to_string(log.path()).unwrap(), "a");
        assert_eq!(built("b"), "b");
        fs::write(header.path(), "other").unwrap();
        assert_eq!(
            (built("a"), built("b"), built("a")),
            ("a".into(), "b".into(), "a".into())
        );
        assert_eq!(fs::read_to_string(log.path()).unwrap(), "abab");
    }

    #[test]
    fn what_failed_is_tried_again() {
        let there = tempfile::tempdir().unwrap();
        let wanted = there.path().join("wanted");
        let recipe = Recipe::new("again").command([
            OsStr::new("cp"),
            wanted.as_os_str(),
            OsStr::new("made"),
        ]);
        let failed = std::panic::catch_unwind(|| recipe.build());
        let why = *failed.unwrap_err().downcast::<String>().unwrap();
        assert!(why.contains("wanted"), "{why}");
        fs::write(&wanted, "x").unwrap();
        assert_eq!(
            fs::read_to_string(recipe.build().join("made")).unwrap(),
            "x"
        );
    }

    #[test]
    fn a_copy_is_the_tests_own() {
        let recipe = Recipe::new("copied").file("a/b", "text").command(["true"]);
        let own = tempfile::tempdir().unwrap();
        copy(&recipe.build(), own.path());
        assert_eq!(fs::read_to_string(own.path().join("a/b")).unwrap(), "text");
        assert!(!own.path().join(".done").exists());
    }
}
