//! `fulcrum/causal/clear`: closes the open profile.

use crate::protocol::failure::Failure;
use crate::protocol::{CausalClear, ClearParams};
use crate::requests::Mutating;
use crate::state::State;

pub(crate) enum Clear {}

impl Mutating for Clear {
    type Method = CausalClear;

    fn run(state: &mut State, _: ClearParams) -> Result<(), Failure> {
        state.set_followed(None);
        state.show(None);
        Ok(())
    }
}
