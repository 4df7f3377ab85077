//! `fulcrum events export`: writes a trace for other tools, while it is being read.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::ops::ControlFlow;
use std::path::Path;

use fulcrum_event_tables::{Format, Table};
use fulcrum_events::export::{ExportError, chrome, perfetto};
use fulcrum_events::query::Query;
use fulcrum_events::{FoldError, Trace, TraceRange, fold};
use fulcrum_profile_formats::{Calls, OutputFormat, Profile, WriteError, write};

use super::args::{ExportArgs, ExportFormat};
use super::open::{open, say_notes};
use crate::outcome::{DONE, Failure, Outcome};

const COLUMNS: &str =
    "tid, thread, node, kind, what, depth, start, wall, cpu, self, selfcpu, ended, object";

/// Exports a trace.
pub(crate) fn export(args: &ExportArgs) -> Outcome {
    use ExportFormat as F;
    let to = match args.format {
        Some(to) => to,
        // `--json` stands for JSON lines here.
        None => F::Json,
    };
    let table = match to {
        F::Csv => Some(Format::Csv),
        F::Tsv => Some(Format::Tsv),
        F::Json => Some(Format::Json),
        F::Arrow => Some(Format::Arrow),
        F::Parquet => Some(Format::Parquet),
        F::Perfetto | F::Chrome | F::Folded | F::Pprof | F::Speedscope => None,
    };
    if table.is_none() && (args.condition.is_some() || args.columns.is_some()) {
        return Err(Failure::Usage(
            "--where and --columns are for tables: csv, tsv, json, arrow, parquet; select parts for other formats with --thread, --from, --to, --filter"
                .into(),
        ));
    }
    let trace = open(&args.selection)?;
    let scope = args.selection.scope(&trace);
    let content = match to {
        F::Arrow | F::Parquet | F::Perfetto | F::Pprof => Content::Binary,
        F::Csv | F::Tsv | F::Json | F::Chrome | F::Folded | F::Speedscope => Content::Text,
    };
    // An error in the query must not leave an empty file.
    let query = table.map(|_| select(args)).transpose()?;
    let mut out = destination(args.output.as_deref(), content)?;
    let notes = match (to, query, table) {
        (_, Some(query), Some(format)) => rows(&trace, &scope, &query, format, &mut out)?,
        (F::Perfetto, ..) => exported(perfetto(
            &trace,
            &scope,
            &fulcrum_model::Progress::default(),
            &mut out,
        ))?,
        (F::Chrome, ..) => exported(chrome(
            &trace,
            &scope,
            &fulcrum_model::Progress::default(),
            &mut out,
        ))?,
        _ => folded(args, to, &trace, &scope, &mut out)?,
    };
    say_notes(&trace, &notes);
    Ok(DONE)
}

fn select(args: &ExportArgs) -> Result<Query, Failure> {
    let condition = args.condition.as_deref().unwrap_or("");
    let columns = args.columns.as_deref().unwrap_or(COLUMNS);
    let usage = |error: fulcrum_events::query::QueryError| Failure::Usage(error.to_string());
    // Parse the condition alone first, so that an error quotes what the user wrote.
    fulcrum_events::query::Condition::parse(condition).map_err(usage)?;
    let query = Query::parse(&format!("{condition} select {columns}")).map_err(usage)?;
    match query.sums() {
        true => Err(Failure::Usage(
            "an export has rows, not aggregates; use `fulcrum events query`".into(),
        )),
        false => Ok(query),
    }
}

fn rows(
    trace: &Trace,
    scope: &TraceRange,
    query: &Query,
    format: Format,
    out: &mut (dyn Write + Send),
) -> Result<Vec<String>, Failure> {
    let table = Table::new(out, format, &query.names(), &query.holds());
    let mut table = table.map_err(|error| unwritable(&error))?;
    let mut failed = None;
    let answered = query.run(
        trace,
        scope,
        &fulcrum_model::Progress::default(),
        &mut |cells| match table.row(cells) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        },
    );
    let answered = answered.expect("nobody cancels it");
    written(failed.map_or(Ok(()), Err).and_then(|()| table.finish()))?;
    Ok(answered.notes)
}

fn folded(
    args: &ExportArgs,
    to: ExportFormat,
    trace: &Trace,
    scope: &TraceRange,
    mut out: &mut dyn Write,
) -> Result<Vec<String>, Failure> {
    let tree = fold(trace, scope, &fulcrum_model::Progress::default()).map_err(|error| {
        Failure::BadInput(match error {
            FoldError::Tree(error) => format!(
                "the call tree is too large: {error}; choose a part with --thread, --from and --to"
            ),
            FoldError::Cancelled | FoldError::Absent => "the trace has no such part".into(),
        })
    })?;
    let names: Vec<&str> = tree
        .value_types()
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    let value = names
        .iter()
        .position(|it| *it == args.value)
        .ok_or_else(|| {
            Failure::Usage(format!(
                "there is no value type {}; choose one of {}",
                args.value,
                names.join(", ")
            ))
        })?;
    let target = match to {
        ExportFormat::Pprof => OutputFormat::Pprof,
        ExportFormat::Speedscope => OutputFormat::Speedscope,
        _ => OutputFormat::Folded,
    };
    let profile = Profile {
        format: fulcrum_profile_formats::Format::Folded,
        calls: Calls::Tree(tree),
        default_value: value,
        notes: Vec::new(),
        renamed: Vec::new(),
    };
    match write(&profile, target, value, &mut out) {
        Err(WriteError::Io(error)) => written(Err(error))?,
        Err(error) => return Err(Failure::BadInput(error.to_string())),
        Ok(()) => written(out.flush())?,
    }
    Ok(Vec::new())
}

fn exported(result: Result<Vec<String>, ExportError>) -> Result<Vec<String>, Failure> {
    match result {
        Ok(notes) => Ok(notes),
        Err(ExportError::Io(error)) => written(Err(error)).map(|()| Vec::new()),
        Err(ExportError::Cancelled) => Ok(Vec::new()),
    }
}

/// What is written to a destination.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    Text,
    Binary,
}

/// A file, or standard output, which must not be a terminal for binary content.
pub(crate) fn destination(
    file: Option<&Path>,
    content: Content,
) -> Result<Box<dyn Write + Send>, Failure> {
    match file {
        Some(path) => {
            let file = File::create(path).map_err(|error| {
                Failure::BadInput(format!("cannot write {}: {error}", path.display()))
            })?;
            Ok(Box::new(BufWriter::new(file)))
        }
        None if content == Content::Binary && io::stdout().is_terminal() => Err(Failure::Usage(
            "this format is binary; write it to a file with -o FILE".into(),
        )),
        None => Ok(Box::new(BufWriter::new(io::stdout()))),
    }
}

/// Turns a write error into a failure. A reader that has closed the pipe is not an error.
pub(crate) fn written(result: io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(&error)),
        _ => Ok(()),
    }
}

pub(crate) fn unwritable(error: &io::Error) -> Failure {
    Failure::BadInput(format!("cannot write: {error}"))
}
