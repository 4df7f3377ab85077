//! Reading a profile from a file or from standard input.

use std::io::Read as _;
use std::path::Path;

use fulcrum_ingest::profile::names::{ALL, Rule, default_rules, normalise};
use fulcrum_ingest::profile::{Limits, Profile, read_with};

use crate::error::Error;
use crate::symbols::Files;

/// A profile that was read.
#[derive(Debug)]
pub struct Read {
    /// The profile, its names by the rules.
    pub profile: Profile,
    /// What tells the file's bytes apart.
    pub digest: String,
}

/// The profile in a file, or, for `-`, on standard input. Code of which it knows only the place gets its names from the
/// files that hold it.
///
/// # Errors
/// When the file cannot be read or is no profile.
pub fn read(path: &Path, rules: &[Rule]) -> Result<Read, Error> {
    let name = path.display().to_string();
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        let mut input = std::io::stdin().lock();
        input.read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    let bytes = bytes.map_err(|error| Error::io("read", path, &error))?;
    let digest = fulcrum_paths::digest(&bytes);
    let profile = read_with(bytes, &name, Limits::default(), &Files::default());
    let profile = profile.map_err(|error| Error::File(error.to_string()))?;
    let profile = normalise(profile, rules);
    let profile = profile.map_err(|error| Error::File(format!("{name}: {error}")))?;
    Ok(Read { profile, digest })
}

/// The rules for names of an option or setting: `default`, `all`, `none`, or some, separated by commas.
///
/// # Errors
/// When there is no such rule, one sentence.
pub fn named_rules(text: &str) -> Result<Vec<Rule>, String> {
    let rule = |name: &str| {
        let found = ALL.into_iter().find(|rule| rule.name() == name.trim());
        found.ok_or_else(|| format!("there is no rule {:?}", name.trim()))
    };
    match text {
        "default" => Ok(default_rules()),
        "all" => Ok(ALL.to_vec()),
        "none" => Ok(Vec::new()),
        list => list.split(',').map(rule).collect(),
    }
}
