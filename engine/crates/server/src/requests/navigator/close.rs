//! `fulcrum/navigator/close`: closes a navigator and cancels its searches.

use crate::navigator::Navigator;
use crate::protocol::failure::Failure;
use crate::protocol::{NavigatorClose, NavigatorCloseParams};
use crate::requests::Mutating;
use crate::state::State;

pub(crate) enum Close {}

impl Mutating for Close {
    type Method = NavigatorClose;

    fn run(state: &mut State, params: NavigatorCloseParams) -> Result<(), Failure> {
        match state.navigators.remove(&params.id) {
            Some(_) => Ok(()),
            None => Err(Navigator::absent(params.id)),
        }
    }
}
