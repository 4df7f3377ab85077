//! The timeline once more, without what vanishes.
//!
//! Each transaction has its lead: how much earlier than recorded it gets to a recorded moment. It grows by what vanishes. At a
//! wait that remains, it becomes the lead of whoever ends the wait, but grows by no more than the wait. Whoever comes to a lock
//! earlier than its holder took it meets somebody else, or nobody: then the wait takes as long as it did. When the holder took
//! it is not recorded. On average, that is as long before the wait as the wait lasts.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Repair, TimedWait, Timeline, Work};
use crate::context::types::TypeId;
use crate::crosstalk::Holder;
use crate::ids::ProcessId;

/// A timeline that is ready to be replayed, for one repair.
pub(super) struct Replay<'a> {
    timeline: &'a Timeline,
    /// The ends of skippable work and of waits, in order of time.
    ends: Vec<End<'a>>,
    /// By place: whether waits there vanish.
    vanishes: Vec<bool>,
    /// Where transactions may do without their work.
    skippable: BTreeSet<(TypeId, ProcessId)>,
    queues: Queues<'a>,
}

#[derive(Clone, Copy)]
enum End<'a> {
    Work(&'a Work),
    Wait(&'a TimedWait),
}

impl End<'_> {
    fn at_ns(&self) -> u64 {
        match self {
            End::Work(it) => it.to_ns,
            End::Wait(it) => it.to_ns,
        }
    }
}

/// How much earlier a transaction gets to recorded moments, ascending by moment. Not at all before the first.
#[derive(Clone, Debug, Default)]
struct Lead(Vec<(u64, u64)>);

impl Lead {
    fn at(&self, moment_ns: u64) -> u64 {
        let after = self.0.partition_point(|&(at, _)| at <= moment_ns);
        self.0[..after].last().map_or(0, |&(_, lead)| lead)
    }
}

impl<'a> Replay<'a> {
    pub(super) fn new(timeline: &'a Timeline, repair: &Repair) -> Self {
        let skippable: BTreeSet<(TypeId, ProcessId)> = repair
            .work
            .iter()
            .flat_map(|it| {
                let programs = timeline.programs.iter();
                let processes = programs.filter(|(_, program)| **program == it.program);
                processes.map(|(&process, _)| (it.of, process))
            })
            .collect();
        let is_skippable = |it: &&Work| {
            let of = timeline.transactions[it.transaction as usize].of;
            skippable.contains(&(of, it.process))
        };
        let work = timeline.work.iter().filter(is_skippable).map(End::Work);
        let mut ends: Vec<End<'_>> = work.chain(timeline.waits.iter().map(End::Wait)).collect();
        ends.sort_by_key(End::at_ns);
        let waits = repair.waits.as_ref();
        let places = timeline.places.iter();
        Replay {
            timeline,
            ends,
            vanishes: places
                .map(|it| waits.is_some_and(|waits| waits.include(it)))
                .collect(),
            queues: match skippable.is_empty() {
                true => Queues::default(),
                false => Queues::of(timeline),
            },
            skippable,
        }
    }

    /// The waits that vanish.
    pub(super) fn vanished(&self) -> impl Iterator<Item = &TimedWait> {
        let waits = self.timeline.waits.iter();
        waits.filter(|it| self.vanishes[it.place as usize])
    }

    /// How long each transaction takes, if these do without what they may do without.
    pub(super) fn walls(&self, does_without: &[bool]) -> Vec<u64> {
        let mut leads = vec![Lead::default(); self.timeline.transactions.len()];
        for end in &self.ends {
            let (transaction, lead) = match end {
                End::Work(it) if does_without[it.transaction as usize] => {
                    let before = leads[it.transaction as usize].at(it.from_ns);
                    (it.transaction, before + (it.to_ns - it.from_ns))
                }
                End::Wait(it) if !self.is_skipped(it.transaction, it.process, does_without) => {
                    (it.transaction, self.after_wait(it, &leads, does_without))
                }
                _ => continue,
            };
            leads[transaction as usize].0.push((end.at_ns(), lead));
        }
        let walls = self.timeline.transactions.iter().zip(&leads);
        walls
            .map(|(it, lead)| {
                let wall = it.ended_ns.saturating_sub(it.began_ns);
                wall.saturating_sub(lead.at(it.ended_ns))
            })
            .collect()
    }

