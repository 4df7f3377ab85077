//! What a pair of probes costs (`fulcrum_agent_core::costs`), by the class that they are in.

use fulcrum_agent_core::Writer;
use fulcrum_agent_core::costs::{self, Costs, METHOD, ROUND};

use crate::jni::{Env, Object};
use crate::thread::{self, State};

/// Rehearses in the class that probes are in; a tick's nanoseconds too.
pub fn measure(env: Env, class: Object) -> (Costs, f64) {
    bind(env, class);
    costs::measure(&mut |writer| {
        let mut done = None;
        let state = thread::instead(State::rehearsal(writer), || {
            done = env.call_static_int(class, c"calibrate", ROUND.cast_signed());
        });
        done.map(|()| state.into_writer())
    })
}

/// The first call of a probe finds its native method: now, while nothing has probes that would be called by that.
fn bind(env: Env, class: Object) {
    if let Some(log) = costs::rehearsal() {
        let writer = Writer::new(log.stream(2), u32::MAX);
        thread::instead(State::rehearsal(writer), || {
            for probe in [c"enter", c"exit", c"thrown"] {
                // One that cannot be called shows when it is measured.
                let _ = env.call_static_int(class, probe, METHOD.cast_signed());
            }
        });
    }
}
