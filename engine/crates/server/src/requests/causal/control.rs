//! `fulcrum/causal/control`: pauses, resumes, stops or aims a run that is going on.

use super::aim::recorder_aim;
use crate::protocol::failure::Failure;
use crate::protocol::{CausalControl, ControlAction, ControlParams, ControlResult};
use crate::requests::Mutating;
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
            let own = state.long_requests.get(id).and_then(|it| it.token.as_ref());
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
