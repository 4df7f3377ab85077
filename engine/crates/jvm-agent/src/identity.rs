//! Calls whose objects are logged (`identifymethod`): what they are made on, are given and return.
//!
//! An object's number is its tag, as with monitors: two objects never have one, which cannot be said of identity hashes.
//! Looking it up takes the machine several times as long as a probe; so it is done outside of the call's own times: before
//! the clock is asked at the entry, and after it at the exit.

use fulcrum_agent_core::say::guarded;
use fulcrum_wire::log::{PayloadBuffer, kind, result};

use crate::agent::{self, Agent};
use crate::jni::Object;
use crate::{objects, thread};

/// A method was entered, called on an object and given one; either may be null.
pub fn entered(method: u32, on: Object, given: Object) {
    guarded(|| {
        let Some(agent) = agent::get() else { return };
        let payload = PayloadBuffer::default()
            .number(u64::from(method))
            .number(number(agent, on))
            .number(number(agent, given));
        thread::with(|state| {
            let stamp = state.stamp();
            let objects = (kind::OBJECTS, &payload);
            state.method_with(agent.metering(), kind::ENTER, method, stamp, objects);
        });
    });
}

/// A method returns an object, or null.
pub fn returns(method: u32, object: Object) {
    left(method, |agent| (result::OBJECT, number(agent, object)));
}

/// A method returns yes or no.
pub fn says(method: u32, yes: bool) {
    left(method, |_| (result::BOOLEAN, u64::from(yes)));
}

fn left(method: u32, told: impl FnOnce(&Agent) -> (u64, u64)) {
    guarded(|| {
        let Some(agent) = agent::get() else { return };
        let mut stamp = None;
        thread::with(|state| stamp = Some(state.stamp()));
        let Some(stamp) = stamp else { return };
        let (what, value) = told(agent);
        let payload = PayloadBuffer::default()
            .number(u64::from(method))
            .number(what)
            .number(value);
        thread::with(|state| {
            let result = (kind::RESULT, &payload);
            state.method_with(agent.metering(), kind::EXIT, method, stamp, result);
        });
    });
}

fn number(agent: &Agent, object: Object) -> u64 {
    match object.is_null() {
        true => 0,
        false => objects::number(agent, object),
    }
}
