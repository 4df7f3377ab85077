//! A thread: what it works for, now and earlier.

use fulcrum_transactions::{Activity, Name, Step, Synopsis};

use super::doing::{Doing, Hold, Moment, TaskId};
use super::wait::SeenWait;
use crate::index::EndId;

/// What an event loop told a thread.
#[derive(Clone, Debug)]
pub(in crate::replay) struct Event {
    /// The stream, or `None` if the event belongs to something else.
    pub(crate) end: Option<EndId>,
    /// What the thread works for before the handler is known.
    pub(crate) base: Doing,
    pub(crate) time_ns: u64,
    /// The handler, once a call path has revealed it.
    pub(crate) handler: Option<Step>,
    /// The contexts between which the transaction flowed through the event, until this is recorded.
    pub(crate) flow: Option<(Synopsis, Synopsis)>,
    pub(crate) is_settled: bool,
}

/// A handler of an event library, while it calls another one.
#[derive(Clone, Debug, Default)]
pub(in crate::replay) struct Handling {
    pub(crate) doing: Doing,
    pub(crate) event: Option<Event>,
}

/// A wait in the middle of some work, such as a `poll` before a read.
#[derive(Clone, Debug)]
pub(in crate::replay) struct Pause {
    pub(crate) doing: Doing,
    pub(crate) scope: Vec<Name>,
    pub(crate) until_ns: u64,
}

/// A thread, as described by its log.
#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) process: usize,
    pub(crate) number: u32,
    pub(crate) tid: u32,
    /// Its names, with the times since when they apply.
    pub(crate) names: Vec<(u64, String)>,
    pub(in crate::replay) activity: Activity,
    pub(in crate::replay) task: Option<TaskId>,
    pub(in crate::replay) hold: Hold,
    /// The task that it works on only because its SDK says so.
    pub(in crate::replay) joined: Option<TaskId>,
    /// What it continues that is not a transaction yet: its creator's context and place.
    pub(in crate::replay) base: Synopsis,
    pub(in crate::replay) has_begun: bool,
    /// The call path at which it last waited in an event loop, or 0 if unknown.
    pub(in crate::replay) loop_path: u32,
    pub(in crate::replay) event: Option<Event>,
    /// The nested handlers that it is in, if an event library called them.
    pub(in crate::replay) handlers: Vec<Handling>,
    /// What it did before the outermost handler, if that is a task. It continues with this afterwards.
    pub(in crate::replay) before_tasks: Option<Handling>,
    /// The common part of all call paths of its task, outermost first. `None` before the first.
    pub(in crate::replay) scope: Option<Vec<Name>>,
    /// It waited for something in the middle of its work.
    pub(in crate::replay) pause: Option<Pause>,
    /// Its waits since it last did something for its transaction.
    pub(in crate::replay) waits: Vec<SeenWait>,
    pub(crate) moments: Vec<Moment>,
    /// The time of its last activity.
    pub(crate) last_ns: u64,
}

impl Thread {
    pub(crate) fn new(process: usize, number: u32, tid: u32, names: Vec<(u64, String)>) -> Self {
        Thread {
            process,
            number,
            tid,
            names,
            activity: Activity::default(),
            task: None,
            hold: Hold::Seen,
            joined: None,
            base: Synopsis::EMPTY,
            has_begun: false,
            loop_path: 0,
            event: None,
            handlers: Vec::new(),
            before_tasks: None,
            scope: None,
            pause: None,
            waits: Vec::new(),
            moments: Vec::new(),
            last_ns: 0,
        }
    }

    /// What it works for now.
    pub(crate) fn doing(&self) -> Doing {
        Doing {
            context: self.activity.context(),
            task: self.task,
        }
    }

    /// Saves what the current handler works for, until what it waits for or calls has ended.
    pub(in crate::replay) fn keep_handling(&mut self) {
        let doing = self.doing();
        if let Some(handling) = self.handlers.last_mut()
            && doing != Doing::default()
        {
            handling.doing = doing;
            handling.event = self.event.clone();
        }
    }

    /// A task becomes the outermost thing that it does.
    pub(in crate::replay) fn keep_before_tasks(&mut self) {
        if self.handlers.is_empty() {
            self.before_tasks = Some(Handling {
                doing: self.doing(),
                event: self.event.clone(),
            });
        }
    }

    /// Remembers since when it works for what. Times only increase.
    pub(in crate::replay) fn remember(&mut self, mut moment: Moment) {
        if let Some(last) = self.moments.last_mut() {
            let of = |it: &Moment| (it.context, it.instance, it.is_to_come);
            if of(last) == of(&moment) {
                return;
            }
            if last.time_ns >= moment.time_ns {
                moment.time_ns = last.time_ns;
                *last = moment;
                return;
            }
        }
        self.moments.push(moment);
    }

    /// What it worked for at that time, or `None` if for nothing.
    pub(crate) fn at(&self, time_ns: u64) -> Option<Moment> {
        let after = self.moments.partition_point(|it| it.time_ns <= time_ns);
        self.moments[..after].last().copied()
    }

    /// Its name at that time.
    pub(crate) fn name_at(&self, time_ns: u64) -> &str {
        let after = self.names.partition_point(|(from, _)| *from <= time_ns);
        let name = self.names.get(after.saturating_sub(1));
        name.map_or("", |(_, name)| name)
    }

    /// When it worked for what. Omits times without a transaction.
    pub(crate) fn stays(&self) -> impl Iterator<Item = (Moment, u64)> {
        let ends = self.moments.iter().skip(1).map(|it| it.time_ns);
        let ends = ends.chain([self.last_ns]);
        let stays = self.moments.iter().copied().zip(ends);
        let is_stay = |it: &Moment| !it.context.is_empty() && !it.is_to_come;
        stays.filter(move |(it, to_ns)| is_stay(it) && *to_ns > it.time_ns)
    }
}
