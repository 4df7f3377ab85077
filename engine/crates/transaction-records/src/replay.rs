//! What would have happened had the algorithms of `fulcrum-transactions` run inside the programs.
//!
//! [`order`] takes the records of all threads in turn: by time, but a cause before its effect whatever clocks say. [`World`]
//! is what they change, and knows nothing of logs.

mod arrivals;
mod direction;
mod doing;
mod flows;
mod handlers;
mod libraries;
mod library_files;
mod messages;
mod order;
mod process;
mod request;
mod requests;
mod scope;
mod spans;
mod thread;
mod traces;
mod virtual_machines;
mod wait;
mod waits;
mod world;

use fulcrum_model::{Cancelled, Progress};
use fulcrum_transactions::recognise::Recognition;

use crate::index::Index;
use crate::log::Log;
use crate::names::Resolvers;

pub(crate) use process::Process;
pub(crate) use world::World;

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
