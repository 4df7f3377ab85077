//! `fulcrum events list`: one event a line, in the order of time, as they are read.

use std::io::{self, BufWriter, Write};

use fulcrum_events::{Event, Returned, Trace, What};
use serde_json::{Value, json};

use super::args::ListArgs;
use super::open::{open, say_notes, subject};
use crate::outcome::{DONE, Failure, NOTHING, Outcome};

/// Lists events.
pub fn list(args: &ListArgs) -> Outcome {
    let trace = open(&args.source)?;
    let mut events = args.source.events(&trace);
    let mut out = BufWriter::new(io::stdout().lock());
    let most = if args.limit == 0 {
        u64::MAX
    } else {
        args.limit
    };
    let mut listed = 0;
    for event in events.by_ref() {
        if !args.source.has_time(event.wall_ns) {
            continue;
        }
        if listed == most {
            break;
        }
        listed += 1;
        let line = if args.source.json {
            as_json(&trace, &event).to_string()
        } else {
            as_text(&trace, &event)
        };
        match writeln!(out, "{line}") {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(DONE),
            Err(error) => {
                return Err(Failure::BadInput(format!(
                    "cannot write to standard output: {error}"
                )));
            }
        }
    }
    let _ = out.flush();
    drop(out);
    say_notes(&trace, events.problems());
    Ok(if listed == 0 { NOTHING } else { DONE })
}

fn as_text(trace: &Trace, event: &Event) -> String {
    let micros = |ns: u64| format!("{}.{:03}", ns / 1000, ns % 1000);
    let thread = trace
        .thread(event.thread)
        .map_or("?", |thread| &thread.name);
    let cpu = event.cpu_ns.map_or_else(|| "-".into(), micros);
    let line = format!(
        "{:>14} {cpu:>14}  {thread}  {}  {}",
        micros(event.wall_ns),
        event.what.name(),
        subject(trace, event)
    );
    line.trim_end().to_owned()
}

/// Stable keys: see docs/formats.md.
fn as_json(trace: &Trace, event: &Event) -> Value {
    let mut json = json!({ "time": event.wall_ns, "cpu": event.cpu_ns, "thread": event.thread, "event": event.what.name() });
    let mut set = |key: &str, value: Value| json[key] = value;
    if event.skipped > 0 {
        set("skipped", event.skipped.into());
    }
    if let Some(method) = event.what.method() {
        match trace.methods.get(&method) {
            Some(method) => {
                set("class", method.class.clone().into());
                set("method", method.name.clone().into());
                set("descriptor", method.descriptor.clone().into());
            }
            None => set("method", format!("method {method}").into()),
        }
    }
    if let Some(class) = event.what.class() {
        set("class", trace.class_name(class).into());
    }
    match &event.what {
        What::Objects {
            receiver, argument, ..
        } => {
            set("receiver", (*receiver).into());
            set("argument", (*argument).into());
        }
        What::Result { value, .. } => match value {
            Returned::Object(object) => set("object", (*object).into()),
            Returned::Boolean(value) => set("value", (*value).into()),
        },
        What::ContendedEnter { object, .. }
        | What::ContendedEntered { object, .. }
        | What::Release { object } => {
            set("object", (*object).into());
        }
        What::Wait {
            object, timeout_ms, ..
        } => {
            set("object", (*object).into());
            set("timeoutMs", (*timeout_ms).into());
        }
        What::Waited {
            object, timed_out, ..
        } => {
            set("object", (*object).into());
            set("timedOut", (*timed_out).into());
        }
        What::Allocation {
            object,
            bytes,
            interval,
            ..
        } => {
            set("object", (*object).into());
            set("bytes", (*bytes).into());
            set("interval", (*interval).into());
        }
        What::ThreadStart {
            name,
            group,
            parent,
            daemon,
            virtual_thread,
            earlier,
        } => {
            set("name", name.clone().into());
            set("group", group.clone().into());
            set("parent", (*parent).into());
            set("daemon", (*daemon).into());
            set("virtual", (*virtual_thread).into());
            set("earlier", (*earlier).into());
        }
        What::ClassLoad { probed, .. } => set("probed", (*probed).into()),
        What::VmStart { machine } => set("machine", machine.clone().into()),
        _ => {}
    }
    json
}
