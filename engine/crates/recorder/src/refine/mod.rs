//! The refine loop: instrument, measure, refine, repeat.
//!
//! Each iteration runs the program several times with probes in the methods of its set, and pairs each of these runs with one
//! without probes. What the runs measured decides the next set (`fulcrum_events::refine`). The loop ends when the set does not
//! change. The first run of each iteration is kept, with its event log, its filter, the next filter, and `refine.json` with all
//! iterations so far.

mod ending;
mod estimate;
mod first;
mod live;
mod options;
mod row;
mod runs;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use fulcrum_events::refine::{MethodName, filter_text, recheck};
use fulcrum_schema::RefineTable;

use crate::{Error, Remote};
pub use ending::Ending;
pub use estimate::Estimate;
pub use first::filter_of_run;
pub use live::KeepRunning;
use live::Live;
pub use options::{NEXT_FILTER, REFINE_TABLE, RefineOptions};
pub use row::Iteration;
use runs::IterationRuns;

/// The status of the loop. Sent whenever it has changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RefineProgress {
    /// The iterations so far; the last one may be in progress.
    pub iterations: Vec<Iteration>,
    /// 0 to 1; an early end is not foreseen.
    pub fraction: f64,
    /// A short description of what is being done.
    pub message: String,
}

/// How the loop ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Refined {
    /// All iterations that were measured; at least one.
    pub iterations: Vec<Iteration>,
    /// Whether the set did not change any more.
    pub stable: bool,
    /// Whether the loop was cancelled.
    pub stopped: bool,
    /// The filter that the last iteration wrote.
    pub filter: PathBuf,
    /// Its methods.
    pub hotspots: Vec<String>,
    /// Sentences on what a reader should know.
    pub notes: Vec<String>,
}

/// Runs the loop to its end.
pub fn refine(
    options: &RefineOptions,
    remote: &Remote,
    on_progress: &mut dyn FnMut(&RefineProgress),
) -> Result<Refined, Error> {
    let mut refining = Refining::new(options)?;
    let mut live = match options.keep_running {
        Some(keep) => Some(Live::start(keep, &options.trace)?),
        None => None,
    };
    while !refining.stable && refining.rows.len() < options.iterations && !remote.is_cancelled() {
        if !refining.rows.is_empty() && live.as_mut().is_some_and(|live| !live.is_running()) {
            refining.notes.push("The program has ended.".into());
            break;
        }
        refining.iterate(&mut live, remote, on_progress)?;
    }
    if let Some(live) = &mut live {
        live.finish(refining.rows.last().map(|row| &*row.run));
    }
    refining.finish(remote.is_cancelled())
}

struct Refining<'a> {
    options: &'a RefineOptions,
    first_filter: String,
    /// The methods of the next iteration; `None` before the first.
    set: Option<BTreeSet<MethodName>>,
    excluded: BTreeSet<MethodName>,
    rows: Vec<Iteration>,
    stable: bool,
    notes: Vec<String>,
}

