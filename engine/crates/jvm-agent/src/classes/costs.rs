//! Measures what a pair of probes costs (`fulcrum_agent_core::costs`).

use fulcrum_agent_core::Writer;
use fulcrum_agent_core::costs::{self, Costs, METHOD, ROUND};

use crate::jni::{Env, Object};
use crate::threads::thread::{self, State};

/// Measures the probes of a class. Returns a tick's length in nanoseconds too.
pub(crate) fn measure(env: Env, class: Object) -> (Costs, f64) {
    bind(env, class);
    costs::measure(&mut |writer| {
        let mut done = None;
        let state = thread::instead(State::rehearsal(writer), || {
            done = env.call_static_int(class, c"calibrate", ROUND.cast_signed());
        });
        done.map(|()| state.into_writer())
    })
}

/// Calls each probe once, which binds its native method: now, while no method has probes that this would call.
fn bind(env: Env, class: Object) {
    if let Some(log) = costs::rehearsal() {
        let writer = Writer::new(log.stream(2), u32::MAX);
        thread::instead(State::rehearsal(writer), || {
            for probe in [c"enter", c"exit", c"thrown"] {
                // Measuring shows if one cannot be called.
                let _ = env.call_static_int(class, probe, METHOD.cast_signed());
            }
        });
    }
}
