//! Finds and starts the program.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use fulcrum_symbols::{ExecutableKind, executable_kind};
use fulcrum_wire::SESSION_VARIABLE;

use crate::{Error, Options, Stdio};

/// Names the runtime's file, for tests and unusual installations.
const RUNTIME_VARIABLE: &str = "FULCRUM_RUNTIME";
/// The name of the runtime's file.
pub(crate) const RUNTIME_FILE: &str = "libfulcrum_runtime.so";

/// A program that can be profiled.
pub(crate) struct Program {
    /// Its file, which exists and may be executed.
    pub path: PathBuf,
    /// It may start the program that is meant: it is a script, a shell, `env`.
    pub starts_others: bool,
}

/// The program as a path that exists and may be executed. The runtime can enter it, or it may start others.
pub(crate) fn resolve(options: &Options, cwd: &Path) -> Result<Program, Error> {
    let name = &options.program;
    let cannot =
        |why: String| Error::CannotStart(format!("cannot start {}: {why}", name.display()));
    let path = program(name, cwd)?;
    let found = executable_kind(&path).map_err(|error| cannot(error.to_string()))?;
    let bare = found.kind == ExecutableKind::Dynamic && !found.has_debug_info && !found.go;
    let starts_others = match found.kind {
        ExecutableKind::Script(_) => true,
        // A program that the runtime cannot enter passes it on nevertheless.
        ExecutableKind::Dynamic | ExecutableKind::Static if !found.has_debug_info || found.go => {
            is_wrapper(options, &path, cwd) || (bare && !options.aim.binary_scope.is_empty())
        }
        _ => false,
    };
    match found.refusal(&path).filter(|_| !starts_others) {
        Some(why) if bare => Err(Error::CannotStart(format!(
            "{why}; if it only starts the program that you want to profile, put `env` before the command"
        ))),
        Some(why) => Err(Error::CannotStart(why)),
        None => Ok(Program {
            path,
            starts_others,
        }),
    }
}

/// The program as a path that exists and may be executed.
pub(crate) fn program(name: &OsStr, cwd: &Path) -> Result<PathBuf, Error> {
    let cannot =
        |why: String| Error::CannotStart(format!("cannot start {}: {why}", name.display()));
    let path = named(name, cwd).ok_or_else(|| {
        let hint = match cwd.join(name).is_file() {
            true => format!(
                "write ./{} to run the one in the working folder",
                name.display()
            ),
            false => "check the name, or give the path of the program".to_owned(),
        };
        cannot(format!("it is not in PATH; {hint}"))
    })?;
    let status = fs::metadata(&path).map_err(|error| {
        cannot(match error.kind() {
            std::io::ErrorKind::NotFound => {
                "there is no such file; check the path, or build it first".into()
            }
            _ => format!("{error}; check the path and its permissions"),
        })
    })?;
    if status.is_dir() {
        return Err(cannot("it is a folder; name the program in it".into()));
    }
    if status.permissions().mode() & 0o111 == 0 {
        return Err(cannot(
            "it is not executable; name the built program, or chmod +x it".into(),
        ));
    }
    Ok(path)
}

/// Shells, interpreters, and programs that build and test others: when one of these is given, what it starts is meant. Without
/// version numbers (`python3.11`).
const LAUNCHERS: &str = "\
    sh bash dash zsh ksh mksh fish busybox \
    make gmake bmake ninja samu cmake ctest meson cargo rustup just task bazel bazelisk scons waf rake bundle \
    npm npx pnpm yarn node python pytest tox uv perl prove ruby php lua tclsh hyperfine";

/// Whether a program has the name of one that starts others, with or without a version number.
fn is_launcher(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let plain = name.trim_end_matches(|it: char| it.is_ascii_digit() || matches!(it, '.' | '-'));
    LAUNCHERS
        .split_ascii_whitespace()
        .any(|it| it == name || it == plain)
}

/// Whether a program without debug information may start the one that is meant: it is known for that, or has a program among
/// its arguments (`env`, `timeout`, `nice`).
fn is_wrapper(options: &Options, path: &Path, cwd: &Path) -> bool {
    is_launcher(path)
        || options
            .args
            .iter()
            .any(|argument| named(argument, cwd).is_some_and(|path| is_executable(&path)))
}

/// The file that a program's name stands for.
fn named(name: &OsStr, cwd: &Path) -> Option<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        Some(cwd.join(name))
    } else {
        find_in_path(name)
    }
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

fn find_in_path(name: &OsStr) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|path| is_executable(path))
}

/// The runtime library.
pub(crate) fn runtime_library() -> Result<PathBuf, Error> {
    library(RUNTIME_VARIABLE, RUNTIME_FILE)
}

