//! Reads a profile from a file or from standard input.

use std::path::Path;

use fulcrum_paths::{find_value, value_names};
use fulcrum_profile_formats::names::Rule;
use fulcrum_profile_formats::{Limits, Profile};

use crate::outcome::Failure;

/// The profile in a file, its names by these rules.
pub(crate) fn open(path: &Path, rules: &[Rule], limits: Limits) -> Result<Profile, Failure> {
    Ok(fulcrum_profiles::profile(path, rules, limits)?)
}

/// The index of the requested value type: by name, by number from 1, or the profile's own choice.
pub(crate) fn value_of(
    profile: &Profile,
    requested: Option<&str>,
    path: &Path,
) -> Result<usize, Failure> {
    let Some(requested) = requested else {
        return Ok(profile.default_value);
    };
    let types = profile.value_types();
    find_value(&types, requested).ok_or_else(|| {
        let names = value_names(&types);
        Failure::NotFound(format!(
            "{} has no value type {requested:?}; choose one of {}",
            path.display(),
            names.join(", ")
        ))
    })
}
