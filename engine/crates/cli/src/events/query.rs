//! `fulcrum events query`: selects rows by a condition, and aggregates them.

use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;

use fulcrum_event_tables::{Format, Table};
use fulcrum_events::query::{Cell, Query};

use super::args::{QueryArgs, QueryFormat};
use super::export::Content;
use super::open::{open, say_notes};
use crate::outcome::{DONE, Failure, NOTHING, Outcome};
use crate::terminal::{self, Colour, Style};

/// The number of rows whose columns are aligned together.
const PAGE: usize = 500;

/// Answers a query.
pub(crate) fn query(args: &QueryArgs) -> Outcome {
    let query = Query::parse(&args.query).map_err(|error| Failure::Usage(error.to_string()))?;
    let trace = open(&args.selection)?;
    let scope = args.selection.scope(&trace);
    let format = match args.format {
        _ if args.selection.json => Some(Format::Json),
        QueryFormat::Table => None,
        QueryFormat::Csv => Some(Format::Csv),
        QueryFormat::Tsv => Some(Format::Tsv),
        QueryFormat::Json => Some(Format::Json),
        QueryFormat::Arrow => Some(Format::Arrow),
        QueryFormat::Parquet => Some(Format::Parquet),
    };
    let content = match format {
        Some(Format::Arrow | Format::Parquet) => Content::Binary,
        Some(Format::Csv | Format::Tsv | Format::Json) | None => Content::Text,
    };
    let mut out = super::export::destination(args.output.as_deref(), content)?;
    let mut sink = Sink::new(&mut out, &query, format)?;
    let mut failed = None;
    let answered = query.run(
        &trace,
        &scope,
        &fulcrum_model::Progress::default(),
        &mut |cells| match sink.row(cells) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        },
    );
    let answered = answered.expect("nobody cancels it");
    let written = failed.map_or(Ok(()), Err).and_then(|()| sink.finish());
    super::export::written(written)?;
    say_notes(&trace, &answered.notes);
    Ok(if answered.rows == 0 { NOTHING } else { DONE })
}

/// Where rows go.
enum Sink<'a> {
    Table(Table<BufWriter<&'a mut (dyn Write + Send)>>),
    People {
        out: &'a mut (dyn Write + Send),
        names: Vec<String>,
        units: Vec<&'static str>,
        rows: Vec<Vec<Cell>>,
        first: bool,
    },
}

impl<'a> Sink<'a> {
    fn new(
        out: &'a mut (dyn Write + Send),
        query: &Query,
        format: Option<Format>,
    ) -> Result<Sink<'a>, Failure> {
        let names = query.names();
        Ok(match format {
            Some(format) => {
                let table = Table::new(BufWriter::new(out), format, &names, &query.holds());
                Sink::Table(table.map_err(|error| super::export::unwritable(&error))?)
            }
            None => Sink::People {
                out,
                names,
                units: query.units(),
                rows: Vec::new(),
                first: true,
            },
        })
    }

    fn row(&mut self, cells: &[Cell]) -> io::Result<()> {
        match self {
            Sink::Table(table) => table.row(cells),
            Sink::People { rows, .. } => {
                rows.push(cells.to_vec());
                match rows.len() {
                    PAGE => self.page(),
                    _ => Ok(()),
                }
            }
        }
    }

    fn page(&mut self) -> io::Result<()> {
        let Sink::People {
            out,
            names,
            units,
            rows,
            first,
        } = self
        else {
            return Ok(());
        };
        if rows.is_empty() {
            return Ok(());
        }
        let style = Style::stdout();
        let mut table = terminal::Table::default();
        let side =
            |at: usize, text: String| match rows.iter().any(|row| matches!(row[at], Cell::Text(_)))
            {
                true => terminal::Cell::left(text),
                false => terminal::Cell::right(text),
            };
        if std::mem::take(first) {
            let heads = names
                .iter()
                .enumerate()
                .map(|(at, name)| side(at, name.clone()).colour(Some(Colour::Dim)));
            table.row(heads.collect());
        }
        for row in rows.iter() {
            let cells = row
                .iter()
                .enumerate()
                .map(|(at, cell)| side(at, shown(cell, units[at], style)));
            table.row(cells.collect());
        }
        let text = table.render(style);
        rows.clear();
        out.write_all(text.as_bytes())
    }

    fn finish(mut self) -> io::Result<()> {
        match self {
            Sink::Table(table) => table.finish(),
            Sink::People { .. } => self.page(),
        }
    }
}

fn shown(cell: &Cell, unit: &str, style: Style) -> String {
    let rounded = |number: f64| style.quantity(number.round().clamp(0.0, 9e18) as i64, unit);
    match (cell, unit) {
        (Cell::Nothing, _) => "-".into(),
        (Cell::Text(text), _) => text.clone(),
        (Cell::Whole(number), "") => number.to_string(),
        (Cell::Real(number), "") => format!("{number:.2}"),
        (Cell::Whole(number), _) => rounded(*number as f64),
        (Cell::Real(number), _) => rounded(*number),
    }
}
