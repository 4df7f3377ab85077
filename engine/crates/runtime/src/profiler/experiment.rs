//! One experiment: what is chosen, measured and recorded.

use core::sync::atomic::Ordering;

use fulcrum_preload::sys;
use fulcrum_runtime_core::draw::Treatment;
use fulcrum_runtime_core::record::{self, Experiment};
use fulcrum_wire::{NONE, mode};

use super::{Profiler, SLICE_NS, Stop};
use crate::points::Snapshot;
use crate::{choice, control, output, pausing, points, thread};

/// What an experiment is measured against when it ends.
struct Beginning {
    target: u32,
    treatment: Treatment,
    time: u64,
    delay: u64,
    pauses_ended: u64,
    others_ns: Option<u64>,
    queued_ns: u64,
    warmup_ns: u64,
}

/// Where an experiment stood when half of its time was over.
struct Middle {
    time: u64,
    delay: u64,
}

impl Profiler {
    pub(super) fn one_experiment(&mut self) -> Result<(), Stop> {
        let target = self.choose_target()?;
        let weight = choice::weight(self.map, target);
        let Some(deck) = self.decks.get_mut(target as usize) else {
            return Ok(());
        };
        // A thread that waits may do so through several experiments: there a placebo could not be told from a speedup. And
        // where there is but one thread, speedups make no pauses.
        let levels = self.levels.only(choice::levels(self.map, target));
        let treatment = if self.map.targets.mode == mode::BLOCKED || thread::live() == 1 {
            levels.without_placebos().draw(deck, &mut self.random)
        } else {
            levels.draw(deck, &mut self.random)
        };
        let length = self.pace.length_ns();
        choice::begin(target, treatment, sys::now());
        let warmup = choice::warmup_ns(self.map, target);
        self.warmup_ns = self.warmup_ns.max(warmup);
        self.watch(warmup)?;
        self.next_visit(2 * length)?;
        let beginning = self.begin(target, treatment, warmup);
        let mut middle = None;
        let stop = self.go_through(length, &mut middle).err();
        // An experiment that the end of the program cuts short still counts, unless there is next to nothing of it.
        let least = if stop.is_some() { length / 2 } else { 0 };
        let whole = middle.as_ref().filter(|_| stop.is_none());
        self.end(&beginning, whole, weight, least);
        self.busiest = points::busiest(&self.before, &self.after);
        self.pace.ended(self.busiest);
        match stop {
            Some(stop) => Err(stop),
            None => self.pause(control::session().cooloff_ns),
        }
    }

    /// Lets the experiment take its time; its halves begin and end at a visit when visits are few but not rare.
    fn go_through(&mut self, length: u64, middle: &mut Option<Middle>) -> Result<(), Stop> {
        self.watch(length / 2)?;
        self.next_visit(length / 4)?;
        self.middle.take();
        *middle = Some(Middle {
            time: sys::now(),
            delay: thread::global().now(),
        });
        self.watch(length - length / 2)?;
        self.next_visit(length)
    }

    /// End-to-end mode: everything until the program exits by itself is one experiment, and its end the one visit.
    pub(super) fn whole_life(&mut self) -> Result<(), Stop> {
        let target = self.map.fixed;
        let word = control::session().fixed_speedup.load(Ordering::Relaxed);
        let treatment = Treatment::of_word(word);
        choice::begin(target, treatment, sys::now());
        let beginning = self.begin(target, treatment, 0);
        // What the program visited before this thread ran is of its life too; a forked child's counts are its parent's.
        if control::process().map_pid == control::process().pid {
            self.before = Snapshot::EMPTY;
        }
        loop {
            let step = self.pause(SLICE_NS);
            self.keep_samples();
            if let Err(stop) = step {
                if stop == Stop::Exit && target != NONE {
                    points::complete_end_to_end();
                    self.end(&beginning, None, fulcrum_wire::FULL_WEIGHT, 0);
                }
                return Err(stop);
            }
        }
    }

    fn begin(&mut self, target: u32, treatment: Treatment, warmup_ns: u64) -> Beginning {
        let others_ns = self.others_ns();
        let queued_ns = control::process().queued_ns.load(Ordering::Relaxed);
        self.before.take();
        self.pending.clear();
        self.pending.look();
        let (time, delay) = (sys::now(), thread::global().now());
        choice::measure(time);
        Beginning {
            target,
            treatment,
            time,
            delay,
            pauses_ended: pausing::ended(),
            others_ns,
            queued_ns,
            warmup_ns,
        }
    }

    /// Ends the experiment, and records it unless it was shorter than `least_ns`.
    fn end(&mut self, beginning: &Beginning, middle: Option<&Middle>, weight: u32, least_ns: u64) {
        self.pending.look();
        self.after.take();
        let end = sys::now();
        let delay = thread::global().now() - beginning.delay;
        let hits = choice::end();
        self.tell_visits();
        if end - beginning.time < least_ns {
            return;
        }
        let process = control::process();
        let queued = process.queued_ns.load(Ordering::Relaxed);
        let queued_ns = (queued > 0).then(|| queued.saturating_sub(beginning.queued_ns));
        pausing::stood_in_line(queued_ns.unwrap_or(0), end - beginning.time);
        let finished = Experiment {
            treatment: beginning.treatment,
            start_ns: beginning.time - self.began_ns,
            wall_ns: end - beginning.time,
            delay_ns: delay,
            // Those that had begun before count, too.
            pauses: pausing::begun() - beginning.pauses_ended,
            selected_samples: hits,
            others_ns: self
                .others_ns()
                .zip(beginning.others_ns)
                .map(|(after, before)| after.saturating_sub(before)),
            queued_ns,
            weight,
            warmup_ns: beginning.warmup_ns,
            half_ns: middle.map(|middle| {
                (middle.time - beginning.time) as i64 - (middle.delay - beginning.delay) as i64
            }),
        };
        self.open();
        let halves = middle.is_some().then_some(&self.middle);
        output::record(|text| {
            record::experiment(
                text,
                &finished,
                |text| output::target(text, self.map, beginning.target),
                points::between(&self.before, halves, &self.after, &self.pending),
            );
        });
        process.experiments.fetch_add(1, Ordering::Relaxed);
    }

    fn others_ns(&self) -> Option<u64> {
        self.machine.as_ref()?.others_ns()
    }
}
