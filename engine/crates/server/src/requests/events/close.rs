//! `fulcrum/events/close`: closes a trace and cancels what still reads it.

use crate::events::closed;
use crate::protocol::failure::Failure;
use crate::protocol::{EventsClose, EventsCloseParams};
use crate::requests::Mutating;
use crate::state::State;

pub(crate) enum Close {}

impl Mutating for Close {
    type Method = EventsClose;

    fn run(state: &mut State, params: EventsCloseParams) -> Result<(), Failure> {
        match state.traces.remove(&params.id) {
            Some(trace) => {
                trace.open.cancel();
                Ok(())
            }
            None => Err(closed(params.id)),
        }
    }
}
