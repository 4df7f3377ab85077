//! Starts and ends sessions: when the machine starts with the agent, and on request.

use std::sync::atomic::Ordering;

use fulcrum_agent_core::options::Options;
use fulcrum_agent_core::say;

use crate::classes::metered;
use crate::jni::JavaVm;
use crate::jvmti::Jvmti;
use crate::session::agent::{self, Agent};
use crate::session::{events, machine};

/// The machine starts with the agent: the session begins when the machine has started.
///
/// # Safety
/// `vm` is the machine's own.
pub(crate) unsafe fn load(vm: *mut JavaVm, options: &str) -> Result<bool, String> {
    quietly();
    // SAFETY: the caller's promise.
    let jvmti = unsafe { machine::connect(vm) }?;
    begin(jvmti, Options::read(options)?).map(|_| true)
}

/// Executes a command in a running machine:
/// - `prepare` does nothing, but from now on the machine finds our native methods;
/// - `start=FOLDER` starts a session whose options are in that folder, as those of `-agentpath`;
/// - `stop` ends it, and restores all classes.
///
/// `false` when another session is active, which a message in the new one's folder says.
///
/// # Safety
/// `vm` is the machine's own.
pub(crate) unsafe fn command(vm: *mut JavaVm, command: &str) -> Result<bool, String> {
    quietly();
    // SAFETY: the caller's promise.
    let jvmti = unsafe { machine::connect(vm) }?;
    match command.split_once('=') {
        None if command == "prepare" => Ok(true),
        None if command == "stop" => {
            stop(agent::get().ok_or("this program is not being traced")?)?;
            Ok(true)
        }
        Some(("start", folder)) => {
            if let Some(agent) = agent::get() {
                if agent.has_recorder() {
                    say::say_in(folder.as_ref(), "this program is being traced already");
                    return Ok(false);
                }
                // The recorder was killed, and could not end the session.
                stop(agent)?;
            }
            let agent = begin(jvmti, Options::read(folder)?)?;
            let env = agent.env().ok_or("the calling thread is not Java's")?;
            events::machine_runs(agent, env);
            Ok(true)
        }
        _ => Err(format!("{command:?} is not prepare, start=FOLDER or stop")),
    }
}

/// Prints nothing: messages go into the log.
fn quietly() {
    say::silence();
    say::through(agent::note);
}

fn begin(jvmti: Jvmti, options: Options) -> Result<&'static Agent, String> {
    let wanted = events::capabilities(&options.filter);
    let agent = agent::begin(jvmti, options, &wanted)?;
    events::turn_on(agent)?;
    Ok(agent)
}

/// Ends the session, and leaves the program as it was before it.
fn stop(agent: &Agent) -> Result<(), String> {
    let env = agent.env().ok_or("the calling thread is not Java's")?;
    agent.ready.store(false, Ordering::Release);
    events::turn_off(agent, env);
    metered::finish(agent, env);
    agent.end(events::KEPT);
    Ok(())
}
