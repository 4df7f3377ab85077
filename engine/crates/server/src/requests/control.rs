//! `fulcrum/causal/control`: pauses, resumes, stops or aims a run that is going on.

use fulcrum_recorder as recorder;

use super::Mutating;
use crate::failure::Failure;
use crate::protocol::{Aim, AimTarget, CausalControl, ControlAction, ControlParams, ControlResult};
use crate::state::State;

pub(crate) enum Control {}

impl Mutating for Control {
    type Method = CausalControl;

    fn run(state: &mut State, params: ControlParams) -> Result<ControlResult, Failure> {
        let aim = match (params.action, params.aim) {
            (ControlAction::Retarget, Some(aim)) => Some((recorder_aim(&aim)?, aim)),
            (ControlAction::Retarget, None) => {
                return Err(Failure::user("no target and no scope were given", None));
            }
            _ => None,
        };
        let token = params.token;
        let mut runs = 0;
        let mut shown = None;
        for (id, running) in &mut state.running {
            let own = state.working.get(id).and_then(|it| it.token.as_ref());
            if token.is_some() && own != token.as_ref() {
                continue;
            }
            runs += 1;
            match params.action {
                ControlAction::Pause => running.remote.pause(),
                ControlAction::Resume => running.remote.resume(),
                ControlAction::Stop => running.remote.cancel(),
                ControlAction::Retarget => {
                    if let Some((theirs, ours)) = &aim {
                        running.remote.retarget(theirs.clone());
                        running.set_aim(ours.clone());
                    }
                }
                ControlAction::Show => {
                    running.followed = true;
                    shown = running.latest.clone();
                }
            }
        }
        if runs == 0 {
            return Err(Failure::user(
                "no causal run is going on",
                Some("Start one by Run Causal Profiler…."),
            ));
        }
        if shown.is_some() {
            state.show(shown);
        }
        Ok(ControlResult { runs })
    }
}

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
