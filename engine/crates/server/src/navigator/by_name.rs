//! The profile's names by the function's own name.

use std::collections::HashMap;

use fulcrum_paths::{AnyProfile, ProfileInterface as _};
use fulcrum_source::Qualified;

/// The profile's names by the function's own name.
pub(crate) type ByName = HashMap<String, Vec<(String, Qualified)>>;

/// Takes the profile's names apart.
pub(crate) fn by_name(profile: &AnyProfile) -> ByName {
    let mut all = ByName::new();
    for function in profile.functions() {
        let name = function.name;
        if let Some(qualified) = Qualified::parse(name) {
            let known = all.entry(qualified.name.clone()).or_default();
            known.push((name.to_owned(), qualified));
        }
    }
    all
}