    fn is_skipped(&self, transaction: u32, process: ProcessId, does_without: &[bool]) -> bool {
        let of = self.timeline.transactions[transaction as usize].of;
        does_without[transaction as usize] && self.skippable.contains(&(of, process))
    }

    /// The lead at the end of a wait.
    fn after_wait(&self, wait: &TimedWait, leads: &[Lead], does_without: &[bool]) -> u64 {
        let before = leads[wait.transaction as usize].at(wait.from_ns);
        let wait_ns = wait.to_ns - wait.from_ns;
        if self.vanishes[wait.place as usize] {
            return before + wait_ns;
        }
        let Some(freed) = self.freed(wait, leads, does_without) else {
            return before;
        };
        match before.checked_sub(freed) {
            None => freed.min(before + wait_ns),
            Some(ahead) if ahead <= wait_ns => freed,
            Some(_) => before,
        }
    }

    /// The lead with which the lock becomes free. `None` if it is not known what ends the wait.
    fn freed(&self, wait: &TimedWait, leads: &[Lead], does_without: &[bool]) -> Option<u64> {
        match wait.holder {
            None => None,
            Some(holder) if self.is_skipped(holder, wait.process, does_without) => {
                let others = self.queues.others(wait);
                let others = others
                    .filter(|it| !self.is_skipped(it.transaction, it.process, does_without))
                    .map(|it| {
                        let lead = leads[it.transaction as usize].at(it.to_ns);
                        (wait.to_ns - it.to_ns) + lead
                    });
                // Nobody else: it was free all the time.
                Some(others.min().unwrap_or(u64::MAX))
            }
            Some(holder) => Some(leads[holder as usize].at(wait.to_ns)),
        }
    }
}

/// Who else may have held what transactions waited for. A wait's record names only the last holder, so these are inferred:
/// whoever was at work in the same process when the wait began, is of a type that others waited for at that lock, and did not
/// wait for it then.
#[derive(Default)]
struct Queues<'a> {
    /// The work in each process, by its end.
    work: BTreeMap<ProcessId, Vec<&'a Work>>,
    /// The types that held a lock, by its name.
    holders: BTreeMap<&'a str, BTreeSet<TypeId>>,
    waits: HashMap<u32, Vec<&'a TimedWait>>,
    timeline: Option<&'a Timeline>,
}

impl<'a> Queues<'a> {
    fn of(timeline: &'a Timeline) -> Self {
        let mut queues = Queues {
            timeline: Some(timeline),
            ..Queues::default()
        };
        for it in &timeline.work {
            queues.work.entry(it.process).or_default().push(it);
        }
        for of_process in queues.work.values_mut() {
            of_process.sort_by_key(|it| it.to_ns);
        }
        for it in &timeline.places {
            if let Holder::Transaction(holder) = it.holder {
                queues.holders.entry(&it.lock).or_default().insert(holder);
            }
        }
        for it in &timeline.waits {
            queues.waits.entry(it.transaction).or_default().push(it);
        }
        queues
    }

    /// The work during which others may have held the lock when a wait for it began, and which ended before the wait did.
    fn others(&self, wait: &TimedWait) -> impl Iterator<Item = &'a Work> {
        let work = self.work.get(&wait.process).map_or(&[][..], Vec::as_slice);
        let ended = |it: u64| work.partition_point(|work| work.to_ns <= it);
        let during = &work[ended(wait.from_ns)..ended(wait.to_ns)];
        during.iter().copied().filter(|it| {
            it.from_ns <= wait.from_ns
                && it.transaction != wait.transaction
                && Some(it.transaction) != wait.holder
                && self.may_hold(it.transaction, wait)
        })
    }

    fn may_hold(&self, transaction: u32, wait: &TimedWait) -> bool {
        let Some(timeline) = self.timeline else {
            return false;
        };
        let lock = |it: &TimedWait| timeline.places[it.place as usize].lock.as_str();
        let of = timeline.transactions[transaction as usize].of;
        let holders = self.holders.get(lock(wait));
        let mut waits = self.waits.get(&transaction).into_iter().flatten();
        let waits_too = |it: &&TimedWait| {
            lock(it) == lock(wait) && it.from_ns <= wait.from_ns && wait.from_ns < it.to_ns
        };
        holders.is_some_and(|it| it.contains(&of)) && !waits.any(waits_too)
    }
}
