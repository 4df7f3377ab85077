//! Reading a profile from a file or from standard input.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use fulcrum_model::Progress;
use fulcrum_profile_formats::names::{ALL, Rule, default_rules, normalise};
use fulcrum_profile_formats::{ALLOW_MORE, Limits, Profile};

use crate::error::Error;
use crate::large_text::LargeText;
use crate::symbols::Files;

/// A profile that was read.
#[derive(Debug)]
pub struct Read {
    /// The profile, its names by the rules.
    pub profile: Profile,
    /// The digest of the file's bytes.
    pub digest: String,
}

/// The profile in a file, or, for `-`, on standard input. Code of which it knows only the place gets its names from the
/// files that hold it.
///
/// # Errors
/// When the file cannot be read or is no profile.
pub fn read(path: &Path, rules: &[Rule]) -> Result<Read, Error> {
    read_with_progress(path, rules, Limits::default(), &Progress::default())
}

/// The same with other limits; `progress` may stop it.
pub(crate) fn read_with_progress(
    path: &Path,
    rules: &[Rule],
    limits: Limits,
    progress: &Progress,
) -> Result<Read, Error> {
    let name = path.display().to_string();
    if let Some(text) = large_text(path, limits) {
        let digest = text.digest(progress)?;
        let digest = digest.map_err(|error| Error::io("read", path, &error))?;
        let profile = named(text.profile(&name, limits, progress)?, &name, rules)?;
        return Ok(Read { profile, digest });
    }
    let bytes = Shared(Arc::new(bytes(path, limits)?));
    // In parallel with reading, which at first uses one processor only.
    let theirs = Shared(Arc::clone(&bytes.0));
    let digest = thread::Builder::new().spawn(move || fulcrum_paths::digest(&theirs.0));
    let digest = match digest {
        Ok(thread) => Ok(thread),
        Err(_) => Err(fulcrum_paths::digest(&bytes.0)),
    };
    let profile = named(parse(bytes, &name, limits, progress)?, &name, rules)?;
    let digest = digest.map_or_else(
        |digest| digest,
        |thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
    );
    Ok(Read { profile, digest })
}

/// Bytes that are freed when both users are done.
struct Shared(Arc<Vec<u8>>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

fn large_text(path: &Path, limits: Limits) -> Option<LargeText> {
    match path == Path::new("-") {
        true => None,
        false => LargeText::open(path, LARGE, limits),
    }
}

/// The same with other limits, for those who need no digest.
///
/// # Errors
/// As [`read`].
pub fn profile(path: &Path, rules: &[Rule], limits: Limits) -> Result<Profile, Error> {
    let (name, progress) = (path.display().to_string(), Progress::default());
    let profile = match large_text(path, limits) {
        Some(text) => text.profile(&name, limits, &progress)?,
        None => parse(bytes(path, limits)?, &name, limits, &progress)?,
    };
    named(profile, &name, rules)
}

fn bytes(path: &Path, limits: Limits) -> Result<Vec<u8>, Error> {
    let bytes = if path == Path::new("-") {
        take(std::io::stdin().lock(), limits.bytes as u64)
    } else {
        contents(path, limits)
    };
    bytes.map_err(|error| Error::io("read", path, &error))
}

fn too_large(most: u64) -> io::Error {
    let problem = format!(
        "it has more than {} MiB, the most that is read; {ALLOW_MORE}",
        most >> 20
    );
    io::Error::new(io::ErrorKind::FileTooLarge, problem)
}

/// Everything up to the end or the limit; pipes and devices need not have an end.
fn take(input: impl io::Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(too_large(most)),
        false => Ok(bytes),
    }
}

/// Smaller files are read at once.
const LARGE: u64 = 16 << 20;

/// The bytes of a file. Both halves of a large one are read at the same time, because the kernel takes longer than the disk: it
/// copies, and allocates page by page.
pub(crate) fn contents(path: &Path, limits: Limits) -> io::Result<Vec<u8>> {
    let most = limits.bytes as u64;
    let file = File::open(path)?;
    let about = file.metadata()?;
    if !about.is_file() || about.len() < LARGE {
        // A pipe must not be opened again: its writer may be done.
        return take(file, most);
    }
    if about.len() > most {
        return Err(too_large(most));
    }
    let mut bytes = vec![0; about.len() as usize];
    let half = bytes.len() / 2;
    let (first, second) = bytes.split_at_mut(half);
    let whole = thread::scope(|scope| {
        let other = thread::Builder::new();
        let other = other.spawn_scoped(scope, || file.read_exact_at(second, half as u64))?;
        file.read_exact_at(first, 0)?;
        other.join().unwrap_or_else(|panic| resume_unwind(panic))
    });
    match whole {
        Ok(()) => Ok(bytes),
        // The file became shorter, or no thread could start.
        Err(_) => take(File::open(path)?, most),
    }
}

fn parse(
    bytes: impl AsRef<[u8]>,
    name: &str,
    limits: Limits,
    progress: &Progress,
) -> Result<Profile, Error> {
    let profile = fulcrum_profile_formats::read_with_progress(
        bytes,
        name,
        limits,
        &Files::default(),
        progress,
    );
    let profile = profile.map_err(|error| Error::File(error.to_string()))?;
    profile.ok_or(Error::Cancelled)
}