/// The path to one of our libraries: as the variable says, or beside the engine, where the build and the packaged extension put
/// it.
pub(crate) fn library(variable: &str, file: &str) -> Result<PathBuf, Error> {
    if let Some(path) = env::var_os(variable) {
        let path = PathBuf::from(path);
        return if path.is_file() {
            Ok(path)
        } else {
            let path = path.display();
            Err(Error::CannotRecord(format!(
                "{variable} names {path}, which is not there"
            )))
        };
    }
    let engine = env::current_exe().unwrap_or_default();
    let beside = engine.parent().map(Path::to_path_buf).unwrap_or_default();
    // Test binaries live one folder below the library.
    [beside.join(file), beside.join("..").join(file)]
        .into_iter()
        .find(|path| path.is_file())
        .and_then(|path| fs::canonicalize(path).ok())
        .ok_or_else(|| {
            Error::CannotRecord(format!(
                "{file} is not beside {}: reinstall Fulcrum, or build it with `npm run build`",
                engine.display()
            ))
        })
}

/// A library under a path that `LD_PRELOAD` can contain, where spaces and colons separate entries. Dropping this removes the
/// link, if one was necessary.
pub(crate) struct Preload {
    path: PathBuf,
    link_in: Option<PathBuf>,
}

impl Preload {
    /// The library itself if its path allows that, otherwise a link to it in a new folder.
    pub(crate) fn new(library: PathBuf) -> Result<Preload, Error> {
        let separates = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b':' | b';');
        if !library.as_os_str().as_bytes().iter().any(separates) {
            return Ok(Preload {
                path: library,
                link_in: None,
            });
        }
        let folder = env::temp_dir().join(format!(
            "fulcrum-{}-{}",
            std::process::id(),
            super::clock::monotonic_ns()
        ));
        let path = folder.join(RUNTIME_FILE);
        fs::create_dir(&folder).and_then(|()| std::os::unix::fs::symlink(&library, &path)).map_err(|error| {
            Error::CannotRecord(format!(
                "{} has a space or colon in its path, which the loader cannot read, and {} cannot be written ({error}): \
                 install Fulcrum elsewhere",
                library.display(),
                folder.display()
            ))
        })?;
        Ok(Preload {
            path,
            link_in: Some(folder),
        })
    }

    /// What to preload.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Preload {
    fn drop(&mut self) {
        if let Some(folder) = &self.link_in {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// Starts the program with the runtime preloaded.
pub(crate) fn spawn(
    options: &Options,
    program: &Path,
    cwd: &Path,
    run: &Path,
    runtime: &Path,
) -> Result<Child, Error> {
    let mut command = Command::new(program);
    command
        .arg0(&options.program)
        .args(&options.args)
        .current_dir(cwd)
        .env(SESSION_VARIABLE, run);
    streams(&mut command, options.stdio, run)?;
    start(command, runtime, &options.program)
}

/// Starts a program with a library preloaded, before those that would be preloaded anyway. `name` is for error messages.
pub(crate) fn start(mut command: Command, library: &Path, name: &OsStr) -> Result<Child, Error> {
    let mut preload = OsString::from(library);
    if let Some(others) = env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        preload.push(":");
        preload.push(others);
    }
    command.env("LD_PRELOAD", preload);
    command.spawn().map_err(|error| {
        let name = name.display();
        Error::CannotStart(format!(
            "cannot start {name}: {error}; run it by itself to see why"
        ))
    })
}

/// Sets where a program's standard streams go: with [`Stdio::Files`], into files in this folder.
pub(crate) fn streams(command: &mut Command, stdio: Stdio, folder: &Path) -> Result<(), Error> {
    if stdio == Stdio::Files {
        let open = |name: &str| {
            let path = folder.join(name);
            File::create(&path).map_err(|error| {
                Error::CannotRecord(format!("cannot write {}: {error}", path.display()))
            })
        };
        command
            .stdin(std::process::Stdio::null())
            .stdout(open("stdout.txt")?)
            .stderr(open("stderr.txt")?)
            // A process group of its own, so that Ctrl-C does not end the program before we do.
            .process_group(0);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_start_others_are_known_by_name() {
        for (path, expect) in [
            ("/usr/bin/make", true),
            ("/usr/bin/python3.11", true),
            ("/home/me/.cargo/bin/cargo", true),
            ("/bin/sh", true),
            ("/usr/bin/redis-server", false),
            ("/usr/sbin/nginx", false),
            ("./make-it", false),
            ("/", false),
        ] {
            assert_eq!(is_launcher(Path::new(path)), expect, "{path}");
        }
    }

    #[test]
    fn a_library_whose_path_the_loader_cannot_read_gets_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let plain = folder.path().join("plain.so");
        fs::write(&plain, "plain").unwrap();
        assert_eq!(Preload::new(plain.clone()).unwrap().path(), plain);
        for name in ["with space.so", "with:colon.so"] {
            let library = folder.path().join(name);
            fs::write(&library, name).unwrap();
            let preload = Preload::new(library).unwrap();
            let link = preload.path().to_owned();
            assert!(!link.to_string_lossy().contains([' ', ':']), "{link:?}");
            assert_eq!(fs::read_to_string(&link).unwrap(), name);
            drop(preload);
            assert!(!link.exists());
        }
    }
}
