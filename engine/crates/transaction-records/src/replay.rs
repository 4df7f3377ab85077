//! What would have happened had the algorithms of `fulcrum-transactions` run inside the programs.
//!
//! [`order`] takes the records of all threads in turn: by time, but a cause before its effect whatever clocks say. [`World`]
//! is what they change, and knows nothing of logs.

mod order;
mod records;
mod state;

use fulcrum_model::{Cancelled, Progress};
use fulcrum_transactions::recognise::Recognition;

use crate::index::Index;
use crate::log::Log;
use crate::names::Resolvers;

pub(crate) use state::process::Process;
pub(crate) use state::world::World;

/// Replays what logs tell.
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
