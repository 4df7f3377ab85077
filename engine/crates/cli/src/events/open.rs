//! Finds and opens the selected event log.

use std::fs;
use std::path::{Path, PathBuf};

use fulcrum_events::{Event, Events, Filter, Returned, Thread, Trace, TraceRange, What, matches};

use super::args::TraceSelection;
use crate::outcome::Failure;
use crate::terminal;

/// Opens the log, with the filter if there is one.
pub(crate) fn open(selection: &TraceSelection) -> Result<Trace, Failure> {
    let path = match &selection.run {
        Some(path) => path.clone(),
        None => newest()?,
    };
    open_at(&path, selection.filter.as_deref())
}

/// Opens a log, or the one of a run.
pub(crate) fn open_at(path: &Path, filter: Option<&Path>) -> Result<Trace, Failure> {
    let path = fulcrum_events::log(path).map_err(|error| Failure::BadInput(error.to_string()))?;
    let bad = |path: &Path, error: &dyn std::fmt::Display| {
        Failure::BadInput(format!("{}: {error}", path.display()))
    };
    let mut trace = Trace::open(&path).map_err(|error| bad(&path, &error))?;
    if let Some(filter) = filter {
        let text = fs::read_to_string(filter).map_err(|error| bad(filter, &error))?;
        trace.set_filter(&Filter::parse(&text).map_err(|error| bad(filter, &error))?);
    }
    Ok(trace)
}

fn newest() -> Result<PathBuf, Failure> {
    let runs = fulcrum_runs::list(&crate::runs::workspace(None));
    let with_logs = runs
        .iter()
        .find(|run| !fulcrum_events::logs(&run.path).is_empty());
    let run = with_logs.ok_or_else(|| {
        Failure::NotFound(
            "no run here has events; record one with `fulcrum trace -- java …`".into(),
        )
    })?;
    Ok(run.path.clone())
}

impl TraceSelection {
    /// Whether a thread is selected.
    pub(crate) fn has_thread(&self, thread: &Thread) -> bool {
        let Some(name) = &self.thread else {
            return true;
        };
        name.parse() == Ok(thread.id) || matches(name, &thread.name)
    }

    /// Whether a time is selected, in nanoseconds since the start of the log.
    pub(crate) fn has_time(&self, ns: u64) -> bool {
        let ns = u128::from(ns);
        self.from.is_none_or(|from| from.as_nanos() <= ns)
            && self.to.is_none_or(|to| ns <= to.as_nanos())
    }

    /// The selected part of the trace.
    pub(crate) fn scope(&self, trace: &Trace) -> TraceRange {
        let threads = trace.threads.iter().filter(|it| self.has_thread(it));
        let ns = |time: Option<std::time::Duration>, none: u64| {
            time.map_or(none, |it| u64::try_from(it.as_nanos()).unwrap_or(u64::MAX))
        };
        TraceRange {
            threads: self
                .thread
                .as_ref()
                .map(|_| threads.map(|it| it.id).collect()),
            from_ns: ns(self.from, 0),
            to_ns: ns(self.to, u64::MAX),
        }
    }

    /// The events of the selected threads.
    pub(crate) fn events<'a>(&self, trace: &'a Trace) -> Events<'a> {
        trace.events_of(|thread| self.has_thread(thread))
    }
}

/// The subject of an event, as text.
pub(crate) fn subject(trace: &Trace, event: &Event) -> String {
    let object = |object: &u64, class: &u32| format!("{}#{object}", trace.class_name(*class));
    match &event.what {
        What::Enter { method } | What::Exit { method, .. } => trace.method_name(*method),
        What::Objects {
            method,
            receiver,
            argument,
        } => format!(
            "{} on {}, given {}",
            trace.method_name(*method),
            identity(*receiver),
            identity(*argument)
        ),
        What::Result { method, value } => {
            let name = trace.method_name(*method);
            match value {
                Returned::Object(object) => format!("{name}: {}", identity(*object)),
                Returned::Boolean(value) => format!("{name}: {value}"),
            }
        }
        What::Arguments { method, given } => {
            format!("{}({})", trace.method_name(*method), given.shown(trace))
        }
        What::Returned { method, value } => {
            format!("{}: {}", trace.method_name(*method), value.shown(trace))
        }
        What::ThreadStart { name, .. } => name.clone(),
        What::ContendedEnter { object: o, class }
        | What::ContendedEntered { object: o, class }
        | What::Waited {
            object: o, class, ..
        } => object(o, class),
        What::Wait {
            object: o,
            class,
            timeout_ms,
        } => match timeout_ms {
            0 => object(o, class),
            limit => format!("{}, at most {limit} ms", object(o, class)),
        },
        What::Allocation {
            object: o,
            class,
            bytes,
            interval,
        } => match interval {
            0 => format!("{}, {bytes} bytes", object(o, class)),
            _ => format!("{}, {bytes} bytes, a sample", object(o, class)),
        },
        What::Release { object } => format!("#{object}"),
        What::ClassLoad { class, .. } | What::ClassUnload { class } => {
            trace.class_name(*class).to_owned()
        }
        What::VmStart { machine } => machine.clone(),
        What::ThreadEnd | What::GcStart | What::GcEnd | What::VmEnd => String::new(),
    }
}

/// An object by its number.
fn identity(object: u64) -> String {
    match object {
        0 => "null".to_owned(),
        object => format!("#{object}"),
    }
}

/// Prints what a reader should know on standard error.
pub(crate) fn say_notes(trace: &Trace, problems: &[String]) {
    for note in notes(trace, problems) {
        terminal::say(&format!("note: {note}"));
    }
}

/// What a reader should know: how the log ended, and what is missing in it.
pub(crate) fn notes(trace: &Trace, problems: &[String]) -> Vec<String> {
    let end = trace.end.note();
    end.into_iter()
        .chain(trace.notes.iter().cloned())
        .chain(problems.iter().cloned())
        .collect()
}
