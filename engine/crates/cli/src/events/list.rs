//! `fulcrum events list`: prints one event on each line, in order of time, while they are read.

use std::io::{self, BufWriter, Write};

use fulcrum_events::{Event, Trace};

use super::args::ListArgs;
use super::open::{open, say_notes, subject};
use crate::outcome::{DONE, Failure, NOTHING, Outcome};

/// Lists events.
pub(crate) fn list(args: &ListArgs) -> Outcome {
    let trace = open(&args.selection)?;
    let mut events = args.selection.events(&trace);
    let mut out = BufWriter::new(io::stdout().lock());
    let most = if args.limit == 0 {
        u64::MAX
    } else {
        args.limit
    };
    let mut listed = 0;
    for event in events.by_ref() {
        if !args.selection.has_time(event.wall_ns) {
            continue;
        }
        if listed == most {
            break;
        }
        listed += 1;
        let line = if args.selection.json {
            let event = fulcrum_answers::events::event(&trace, &event);
            serde_json::to_string(&event).expect("its keys are texts")
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
