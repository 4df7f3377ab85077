//! Finding and opening the event log that is meant.

use std::fs;
use std::path::{Path, PathBuf};

use fulcrum_events::{End, Event, Events, Thread, Trace, What};
use fulcrum_profiles::quantity;

use super::args::Source;
use crate::outcome::Failure;
use crate::terminal;

/// Opens the log.
pub fn open(source: &Source) -> Result<Trace, Failure> {
    let path = match &source.run {
        Some(path) if path.is_dir() => only_log(path)?,
        Some(path) => path.clone(),
        None => newest()?,
    };
    Trace::open(&path).map_err(|error| Failure::BadInput(format!("{}: {error}", path.display())))
}

fn newest() -> Result<PathBuf, Failure> {
    let runs = fulcrum_runs::list(&crate::runs::workspace(None));
    let with_logs = runs.iter().find(|run| !logs(&run.path).is_empty());
    let run = with_logs.ok_or_else(|| {
        Failure::NotFound("no run here has events: record some with fulcrum trace -- java …".into())
    })?;
    only_log(&run.path)
}

fn only_log(folder: &Path) -> Result<PathBuf, Failure> {
    let mut logs = logs(folder);
    match logs.len() {
        0 => Err(Failure::BadInput(format!(
            "{} holds no events-*.log: choose a run that fulcrum trace recorded",
            folder.display()
        ))),
        1 => Ok(logs.remove(0)),
        count => {
            let names: Vec<_> = logs
                .iter()
                .filter_map(|log| log.file_name())
                .map(|it| it.to_string_lossy())
                .collect();
            Err(Failure::BadInput(format!(
                "{} holds {count} logs, one for each Java virtual machine: choose one of {}",
                folder.display(),
                names.join(", ")
            )))
        }
    }
}

fn logs(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut logs: Vec<_> = files
        .map(|file| file.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("events-") && name.ends_with(".log")
        })
        .collect();
    logs.sort();
    logs
}

impl Source {
    /// Whether a thread is meant.
    pub fn has_thread(&self, thread: &Thread) -> bool {
        let Some(wanted) = &self.thread else {
            return true;
        };
        wanted.parse() == Ok(thread.id) || matches(wanted, &thread.name)
    }

    /// Whether a time is meant, nanoseconds since the log's start.
    pub fn has_time(&self, ns: u64) -> bool {
        let ns = u128::from(ns);
        self.from.is_none_or(|from| from.as_nanos() <= ns)
            && self.to.is_none_or(|to| ns <= to.as_nanos())
    }

    /// The events that are meant.
    pub fn events<'a>(&self, trace: &'a Trace) -> Events<'a> {
        trace.events_of(|thread| self.has_thread(thread))
    }
}

/// Whether a name matches a pattern in which `*` stands for anything.
pub fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((first, rest)) => name.strip_prefix(first).is_some_and(|name| {
            let ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            ends.into_iter().any(|at| matches(rest, &name[at..]))
        }),
    }
}

/// `Class.method`, or `method 7` for one that the log does not define.
pub fn method_name(trace: &Trace, method: u32) -> String {
    match trace.methods.get(&method) {
        Some(it) => format!("{}.{}", it.class, it.name),
        None => format!("method {method}"),
    }
}

/// What an event is about, in words.
pub fn subject(trace: &Trace, event: &Event) -> String {
    let object = |object: &u64, class: &u32| format!("{}#{object}", trace.class_name(*class));
    match &event.what {
        What::Enter { method } | What::Exit { method, .. } => method_name(trace, *method),
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
        } => format!("{}, {bytes} bytes", object(o, class)),
        What::Release { object } => format!("#{object}"),
        What::ClassLoad { class, .. } | What::ClassUnload { class } => {
            trace.class_name(*class).to_owned()
        }
        What::VmStart { machine } => machine.clone(),
        What::ThreadEnd | What::GcStart | What::GcEnd | What::VmEnd => String::new(),
    }
}

/// Tells what a reader should know, on standard error.
pub fn say_notes(trace: &Trace, problems: &[String]) {
    for note in notes(trace, problems) {
        terminal::say(&format!("note: {note}"));
    }
}

/// What a reader should know: how the log ended, and what is missing in it.
pub fn notes(trace: &Trace, problems: &[String]) -> Vec<String> {
    let end = match trace.end {
        End::Ended => None,
        End::Open => Some("The log has no end: its program is running, or was killed.".to_owned()),
        End::Full { at_ns, dropped } => Some(format!(
            "The log reached its size limit {} after its start: later events are missing (at least {dropped}). Use a \
             narrower --filter, or a larger --limit.",
            quantity(at_ns.min(i64::MAX as u64) as i64, "ns")
        )),
    };
    end.into_iter()
        .chain(trace.notes.iter().cloned())
        .chain(problems.iter().cloned())
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_and_patterns() {
        for (pattern, name, expect) in [
            ("main", "main", true),
            ("main", "main2", false),
            ("Pool-*-thread-1", "Pool-7-thread-1", true),
            ("*", "", true),
            ("*ä", "xä", true),
            ("a*a", "a", false),
        ] {
            assert_eq!(super::matches(pattern, name), expect, "{pattern} {name}");
        }
    }
}
