//! `fulcrum/causal/clear`: closes the open profile.

use super::Mutating;
use crate::failure::Failure;
use crate::protocol::{CausalClear, ClearParams};
use crate::state::State;

pub(crate) enum Clear {}

impl Mutating for Clear {
    type Method = CausalClear;

    fn run(state: &mut State, _: ClearParams) -> Result<(), Failure> {
        state.look_at(None);
        state.show(None);
        Ok(())
    }
}
