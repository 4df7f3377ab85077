//! Reads a profile from a file or from standard input.

use std::path::Path;

use fulcrum_answers::runs::kind;
use fulcrum_paths::{find_value, value_names};
use fulcrum_profile_formats::names::Rule;
use fulcrum_profile_formats::{Limits, Profile};
use fulcrum_runs::{RunFolder, RunInfo};
use fulcrum_schema::RunKind;

use crate::outcome::Failure;

/// The profile in a file, its names by these rules.
pub(crate) fn open(path: &Path, rules: &[Rule], limits: Limits) -> Result<Profile, Failure> {
    if path.is_dir() {
        return Err(Failure::BadInput(folder(path)));
    }
    Ok(fulcrum_profiles::profile(path, rules, limits)?)
}

/// Why a folder is not opened: it may be a run of Fulcrum's own.
fn folder(path: &Path) -> String {
    let kind = RunFolder::open(path).map(|it| kind(&RunInfo::of(&it)));
    let shows = match kind {
        Ok(RunKind::Causal) => "causal show",
        Ok(RunKind::Events) => "events stats",
        Ok(RunKind::Transactions) => "transactions show",
        Ok(RunKind::Unknown) | Err(_) => {
            return format!("{} is a folder; name a profile in it", path.display());
        }
    };
    let path = path.display();
    format!("{path} is a run, not a profile; `fulcrum {shows} {path}` opens it")
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
