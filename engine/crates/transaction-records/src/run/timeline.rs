//! When transactions began and ended, and when threads worked or waited for them.

use std::collections::HashMap;

use fulcrum_transactions::Synopsis;
use fulcrum_transactions::crosstalk::Holder;
use fulcrum_transactions::stitch::Stitched;
use fulcrum_transactions::what_if::{Timed, TimedWait, Timeline, WaitPlace, Work};
use fulcrum_transactions::{LockId, ProcessId};

use super::ways::shared;
use crate::replay::{OwnedWait, World};

/// All transactions of a run that have a type.
pub(super) fn timeline(world: &World<'_>, stitched: &Stitched) -> Timeline {
    let mut timeline = Timeline::default();
    let infos = world.index().processes.iter();
    timeline.programs = infos.map(|it| (it.id(), it.name().to_owned())).collect();
    let rows = add_transactions(world, stitched, &mut timeline);
    add_work(world, &rows, &mut timeline);
    add_waits(world, stitched, &rows, &mut timeline);
    timeline
}

/// Adds the transactions, and returns the row of each instance that is one of them.
fn add_transactions(
    world: &World<'_>,
    stitched: &Stitched,
    timeline: &mut Timeline,
) -> Vec<Option<u32>> {
    let instances = (0..).zip(&world.instances);
    let rows = instances.map(|(row, instance)| {
        let ended = world.ended(row);
        let process = world.index().processes[instance.process].id();
        let of = stitched.type_of(process, ended.context)?;
        let began_ns = shared(world, instance.process, instance.began_ns);
        timeline.transactions.push(Timed {
            of,
            began_ns,
            ended_ns: began_ns.saturating_add(ended.wall_ns),
        });
        Some(timeline.transactions.len() as u32 - 1)
    });
    rows.collect()
}

fn add_work(world: &World<'_>, rows: &[Option<u32>], timeline: &mut Timeline) {
    for thread in &world.threads {
        let process = world.index().processes[thread.process].id();
        for (moment, to_ns) in thread.stays() {
            let row = moment.instance.and_then(|it| rows[it as usize]);
            let Some(transaction) = row else { continue };
            let from_ns = shared(world, thread.process, moment.time_ns);
            // A thread that has answered may still be busy, with nothing that anybody waits for.
            let of = timeline.transactions[transaction as usize];
            let to_ns = shared(world, thread.process, to_ns).min(of.ended_ns);
            if from_ns < to_ns {
                timeline.work.push(Work {
                    transaction,
                    process,
                    from_ns,
                    to_ns,
                });
            }
        }
    }
}

fn add_waits(
    world: &World<'_>,
    stitched: &Stitched,
    rows: &[Option<u32>],
    timeline: &mut Timeline,
) {
    type Key = (ProcessId, Synopsis, Holder<Synopsis>, LockId, Synopsis);
    let mut places: HashMap<Key, Option<u32>> = HashMap::new();
    for (process, it) in world.processes.iter().enumerate() {
        let id = world.index().processes[process].id();
        for wait in &it.owned_waits {
            let key = (id, wait.context, wait.holder, wait.lock, wait.path);
            let known = places.entry(key).or_insert_with(|| {
                timeline.places.push(place(stitched, id, wait)?);
                Some(timeline.places.len() as u32 - 1)
            });
            let row = rows[wait.instance as usize];
            let (Some(place), Some(transaction)) = (*known, row) else {
                continue;
            };
            let from_ns = shared(world, process, wait.began_ns);
            timeline.waits.push(TimedWait {
                transaction,
                process: id,
                holder: wait.holder_instance.and_then(|it| rows[it as usize]),
                place,
                from_ns,
                to_ns: shared(world, process, wait.ended_ns).max(from_ns),
            });
        }
    }
}

fn place(stitched: &Stitched, process: ProcessId, wait: &OwnedWait) -> Option<WaitPlace> {
    let type_of = |context| stitched.type_of(process, context);
    Some(WaitPlace {
        waiter: type_of(wait.context)?,
        holder: match wait.holder {
            Holder::Transaction(context) => Holder::Transaction(type_of(context)?),
            Holder::NoTransaction => Holder::NoTransaction,
            Holder::Unknown => Holder::Unknown,
        },
        lock: stitched.lock_name(process, wait.lock),
        functions: stitched.functions_in(process, wait.path),
    })
}
