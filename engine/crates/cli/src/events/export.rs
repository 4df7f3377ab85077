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

/// What an export writes.
enum Export {
    Table(Box<Query>, Format),
    Perfetto,
    Chrome,
    CallTree(OutputFormat),
}

/// Exports a trace.
pub(crate) fn export(args: &ExportArgs) -> Outcome {
    use ExportFormat as F;
    // `--json` stands for JSON lines here.
    let to = args.format.unwrap_or(F::Json);
    let is_table = matches!(to, F::Csv | F::Tsv | F::Json | F::Arrow | F::Parquet);
    if !is_table && (args.condition.is_some() || args.columns.is_some()) {
        return Err(Failure::Usage(
            "--where and --columns are for tables: csv, tsv, json, arrow, parquet; select parts for other formats with --thread, --from, --to, --filter"
                .into(),
        ));
    }
    let trace = open(&args.selection)?;
    let scope = args.selection.scope(&trace);
    // An error in the query must not leave an empty file.
    let table =
        |format| -> Result<Export, Failure> { Ok(Export::Table(Box::new(select(args)?), format)) };
    let export = match to {
        F::Csv => table(Format::Csv)?,
        F::Tsv => table(Format::Tsv)?,
        F::Json => table(Format::Json)?,
        F::Arrow => table(Format::Arrow)?,
        F::Parquet => table(Format::Parquet)?,
        F::Perfetto => Export::Perfetto,
        F::Chrome => Export::Chrome,
        F::Folded => Export::CallTree(OutputFormat::Folded),
        F::Pprof => Export::CallTree(OutputFormat::Pprof),
        F::Speedscope => Export::CallTree(OutputFormat::Speedscope),
    };
    let content = match to {
        F::Arrow | F::Parquet | F::Perfetto | F::Pprof => Content::Binary,
        F::Csv | F::Tsv | F::Json | F::Chrome | F::Folded | F::Speedscope => Content::Text,
    };
    let mut out = destination(args.output.as_deref(), content)?;
    let progress = fulcrum_model::Progress::default();
    let notes = match export {
        Export::Table(query, format) => rows(&trace, &scope, &query, format, &mut out)?,
        Export::Perfetto => exported(perfetto(&trace, &scope, &progress, &mut out))?,
        Export::Chrome => exported(chrome(&trace, &scope, &progress, &mut out))?,
        Export::CallTree(format) => {
            call_tree(&trace, &scope, &args.value, format, &mut out)?;
            Vec::new()
        }
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

/// Writes the call tree of a trace in a format that counts one value type.
fn call_tree(
    trace: &Trace,
    scope: &TraceRange,
    value: &str,
    format: OutputFormat,
    mut out: &mut dyn Write,
) -> Result<(), Failure> {
    let tree = fold(trace, scope, &fulcrum_model::Progress::default()).map_err(|error| {
        Failure::BadInput(match error {
            FoldError::Tree(error) => format!(
                "the call tree is too large: {error}; choose a part with --thread, --from and --to"
            ),
            FoldError::Cancelled | FoldError::Absent => "the trace has no such part".into(),
        })
    })?;
    let types = tree.value_types();
    let names: Vec<&str> = types.iter().map(|it| it.name.as_str()).collect();
    let Some(value) = names.iter().position(|it| *it == value) else {
        let names = names.join(", ");
        return Err(Failure::Usage(format!(
            "there is no value type {value}; choose one of {names}"
        )));
    };
    let profile = Profile {
        format: fulcrum_profile_formats::Format::Folded,
        calls: Calls::Tree(tree),
        default_value: value,
        notes: Vec::new(),
        renamed: Vec::new(),
    };
    match write(&profile, format, value, &mut out) {
        Err(WriteError::Io(error)) => written(Err(error)),
        Err(error) => Err(Failure::BadInput(error.to_string())),
        Ok(()) => written(out.flush()),
    }
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