impl<'a> Refining<'a> {
    fn new(options: &'a RefineOptions) -> Result<Refining<'a>, Error> {
        if options.runs == 0 || options.iterations == 0 {
            return Err(Error::CannotStart(
                "the refine loop needs at least one iteration of one run".into(),
            ));
        }
        let first = options.trace.filter.as_deref();
        Ok(Refining {
            options,
            first_filter: first::with_unit(first, options.unit.as_deref())?,
            set: None,
            excluded: BTreeSet::new(),
            rows: Vec::new(),
            stable: false,
            notes: Vec::new(),
        })
    }

    fn iterate(
        &mut self,
        live: &mut Option<Live>,
        remote: &Remote,
        on_progress: &mut dyn FnMut(&RefineProgress),
    ) -> Result<(), Error> {
        let number = self.rows.len() + 1;
        let options = self.options;
        let drawn = match &self.set {
            Some(_) => recheck(&self.excluded, options.recheck, options.seed, number as u64),
            None => BTreeSet::new(),
        };
        let filter = self.filter(number, &drawn);
        let previous = self.rows.last().map(|row| row.run.clone());
        let mut runs = IterationRuns::new(options, number, filter, previous);
        for run in 0..options.runs {
            if run > 0 && remote.is_cancelled() {
                break;
            }
            let rows = self.rows.iter().cloned().chain(runs.row(&drawn));
            let done = (number - 1) as f64 + run as f64 / options.runs as f64;
            on_progress(&RefineProgress {
                iterations: rows.collect(),
                fraction: done / options.iterations as f64,
                message: self.message(number, run, &drawn),
            });
            let done = runs.pair(live, remote);
            let ended = live.as_mut().is_some_and(|live| !live.is_running());
            match done {
                // What was measured before the program ended remains.
                Err(_) if ended && (run > 0 || number > 1) => break,
                done => done?,
            }
        }
        let Some(row) = runs.row(&drawn) else {
            return Ok(());
        };
        self.conclude(row, runs, &drawn)?;
        on_progress(&RefineProgress {
            iterations: self.rows.clone(),
            fraction: number as f64 / options.iterations as f64,
            message: format!("iteration {number} measured"),
        });
        Ok(())
    }

    /// Takes the hotspots of an iteration as the next set, and writes the files of the iteration.
    fn conclude(
        &mut self,
        mut row: Iteration,
        runs: IterationRuns<'_>,
        drawn: &BTreeSet<MethodName>,
    ) -> Result<(), Error> {
        let options = self.options;
        let hot = runs.measured.hotspots(&options.rule);
        row.hotspots = hot.len() as u64;
        row.found = drawn.intersection(&hot).map(ToString::to_string).collect();
        self.note_found(&row, &hot);
        let measured: BTreeSet<_> = runs.measured.methods.keys().cloned().collect();
        let is_unit = |it: &MethodName| first::is_unit(it, options.unit.as_deref());
        // The unit of work is always measured: it neither stays nor goes.
        let before = measured.difference(drawn).filter(|it| !is_unit(it));
        // The first set has none before it to compare with.
        let measured_before = self.set.is_some();
        self.stable = measured_before && before.eq(hot.iter().filter(|it| !is_unit(it)));
        self.excluded.extend(measured);
        self.excluded.retain(|it| !hot.contains(it) && !is_unit(it));
        self.set = Some(hot);
        for note in runs.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        let run = row.run.clone();
        self.rows.push(row);
        let next = self.filter(self.rows.len() + 1, &BTreeSet::new());
        write(&run.join(NEXT_FILTER), &next)?;
        let table = serde_json::to_string_pretty(&self.table()).expect("its keys are texts");
        write(&run.join(REFINE_TABLE), &(table + "\n"))
    }

    /// A note on excluded methods that became hotspots: they were left out by mistake, or do now what others did before.
    fn note_found(&mut self, row: &Iteration, hot: &BTreeSet<MethodName>) {
        if row.found.is_empty() {
            return;
        }
        let known = self
            .set
            .as_ref()
            .map_or(0, |set| set.intersection(hot).count());
        self.notes.push(format!(
            "In iteration {}, besides {known} hotspots that stayed, {} of {} excluded methods that were measured again turned \
             out to be hotspots: {}.",
            row.number,
            row.found.len(),
            row.rechecked.len(),
            row.found.join(", ")
        ));
    }

    fn filter(&self, number: usize, drawn: &BTreeSet<MethodName>) -> String {
        let Some(set) = &self.set else {
            return self.first_filter.clone();
        };
        let comment = [
            format!(
                "fulcrum refine, for iteration {number}: {} hotspots.",
                set.len()
            ),
            format!("Rule: {}", self.options.rule),
        ];
        let mut methods: BTreeSet<MethodName> = set | drawn;
        methods.extend(self.options.unit.as_deref().and_then(first::unit_name));
        filter_text(&self.first_filter, &methods, &comment)
    }

    fn message(&self, number: usize, run: usize, drawn: &BTreeSet<MethodName>) -> String {
        let methods = match &self.set {
            None => String::new(),
            Some(set) => format!(" · {} methods", set.len() + drawn.len()),
        };
        let RefineOptions {
            iterations, runs, ..
        } = self.options;
        format!(
            "iteration {number} of at most {iterations}{methods} · run {} of {runs}",
            run + 1
        )
    }

    fn table(&self) -> RefineTable {
        RefineTable {
            rule: self.options.rule.to_string(),
            unit: self.options.unit.clone(),
            seed: Some(self.options.seed),
            runs: Some(self.options.runs as u64),
            stable: self.stable,
            stopped: None,
            filter: None,
            hotspots: names(self.set.as_ref()),
            notes: self.notes.clone(),
            iterations: self.rows.iter().map(Into::into).collect(),
        }
    }

    fn finish(mut self, stopped: bool) -> Result<Refined, Error> {
        let Some(last) = self.rows.last() else {
            return Err(Error::CannotRecord(
                "the loop was stopped before anything was measured".into(),
            ));
        };
        let filter = last.run.join(NEXT_FILTER);
        let hotspots = names(self.set.as_ref());
        if hotspots.is_empty() {
            self.notes.push(format!(
                "No method is a hotspot by the rule {:?}: lower its threshold to keep some.",
                self.options.rule.to_string()
            ));
        }
        if let Some(note) = last.overhead.and_then(|it| it.doubt()) {
            self.notes.push(note);
        }
        if !self.stable && !stopped {
            self.notes.push(match last.number {
                1 => {
                    "One iteration cannot show whether the set is stable: allow more --iterations."
                        .into()
                }
                number => {
                    format!("The set still changed in iteration {number}: allow more --iterations.")
                }
            });
        }
        Ok(Refined {
            stable: self.stable,
            stopped,
            filter,
            hotspots,
            notes: self.notes,
            iterations: self.rows,
        })
    }
}

fn names(set: Option<&BTreeSet<MethodName>>) -> Vec<String> {
    set.into_iter().flatten().map(ToString::to_string).collect()
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text)
        .map_err(|error| Error::CannotRecord(format!("cannot write {}: {error}", path.display())))
}
