//! What earlier runs observed: methods that could be, classes that were loaded, calls.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use fulcrum_events::{Trace, stats};
use fulcrum_filter::{Filter, Pattern};

/// At most so many runs are read, the newest first: enough to know a program, few enough to read while the user types.
const MOST_RUNS: usize = 8;

/// A method by what the filter language calls it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Method {
    /// With dots.
    pub class: String,
    pub name: String,
    pub descriptor: String,
}

/// A run's log.
#[derive(Debug)]
pub(crate) struct ObservedRun {
    /// The run folder's name.
    pub name: String,
    log: PathBuf,
    /// Methods that could be observed, called or not.
    pub methods: Vec<Method>,
    /// Other classes that events are about.
    pub classes: Vec<String>,
    /// What it was recorded with.
    filter: Filter,
    calls: OnceLock<HashMap<Method, u64>>,
}

/// Everything that earlier runs observed.
#[derive(Clone, Debug, Default)]
pub(crate) struct ObservedRuns {
    /// The newest first.
    pub runs: Vec<Arc<ObservedRun>>,
}

/// Keeps what was read of each log while the file stays unchanged.
#[derive(Debug, Default)]
pub(crate) struct LogCache(Mutex<HashMap<PathBuf, (Stamp, Arc<ObservedRun>)>>);

type Stamp = (u64, Option<SystemTime>);

impl LogCache {
    /// What the runs of these workspace folders observed. Logs that cannot be read are left out: opening one says why.
    pub(crate) fn observed(&self, folders: &[PathBuf]) -> ObservedRuns {
        let mut runs: Vec<_> = folders
            .iter()
            .flat_map(|folder| fulcrum_runs::list(folder))
            .collect();
        runs.sort_by(|a, b| b.start.cmp(&a.start));
        let logs = runs.iter().flat_map(|run| fulcrum_events::logs(&run.path));
        ObservedRuns {
            runs: logs
                .filter_map(|log| self.run(&log))
                .take(MOST_RUNS)
                .collect(),
        }
    }

    fn run(&self, log: &Path) -> Option<Arc<ObservedRun>> {
        let about = fs::metadata(log).ok()?;
        let stamp = (about.len(), about.modified().ok());
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((then, run)) = known.get(log)
            && *then == stamp
        {
            return Some(Arc::clone(run));
        }
        drop(known);
        let run = Arc::new(ObservedRun::read(log)?);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(log.to_path_buf(), (stamp, Arc::clone(&run)));
        Some(run)
    }
}

impl ObservedRun {
    fn read(log: &Path) -> Option<ObservedRun> {
        let trace = Trace::open(log).ok()?;
        let folder = log.parent()?;
        Some(ObservedRun {
            name: folder.file_name()?.to_string_lossy().into_owned(),
            log: log.to_path_buf(),
            methods: methods(&trace).into_values().collect(),
            classes: trace.classes.values().map(|it| it.name.clone()).collect(),
            filter: trace.observed.clone().unwrap_or_else(Filter::standard),
            calls: OnceLock::new(),
        })
    }

    /// How often each method was called. Reads the log, the first time.
    pub(crate) fn calls(&self) -> &HashMap<Method, u64> {
        self.calls.get_or_init(|| {
            let Ok(trace) = Trace::open(&self.log) else {
                return HashMap::new();
            };
            let names = methods(&trace);
            let mut calls = HashMap::new();
            for of in stats(&trace, |_| true).methods {
                if let Some(method) = names.get(&of.method) {
                    *calls.entry(method.clone()).or_default() += of.calls;
                }
            }
            calls
        })
    }

    /// Whether its log would name a method of a class that it saw: its own filter may have left it out.
    fn would_name(&self, class: &str, method: &Pattern) -> bool {
        match method.is_name() {
            true => self.filter.selects(class, &method.to_string(), "()V"),
            false => {
                let mut rules = self.filter.rules.iter();
                self.filter.selects(class, "*", "*") && !rules.any(|rule| !rule.includes())
            }
        }
    }
}

impl ObservedRuns {
    /// All methods, each once.
    pub(crate) fn methods(&self) -> BTreeSet<&Method> {
        self.runs.iter().flat_map(|run| &run.methods).collect()
    }

    /// All classes, each once, sorted: those with methods, and others that were loaded.
    pub(crate) fn classes(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for run in &self.runs {
            all.extend(run.methods.iter().map(|it| it.class.as_str()));
            all.extend(run.classes.iter().map(String::as_str));
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether some run saw one of these classes and would have named such a method, had there been one.
    pub(crate) fn is_complete(&self, class: &Pattern, method: &Pattern) -> bool {
        self.runs.iter().any(|run| {
            let own = run.methods.iter().map(|it| it.class.as_str());
            let mut classes = own.chain(run.classes.iter().map(String::as_str));
            classes.any(|name| class.matches(name) && run.would_name(name, method))
        })
    }
}

fn methods(trace: &Trace) -> BTreeMap<u32, Method> {
    let method = |it: &fulcrum_events::Method| Method {
        class: it.class.clone(),
        name: it.name.clone(),
        descriptor: it.descriptor.clone(),
    };
    trace
        .methods
        .iter()
        .map(|(number, it)| (*number, method(it)))
        .collect()
}
