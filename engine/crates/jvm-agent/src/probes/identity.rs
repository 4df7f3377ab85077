//! Calls whose objects are logged (`identifymethod`): the object that they are made on, their first object argument, and
//! their result.
//!
//! An object's number is its tag, as with monitors: unlike identity hashes, no two objects share one. Looking it up takes
//! several times as long as a probe, so it is done outside of the call's own times: before the clock is read at the entry,
//! and after it is read at the exit.

use fulcrum_agent_core::MethodEvent;
use fulcrum_agent_core::say::guarded;
use fulcrum_wire::log::{PayloadBuffer, kind, result};

use crate::jni::Object;
use crate::objects::tags;
use crate::session::agent::{self, Agent};
use crate::threads::thread;

/// A method was entered that is called on an object and given another; either may be null.
pub(crate) fn entered(method: u32, on: Object, given: Object) {
    guarded(|| {
        let Some(agent) = agent::get() else { return };
        let payload = PayloadBuffer::default()
            .number(u64::from(method))
            .number(number(agent, on))
            .number(number(agent, given));
        thread::with(|state| {
            let event = MethodEvent {
                kind: kind::ENTER,
                method,
                stamp: state.stamp(),
            };
            state.method_with(agent.metering(), event, (kind::OBJECTS, &payload));
        });
    });
}

/// A method returns an object, or null.
pub(crate) fn returns(method: u32, object: Object) {
    left(method, |agent| (result::OBJECT, number(agent, object)));
}

/// A method returns a `boolean`.
pub(crate) fn says(method: u32, yes: bool) {
    left(method, |_| (result::BOOLEAN, u64::from(yes)));
}

fn left(method: u32, result: impl FnOnce(&Agent) -> (u64, u64)) {
    guarded(|| {
        let Some(agent) = agent::get() else { return };
        let mut stamp = None;
        thread::with(|state| stamp = Some(state.stamp()));
        let Some(stamp) = stamp else { return };
        let (what, value) = result(agent);
        let payload = PayloadBuffer::default()
            .number(u64::from(method))
            .number(what)
            .number(value);
        thread::with(|state| {
            let event = MethodEvent {
                kind: kind::EXIT,
                method,
                stamp,
            };
            state.method_with(agent.metering(), event, (kind::RESULT, &payload));
        });
    });
}

fn number(agent: &Agent, object: Object) -> u64 {
    match object.is_null() {
        true => 0,
        false => tags::number(agent, object),
    }
}
