//! Measuring what a critical section is worth: a sample counts while its thread holds the section's lock, and the waiter's
//! requests show what the program gains.

use std::path::Path;

use fulcrum_runs::PricedSection;
use fulcrum_runtime_core::request;
use fulcrum_symbols::variable_address;
use fulcrum_wire::ANY_LOCK;

use super::process::map::Plan;
use super::process::plan::NoPlan;
use crate::program::proc::Memory;
use crate::{Aim, Error, Options, TargetChoice};

impl Options {
    /// Options for measuring a section that takes this much less time, 0 to 1. Add the program, its folder and its duration.
    pub fn for_section(section: PricedSection, speedup: f64) -> Options {
        Options {
            aim: Aim {
                target: TargetChoice::Path(vec![vec![section.function.clone()]]),
                ..Aim::default()
            },
            fixed_speedup: Some(speedup),
            section: Some(section),
            ..Options::default()
        }
    }
}

/// Checks, before anything is started, whether the section's requests can be told from others.
pub(crate) fn check(options: &Options) -> Result<(), Error> {
    let request = options.section.as_ref().and_then(|it| it.request.as_ref());
    match request {
        Some(name) if !request::is_name(name.as_bytes()) => Err(Error::CannotStart(format!(
            "{name} is not an HTTP request, whose first bytes would show when it begins and when it is answered: name a \
             line that each request passes, with --progress FILE:LINE"
        ))),
        _ => Ok(()),
    }
}

/// Limits a plan of the section's function to the section.
pub(crate) fn limit(
    plan: Result<Plan, NoPlan>,
    memory: &Memory,
    section: &PricedSection,
) -> Result<Plan, NoPlan> {
    let mut plan = plan.map_err(|why| match why {
        NoPlan::Missing(_) => NoPlan::Missing(format!(
            "{} has no function {} with code of its own in its debug information",
            memory.main().display(),
            section.function
        )),
        other => other,
    })?;
    plan.request = section.request.clone().unwrap_or_default();
    plan.lock = match section.any_lock {
        true => ANY_LOCK,
        false => address(memory, &section.lock)?,
    };
    Ok(plan)
}

/// The address of a lock that is a variable of the program or of a library.
fn address(memory: &Memory, lock: &str) -> Result<u64, NoPlan> {
    let main = memory.main().to_path_buf();
    let others = memory.code().into_iter().filter(|it| *it != main);
    for module in [main.clone()].into_iter().chain(others) {
        if let Some(address) = within(memory, &module, lock) {
            return Ok(address);
        }
    }
    Err(NoPlan::Missing(format!(
        "neither {} nor one of its libraries has the variable {lock} any more: record its transactions again",
        memory.main().display()
    )))
}

/// The variable's address if this module has it. A module that cannot be read has no named variables.
fn within(memory: &Memory, module: &Path, lock: &str) -> Option<u64> {
    let address = variable_address(module, lock).ok()??;
    Some(address.wrapping_add(memory.bias(module)?))
}
