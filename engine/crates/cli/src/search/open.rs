//! Files to something that can be searched.

use fulcrum_paths::Normalisation;
use fulcrum_profiles::{Files, Session};

use super::args::ProfileFiles;
use crate::outcome::Failure;

/// Opens what the arguments name.
pub fn open(files: &ProfileFiles) -> Result<Session, Failure> {
    let files = Files {
        files: files.files.clone(),
        against: files.against.clone(),
        value: files.value.clone(),
        normalisation: files.normalise.unwrap_or(Normalisation::None),
        rules: files.names.0.clone(),
    };
    Ok(Session::open(&files, &mut |_, _| true)?)
}
