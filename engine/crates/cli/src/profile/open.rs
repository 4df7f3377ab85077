//! Reading a profile from a file or from standard input.

use std::io::Read as _;
use std::path::Path;

use fulcrum_ingest::profile::names::{Rule, normalise};
use fulcrum_ingest::profile::{Limits, Profile, read_with};

use super::symbols::Files;
use crate::outcome::Failure;

/// The profile in a file, its names by these rules.
pub fn open(path: &Path, rules: &[Rule]) -> Result<Profile, Failure> {
    let name = path.display().to_string();
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    let bytes = bytes.map_err(|error| {
        Failure::BadInput(format!("cannot read {name}: {error}; check the path"))
    })?;
    let profile = read_with(&bytes, &name, Limits::default(), &Files::default())
        .map_err(|error| Failure::BadInput(error.to_string()))?;
    drop(bytes);
    normalise(profile, rules).map_err(|error| Failure::BadInput(format!("{name}: {error}")))
}

/// The number of the value type that is wanted: by name, by number from 1, or the profile's own choice.
pub fn value_of(profile: &Profile, wanted: Option<&str>, path: &Path) -> Result<usize, Failure> {
    let Some(wanted) = wanted else {
        return Ok(profile.default_value);
    };
    let types = profile.value_types();
    let by_name = types.iter().position(|kind| kind.name == wanted);
    let by_number = || {
        wanted
            .parse::<usize>()
            .ok()?
            .checked_sub(1)
            .filter(|&n| n < types.len())
    };
    by_name.or_else(by_number).ok_or_else(|| {
        let names: Vec<_> = types.iter().map(|kind| &*kind.name).collect();
        Failure::NotFound(format!(
            "{} has no value type {wanted:?}; choose one of {}",
            path.display(),
            names.join(", ")
        ))
    })
}
