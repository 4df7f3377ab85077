//! What a critical section is worth: which lock threads hold while their samples count, and whose requests tell what the
//! program gains.

use std::path::Path;

use fulcrum_runs::PricedSection;
use fulcrum_runtime_core::request;
use fulcrum_symbols::variable_address;
use fulcrum_wire::ANY_LOCK;

use crate::map::Plan;
use crate::plan::{Memory, NoPlan};
use crate::{Aim, Error, Options, TargetChoice};

impl Options {
    /// What measures a section that takes less time by this much, 0 to 1. The program, its folder and its time are to be added.
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

/// Whether its requests can be told from others, before anything is started.
pub fn check(options: &Options) -> Result<(), Error> {
    let request = options.section.as_ref().and_then(|it| it.request.as_ref());
    match request {
        Some(name) if !request::is_name(name.as_bytes()) => Err(Error::CannotStart(format!(
            "{name} is no HTTP request, whose first bytes would tell when one begins and when it is answered: name a line \
             that each passes, with --progress FILE:LINE"
        ))),
        _ => Ok(()),
    }
}

/// Limits a plan of the section's function to the section.
pub fn limit(
    plan: Result<Plan, NoPlan>,
    memory: &Memory,
    section: &PricedSection,
) -> Result<Plan, NoPlan> {
    let mut plan = plan.map_err(|why| match why {
        NoPlan::Missing(_) => NoPlan::Missing(format!(
            "{} has no function {} of its own whose code its debug information tells",
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

/// Where a lock is that is a variable: of the program, or of a library.
fn address(memory: &Memory, lock: &str) -> Result<u64, NoPlan> {
    let main = memory.main().to_path_buf();
    let others = memory.code().into_iter().filter(|it| *it != main);
    for module in [main.clone()].into_iter().chain(others) {
        if let Some(address) = within(memory, &module, lock) {
            return Ok(address);
        }
    }
    Err(NoPlan::Missing(format!(
        "{} has no variable {lock} any more, nor has a library of it: record its transactions again",
        memory.main().display()
    )))
}

/// A library that cannot be read has no variable that anybody could know by a name.
fn within(memory: &Memory, module: &Path, lock: &str) -> Option<u64> {
    let address = variable_address(module, lock).ok()??;
    Some(address.wrapping_add(memory.bias(module)?))
}
