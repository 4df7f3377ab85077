//! What a causal run experiments on, from the client's form to the recorder's.

use fulcrum_recorder as recorder;

use crate::protocol::failure::Failure;
use crate::protocol::{Aim, AimTarget};

/// The recorder's form of an aim, checked.
pub(crate) fn recorder_aim(aim: &Aim) -> Result<recorder::Aim, Failure> {
    let target = match aim.target {
        AimTarget::Line => recorder::TargetChoice::Line,
        AimTarget::Function => recorder::TargetChoice::Function,
        AimTarget::Inclusive => recorder::TargetChoice::Inclusive,
        AimTarget::Blocked => recorder::TargetChoice::Blocked,
        AimTarget::Path => recorder::TargetChoice::Path(paths(&aim.paths)?),
    };
    let patterns = |given: &[String]| {
        given
            .iter()
            .map(|pattern| pattern.trim().to_owned())
            .filter(|pattern| !pattern.is_empty())
            .collect()
    };
    Ok(recorder::Aim {
        source_scope: patterns(&aim.source_scope),
        binary_scope: patterns(&aim.binary_scope),
        target,
    })
}

fn paths(given: &[String]) -> Result<Vec<Vec<String>>, Failure> {
    let advice = "Name each call sequence, the outermost function first: main > serve > parse.";
    let mut paths = Vec::new();
    for text in given.iter().filter(|text| !text.trim().is_empty()) {
        let names: Vec<String> = text.split(" > ").map(|name| name.trim().into()).collect();
        if names.iter().any(String::is_empty) {
            return Err(Failure::user(
                format!("the path {text:?} has an empty function name"),
                Some(advice),
            ));
        }
        paths.push(names);
    }
    if paths.is_empty() {
        return Err(Failure::user(
            "a path as target needs at least one call sequence",
            Some(advice),
        ));
    }
    Ok(paths)
}
