//! One experiment: what is chosen, measured and recorded.

use core::sync::atomic::Ordering;

use fulcrum_preload::sys;
use fulcrum_runtime_core::draw::Treatment;
use fulcrum_runtime_core::record::{self, Experiment};
use fulcrum_runtime_core::tail::Demand;
use fulcrum_wire::{NONE, mode};

use super::{Profiler, SLICE_NS, Stop};
use crate::experiment::points::Snapshot;
use crate::experiment::{choice, output, pausing, points};
use crate::process::{control, thread};
use crate::sys::machine::Processors;

/// Where everything stood when the experiment started.
struct Start {
    target: u32,
    treatment: Treatment,
    time: u64,
    delay: u64,
    pauses_ended: u64,
    processors: Option<Processors>,
    slept_ns: u64,
    queued_ns: u64,
    warmup_ns: u64,
}

/// Where it stood at half time.
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
        // A thread may wait through several experiments: then a placebo could not be told from a speedup. And with only one
        // thread, speedups make no pauses.
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
        self.run_for(warmup)?;
        self.wait_for_visit(2 * length)?;
        let start = self.begin(target, treatment, warmup);
        let mut middle = None;
        let stop = self.run_halves(length, &mut middle).err();
        // An experiment that the program's end cuts short still counts if at least half of it happened.
        let least = if stop.is_some() { length / 2 } else { 0 };
        let whole = middle.as_ref().filter(|_| stop.is_none());
        self.end(&start, whole, weight, least);
        self.busiest = points::busiest(&self.before, &self.after);
        self.pace.ended(self.busiest);
        match stop {
            Some(stop) => Err(stop),
            None => self.pause(control::session().cooloff_ns),
        }
    }

    /// Runs the two halves of the experiment. They begin and end at a visit when visits are few but not rare.
    fn run_halves(&mut self, length: u64, middle: &mut Option<Middle>) -> Result<(), Stop> {
        self.run_for(length / 2)?;
        self.wait_for_visit(length / 4)?;
        self.middle.take();
        *middle = Some(Middle {
            time: sys::now(),
            delay: thread::global().now(),
        });
        self.run_for(length - length / 2)?;
        self.wait_for_visit(length)
    }

    /// End-to-end mode: the program's whole run until it exits by itself is one experiment, and its end is the only visit.
    pub(super) fn end_to_end(&mut self) -> Result<(), Stop> {
        let target = self.map.fixed;
        let word = control::session().fixed_speedup.load(Ordering::Relaxed);
        let treatment = Treatment::of_word(word);
        choice::begin(target, treatment, sys::now());
        let start = self.begin(target, treatment, 0);
        // Visits before this thread started count too, except in a forked child, whose counts are its parent's.
        if control::process().map_pid == control::process().pid {
            self.before = Snapshot::EMPTY;
        }
        loop {
            let step = self.pause(SLICE_NS);
            self.write_samples_when_due();
            if let Err(stop) = step {
                if stop == Stop::Exit && target != NONE {
                    points::complete_end_to_end();
                    self.end(&start, None, fulcrum_wire::FULL_WEIGHT, 0);
                }
                return Err(stop);
            }
        }
    }

    fn begin(&mut self, target: u32, treatment: Treatment, warmup_ns: u64) -> Start {
        let processors = self.use_of_processors();
        let slept_ns = pausing::slept_ns();
        let queued_ns = control::process().queued_ns.load(Ordering::Relaxed);
        self.before.take();
        self.pending.clear();
        self.pending.sample();
        let (time, delay) = (sys::now(), thread::global().now());
        choice::measure(time);
        Start {
            target,
            treatment,
            time,
            delay,
            pauses_ended: pausing::ended(),
            processors,
            slept_ns,
            queued_ns,
            warmup_ns,
        }
    }

    /// Ends the experiment, and records it unless it was shorter than `least_ns`.
    fn end(&mut self, start: &Start, middle: Option<&Middle>, weight: u32, least_ns: u64) {
        self.pending.sample();
        self.after.take();
        let end = sys::now();
        let delay = thread::global().now() - start.delay;
        let hits = choice::end();
        self.publish_visits();
        if end - start.time < least_ns {
            return;
        }
        let process = control::process();
        let queued = process.queued_ns.load(Ordering::Relaxed);
        let queued_ns = (queued > 0).then(|| queued.saturating_sub(start.queued_ns));
        let processors = (self.use_of_processors().zip(start.processors))
            .map(|(after, before)| after.since(before));
        let others_ns = processors.map(|it| it.others_ns);
        let slept_ns = pausing::slept_ns().saturating_sub(start.slept_ns);
        pausing::report(Demand {
            passed_ns: end - start.time,
            queued_ns,
            others_ns,
            idle_ns: processors.map(|it| it.idle_ns.saturating_sub(slept_ns)),
        });
        let finished = Experiment {
            treatment: start.treatment,
            start_ns: start.time - self.began_ns,
            wall_ns: end - start.time,
            delay_ns: delay,
            // Pauses that had begun before the experiment count, too.
            pauses: pausing::begun() - start.pauses_ended,
            selected_samples: hits,
            others_ns,
            queued_ns,
            weight,
            warmup_ns: start.warmup_ns,
            half_ns: middle.map(|middle| {
                (middle.time - start.time) as i64 - (middle.delay - start.delay) as i64
            }),
        };
        self.open();
        let halves = middle.is_some().then_some(&self.middle);
        output::record(|text| {
            record::experiment(
                text,
                &finished,
                |text| output::target(text, self.map, start.target),
                points::between(&self.before, halves, &self.after, &self.pending),
            );
        });
        process.experiments.fetch_add(1, Ordering::Relaxed);
    }

    fn use_of_processors(&self) -> Option<Processors> {
        self.machine.as_ref()?.use_of_processors()
    }
}
