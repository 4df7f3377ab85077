//! Opens the folder of a run of transactional profiling.

mod folder;
mod functions;
mod needed;
mod notes;
mod timeline;
mod traces;
mod ways;

use std::path::Path;

use fulcrum_model::Progress;
use fulcrum_transactions::NamingRule;
use fulcrum_transactions::recognise::Recognition;
use fulcrum_transactions::stitch::{Ending, Stitched};
use fulcrum_transactions::what_if::Timeline;

use crate::assemble::Sampled;
use crate::index::Index;
use crate::names::{NameFile, NameTable, Resolver, Resolvers};
use crate::replay::replay;

pub use crate::error::RunError;
pub use crate::process::ModuleMap;
pub use folder::is_run;
pub use functions::{FunctionPlace, Functions};
pub use needed::{SymbolsNeeded, symbols_needed};
pub use traces::{Lane, Trace, TraceStage, Traces};
pub use ways::{Stay, Way};

use folder::Folder;

/// Options for opening a run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// User-defined names for types.
    pub rules: Vec<NamingRule>,
    /// Whether requests are named by their first bytes.
    pub recognition: Recognition,
    /// Which transactions get traces.
    pub traced: Traced,
    /// Whether the run has a [timeline](Run::timeline).
    pub timeline: bool,
}

/// Which transactions get traces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Traced {
    /// None.
    #[default]
    None,
    /// Those with CPU samples, and those with [ways](Way).
    Sampled,
}

/// A run as one profile.
#[derive(Debug)]
pub struct Run {
    /// Types with their costs and waits, and flows.
    pub stitched: Stitched,
    /// The ways of some transactions through threads and processes: for each type the slowest ones, and a random sample of
    /// others.
    pub ways: Vec<Way>,
    /// Transactions as traces, as selected by [`Options::traced`].
    pub traces: Traces,
    /// When all transactions began and ended, and when threads worked or waited for them. Empty unless [`Options::timeline`].
    pub timeline: Timeline,
    /// Source locations of functions.
    pub functions: Functions,
    /// What a reader should know, as whole sentences: the notes of [`Stitched::notes`], and what is missing from the run.
    pub notes: Vec<String>,
}

/// Opens a run: replays its logs, assigns its samples, and stitches the records of all processes.
///
/// # Errors
/// [`RunError`]. Damaged logs are no error: [`Run::notes`] report them.
pub fn open(folder: &Path, options: &Options) -> Result<Run, RunError> {
    open_all(&[folder], options, &Progress::default())
}

/// Opens runs that were recorded at the same time, on one or several machines, as one.
///
/// Machines are told apart by their boot times. Connections between them are matched by address.
///
/// # Errors
/// As [`open`], and [`RunError::Cancelled`] if `progress` is cancelled.
pub fn open_all(
    folders: &[&Path],
    options: &Options,
    progress: &Progress,
) -> Result<Run, RunError> {
    let reading = progress.with_phase("reading the run");
    let mut tables = Vec::new();
    let mut functions = Functions::default();
    let mut runs = Vec::new();
    for (done, folder) in folders.iter().enumerate() {
        reading.at(READ * done as f64 / folders.len() as f64)?;
        let names = NameFile::read(folder)?.unwrap_or_default();
        functions.add(&names);
        tables.push(NameTable::from(names));
        runs.push(Folder::read(folder)?);
    }
    let resolvers = tables.iter().map(|it| it as &dyn Resolver).collect();
    assemble(&runs, options, &Resolvers(resolvers), functions, progress)
}

/// The progress after reading the run's files.
const READ: f64 = 0.2;
/// The progress after replaying the logs.
const REPLAYED: f64 = 0.8;

/// Opens a run with names from elsewhere.
///
/// # Errors
/// As [`open`].
pub fn open_with(
    folder: &Path,
    options: &Options,
    resolver: &dyn Resolver,
) -> Result<Run, RunError> {
    let run = Folder::read(folder)?;
    let resolvers = Resolvers(vec![resolver]);
    let functions = Functions::default();
    assemble(&[run], options, &resolvers, functions, &Progress::default())
}

/// Opens logs that were read elsewhere, with the names that notes call them by, and samples.
///
/// # Errors
/// As [`open`].
pub fn open_bytes(
    logs: Vec<(String, Vec<u8>)>,
    samples: Option<Vec<u8>>,
    options: &Options,
    resolver: &dyn Resolver,
) -> Result<Run, RunError> {
    let run = Folder::of(logs, samples)?;
    let resolvers = Resolvers(vec![resolver]);
    let functions = Functions::default();
    assemble(&[run], options, &resolvers, functions, &Progress::default())
}

fn assemble(
    runs: &[Folder],
    options: &Options,
    resolvers: &Resolvers<'_>,
    functions: Functions,
    progress: &Progress,
) -> Result<Run, RunError> {
    let (mut logs, mut run_of) = (Vec::new(), Vec::new());
    for (run, folder) in runs.iter().enumerate() {
        let of_folder = folder.logs();
        run_of.extend(of_folder.iter().map(|_| run));
        logs.extend(of_folder);
    }
    let windows = runs.iter().map(|it| it.windows().clone()).collect();
    let index = Index::of(&logs, &run_of, windows, progress)?;
    let replaying = progress.part(READ, REPLAYED).with_phase("replaying");
    let mut world = replay(&logs, &index, resolvers, options.recognition, &replaying)?;
    let assigning = progress.with_phase("assigning samples");
    assigning.at(REPLAYED)?;
    let mut notes = notes::of_reading(runs, &logs, &world);
    let mut sampled = Sampled::none(&world);
    for (run, folder) in runs.iter().enumerate() {
        match folder.samples()? {
            Some(mut samples) => {
                notes.extend(notes::of_samples(&samples));
                sampled.add_all(run, &mut samples, &mut world, &assigning)?;
            }
            None => notes.push(notes::of_no_samples(folder)),
        }
    }
    notes.extend(notes::of_unlogged(&sampled.unlogged()));
    let mut records = sampled.records(&mut world);
    for folder in runs.iter().filter(|it| it.is_going_on()) {
        notes.push(notes::of_going_on(folder));
    }
    for (record, &run) in records.iter_mut().zip(&run_of) {
        if runs[run].is_going_on() {
            record.ending = Ending::Complete;
        }
    }
    let stitching = progress.with_phase("stitching");
    stitching.at(0.9)?;
    let stitched = Stitched::of(records, options.rules.clone()).map_err(RunError::Stitch)?;
    stitching.check()?;
    let ways = ways::drawn(&world, &stitched, &functions);
    let traces = match options.traced {
        Traced::None => Traces::default(),
        Traced::Sampled => traces::sampled(&world, &stitched, &ways),
    };
    let timeline = match options.timeline {
        true => timeline::timeline(&world, &stitched),
        false => Timeline::default(),
    };
    let mut all = stitched.notes().to_vec();
    all.append(&mut notes);
    Ok(Run {
        stitched,
        ways,
        traces,
        timeline,
        functions,
        notes: all,
    })
}
