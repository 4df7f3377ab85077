//! Determines what the algorithms of `fulcrum-transactions` would have computed inside the programs.
//!
//! [`order`] takes the records of all threads one by one: in order of time, but causes before effects, regardless of
//! clocks. Records change the [`World`], which knows nothing about logs.

mod order;
mod records;
mod state;

use fulcrum_model::{Cancelled, Progress};
use fulcrum_transactions::recognise::Recognition;

use crate::index::Index;
use crate::log::Log;
use crate::names::Resolvers;

pub(crate) use state::process::Process;
pub(crate) use state::wait::OwnedWait;
pub(crate) use state::world::World;

/// Replays logs.
///
/// # Errors
/// [`Cancelled`].
pub(crate) fn replay<'a>(
    logs: &[Log<'_>],
    index: &'a Index,
    resolver: &'a Resolvers<'a>,
    recognition: Recognition,
    progress: &Progress,
) -> Result<World<'a>, Cancelled> {
    let mut world = World::new(logs, index, resolver, recognition);
    order::run(logs, &mut world, progress)?;
    world.finish();
    Ok(world)
}