/// The profile with its names by the rules.
fn named(profile: Profile, name: &str, rules: &[Rule]) -> Result<Profile, Error> {
    let profile = normalise(profile, rules);
    profile.map_err(|error| Error::File(format!("{name}: {error}")))
}

/// The rules for names of an option or setting: `default`, `all`, `none`, names of rules, or several of these, separated by
/// commas; in the order in which they are applied.
///
/// # Errors
/// When there is no such rule, one sentence.
pub fn named_rules(text: &str) -> Result<Vec<Rule>, String> {
    let mut wanted = Vec::new();
    for name in text.split(',').map(str::trim) {
        match name {
            "default" => wanted.extend(default_rules()),
            "all" => wanted.extend(ALL),
            "none" => {}
            name => match ALL.into_iter().find(|rule| rule.name() == name) {
                Some(rule) => wanted.push(rule),
                None => {
                    let names: Vec<_> = ALL.into_iter().map(Rule::name).collect();
                    return Err(format!(
                        "there is no rule {name:?}: give default, all, none or some of {}",
                        names.join(", ")
                    ));
                }
            },
        }
    }
    Ok(ALL
        .into_iter()
        .filter(|rule| wanted.contains(rule))
        .collect())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::process::Command;

    use super::*;

    #[test]
    fn rules_are_named_alone_and_together() {
        let some = [Rule::Demangle, Rule::SourceLine];
        for (text, expect) in [
            ("default", default_rules()),
            ("all", ALL.to_vec()),
            ("none", Vec::new()),
            ("source-line, demangle", some.to_vec()),
            ("none,demangle,source-line,demangle", some.to_vec()),
            ("default,source-line,anonymous-number", ALL.to_vec()),
        ] {
            assert_eq!(named_rules(text), Ok(expect), "{text}");
        }
        for wrong in ["", "demangled", "default,,demangle"] {
            assert!(named_rules(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn input_without_end_is_read_up_to_the_limit() {
        let most = 3 << 20;
        let error = take(io::repeat(b'a'), most).expect_err("it has no end");
        assert!(error.to_string().contains("more than 3 MiB"), "{error}");
        assert!(error.to_string().contains("--max-size"), "{error}");
        let whole = take(io::repeat(b'a').take(most), most).expect("it has an end");
        assert_eq!(whole.len() as u64, most);
    }

    #[test]
    fn devices_and_pipes_without_end_are_read_up_to_the_limit() {
        let limits = Limits::up_to(3 << 20);
        let refused = |path: &Path| {
            let error = profile(path, &[], limits).expect_err("it has no end");
            let problem = error.to_string();
            for part in [&*path.to_string_lossy(), "more than 3 MiB", "--max-size"] {
                assert!(problem.contains(part), "{problem}");
            }
        };
        refused(Path::new("/dev/zero"));
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let made = Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo").success());
        let writer = {
            let pipe = pipe.clone();
            let stacks = "main;work 1\n".repeat(1000);
            thread::spawn(move || -> io::Result<()> {
                let mut pipe = File::options().write(true).open(pipe)?;
                loop {
                    pipe.write_all(stacks.as_bytes())?;
                }
            })
        };
        refused(&pipe);
        // Nobody reads on, so nobody has to write on.
        let ended = writer.join().expect("it writes until it cannot");
        let ended = ended.expect_err("it has no end").kind();
        assert_eq!(ended, io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn large_files_are_read_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        for length in [
            0,
            5,
            LARGE as usize - 1,
            LARGE as usize,
            LARGE as usize + 77,
        ] {
            let bytes: Vec<u8> = (0..length).map(|n| ((n * 31) >> 7) as u8).collect();
            fs::write(&path, &bytes).expect("it can be written");
            let found = contents(&path, Limits::default()).expect("a file");
            assert!(found == bytes, "{length}");
            let fewer = Limits::up_to(length.saturating_sub(1));
            assert_eq!(contents(&path, fewer).is_ok(), length == 0, "{length}");
        }
        assert!(contents(&folder.path().join("y"), Limits::default()).is_err());
    }

    #[test]
    fn large_folded_stacks_are_read_like_small_ones() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.folded");
        let line = |n: u64| {
            format!(
                "main;caller{};a long name of work{} {}\n",
                n % 7,
                n % 999,
                n % 5
            )
        };
        let text: String = (0..LARGE / 30).map(line).collect();
        assert!(text.len() as u64 > LARGE);
        fs::write(&path, &text).expect("it can be written");
        assert!(large_text(&path, Limits::default()).is_some());
        assert!(large_text(&path, Limits::up_to(text.len() - 1)).is_none());
        let found = read(&path, &[]).expect("a profile");
        assert_eq!(found.digest, fulcrum_paths::digest(text.as_bytes()));
        let held = fulcrum_profile_formats::read(text.as_bytes(), "x").expect("a profile");
        let tree = |profile: Profile| match profile.calls {
            fulcrum_profile_formats::Calls::Tree(tree) => tree,
            fulcrum_profile_formats::Calls::Graphs(_) => panic!("expected a tree"),
        };
        assert!(tree(found.profile) == tree(held));
        let error = self::profile(&path, &[], Limits::up_to(text.len() - 1));
        let problem = error.expect_err("too large").to_string();
        assert!(problem.contains("--max-size"), "{problem}");
    }
}
