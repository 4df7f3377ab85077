//! A thread: for whom it works, and for whom it worked when.

use fulcrum_transactions::{Activity, Name, Step, Synopsis};

use super::doing::{Doing, Hold, Moment, TaskId};
use super::wait::SeenWait;
use crate::index::EndId;

/// What an event loop told a thread.
#[derive(Clone, Debug)]
pub(in crate::replay) struct Event {
    /// The stream; `None`: something that is none.
    pub(crate) end: Option<EndId>,
    /// For whom the thread works before the handler is named.
    pub(crate) base: Doing,
    pub(crate) time_ns: u64,
    /// The handler, once a call path has told it.
    pub(crate) handler: Option<Step>,
    /// From which context to which the transaction flowed by it, until that is told.
    pub(crate) flow: Option<(Synopsis, Synopsis)>,
    pub(crate) is_settled: bool,
}

/// A handler that a library of events calls, while it calls another one.
#[derive(Clone, Debug, Default)]
pub(in crate::replay) struct Handling {
    pub(crate) doing: Doing,
    pub(crate) event: Option<Event>,
}

/// A wait for whatever comes next that was made in the midst of something, as by `poll` before a read.
#[derive(Clone, Debug)]
pub(in crate::replay) struct Pause {
    pub(crate) doing: Doing,
    pub(crate) scope: Vec<Name>,
    pub(crate) until_ns: u64,
}

/// A thread by its log.
#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) process: usize,
    pub(crate) number: u32,
    pub(crate) tid: u32,
    /// Its names, each from when on.
    pub(crate) names: Vec<(u64, String)>,
    pub(in crate::replay) activity: Activity,
    pub(in crate::replay) task: Option<TaskId>,
    pub(in crate::replay) hold: Hold,
    /// What it works on because its SDK says so.
    pub(in crate::replay) joined: Option<TaskId>,
    /// What it continues that is no transaction yet: who made it, and where.
    pub(in crate::replay) base: Synopsis,
    pub(in crate::replay) has_begun: bool,
    /// The call path at which it last waited in an event loop; 0: not known.
    pub(in crate::replay) loop_path: u32,
    pub(in crate::replay) event: Option<Event>,
    /// The handlers that it is in, as far as a library of events calls them.
    pub(in crate::replay) handlers: Vec<Handling>,
    /// What it did before the outermost of these, when that is a task: it goes on with it.
    pub(in crate::replay) before_tasks: Option<Handling>,
    /// What all call paths of its task have in common, outermost first; `None` before the first.
    pub(in crate::replay) scope: Option<Vec<Name>>,
    /// It waited for something within what it did.
    pub(in crate::replay) pause: Option<Pause>,
    /// Its waits since it last did anything for its transaction.
    pub(in crate::replay) waits: Vec<SeenWait>,
    pub(crate) moments: Vec<Moment>,
    /// When it last did anything.
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

    /// For whom it works now.
    pub(crate) fn doing(&self) -> Doing {
        Doing {
            context: self.activity.context(),
            task: self.task,
        }
    }

    /// The handler that it is in goes on with this when what it waits for, or what it calls, is over.
    pub(in crate::replay) fn keep_handling(&mut self) {
        let doing = self.doing();
        if let Some(handling) = self.handlers.last_mut()
            && doing != Doing::default()
        {
            handling.doing = doing;
            handling.event = self.event.clone();
        }
    }

    /// A task is the outermost thing that it does.
    pub(in crate::replay) fn keep_before_tasks(&mut self) {
        if self.handlers.is_empty() {
            self.before_tasks = Some(Handling {
                doing: self.doing(),
                event: self.event.clone(),
            });
        }
    }

    /// Remembers from when on it works for whom. Times only grow.
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

    /// For whom it worked then; `None` when for nobody.
    pub(crate) fn at(&self, time_ns: u64) -> Option<Moment> {
        let after = self.moments.partition_point(|it| it.time_ns <= time_ns);
        self.moments[..after].last().copied()
    }

    /// Its name then.
    pub(crate) fn name_at(&self, time_ns: u64) -> &str {
        let after = self.names.partition_point(|(from, _)| *from <= time_ns);
        let name = self.names.get(after.saturating_sub(1));
        name.map_or("", |(_, name)| name)
    }

    /// From when to when it worked for whom, without when it did for nobody.
    pub(crate) fn stays(&self) -> impl Iterator<Item = (Moment, u64)> {
        let ends = self.moments.iter().skip(1).map(|it| it.time_ns);
        let ends = ends.chain([self.last_ns]);
        let stays = self.moments.iter().copied().zip(ends);
        let is_stay = |it: &Moment| !it.context.is_empty() && !it.is_to_come;
        stays.filter(move |(it, to_ns)| is_stay(it) && *to_ns > it.time_ns)
    }
}
