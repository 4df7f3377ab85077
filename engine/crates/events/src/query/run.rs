//! Answers a query.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::ControlFlow;

use fulcrum_model::text::counted;
use fulcrum_model::{Cancelled, Progress};

use super::aggregate::{Function, Numbers};
use super::field::{Field, Sort, Subject};
use super::{Cell, Column, Direction, Key, Query};
use crate::reader::open::Trace;
use crate::tree::visit::{TraceRange, visit};

/// The most groups that are kept. A query with more should group by less.
const MOST_GROUPS: usize = 1 << 20;

/// The most rows that are kept for sorting if the query has no limit.
const MOST_ORDERED: usize = 1 << 20;

/// A summary of an answered query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// The number of rows that were returned.
    pub rows: u64,
    /// Whether there are more.
    pub more: bool,
    /// What had to be left out, in whole sentences.
    pub notes: Vec<String>,
}

/// A group: the symbols of its keys.
type Symbols = [u32; 4];

/// Symbols for keys: the same text has the same number.
#[derive(Default)]
struct Keys {
    cells: Vec<Cell>,
    texts: HashMap<String, u32>,
    numbers: HashMap<u64, u32>,
    /// The symbols, by the position of the key and the identity of the text.
    known: HashMap<(usize, u64), u32>,
    nothing: Option<u32>,
}

/// The groups of a query, with the numbers of each aggregated field.
struct Groups {
    keys: Keys,
    all: HashMap<Symbols, Vec<Numbers>>,
    fields: usize,
}

impl Groups {
    fn new(fields: usize) -> Groups {
        Groups {
            keys: Keys::default(),
            all: HashMap::new(),
            fields,
        }
    }

    fn add(&mut self, symbols: Symbols) -> &mut Vec<Numbers> {
        let group = self.all.entry(symbols);
        group.or_insert_with(|| vec![Numbers::default(); self.fields])
    }

    /// The group of a row. `None` if there are too many groups.
    fn of(&mut self, keys: &[Key], subject: &Subject<'_>) -> Option<&mut Vec<Numbers>> {
        let mut symbols = Symbols::default();
        for (at, key) in keys.iter().enumerate() {
            symbols[at] = self.keys.symbol(at, key, subject)?;
        }
        let has_room = self.all.len() < MOST_GROUPS || self.all.contains_key(&symbols);
        if has_room {
            Some(self.add(symbols))
        } else {
            None
        }
    }
}

/// What a query with groups aggregates.
struct Sums {
    fields: Vec<SumField>,
    /// The columns, each with the position of its field.
    columns: Vec<(Function, usize)>,
}

/// A field to aggregate. `None` counts rows.
struct SumField {
    field: Option<Field>,
    percentiles: bool,
}

impl SumField {
    fn add(&self, subject: &Subject<'_>, numbers: &mut Numbers) {
        match (self.field, self.percentiles) {
            (None, _) => numbers.add(0),
            (Some(field), false) => {
                if let Some(value) = subject.number(field) {
                    numbers.add(value);
                }
            }
            (Some(field), true) => {
                if let Some(value) = subject.number(field) {
                    numbers.add_with_percentiles(value);
                }
            }
        }
    }
}

impl Query {
    /// Answers the query. `show` gets each row of the table, and decides whether to continue.
    ///
    /// # Errors
    /// [`Cancelled`] when `progress` was cancelled.
    pub fn run(
        &self,
        trace: &Trace,
        scope: &TraceRange,
        progress: &Progress,
        show: &mut dyn FnMut(&[Cell]) -> ControlFlow<()>,
    ) -> Result<Answered, Cancelled> {
        if self.sums() {
            self.groups(trace, scope, progress, show)
        } else if !self.order.is_empty() {
            self.ordered(trace, scope, progress, show)
        } else {
            self.plain(trace, scope, progress, show)
        }
    }

    /// Answers with rows in the order in which they end.
    fn plain(
        &self,
        trace: &Trace,
        scope: &TraceRange,
        progress: &Progress,
        show: &mut dyn FnMut(&[Cell]) -> ControlFlow<()>,
    ) -> Result<Answered, Cancelled> {
        let limit = self.limit.unwrap_or(usize::MAX) as u64;
        let mut answered = Answered::default();
        answered.notes = visit(trace, scope, progress, |subject| {
            if !self.condition.holds(subject) {
                return ControlFlow::Continue(());
            }
            if answered.rows == limit {
                answered.more = true;
                return ControlFlow::Break(());
            }
            answered.rows += 1;
            let shown = show(&self.cells(subject));
            answered.more |= shown.is_break();
            shown
        })?;
        Ok(answered)
    }

    /// Answers with the first rows of an order.
    fn ordered(
        &self,
        trace: &Trace,
        scope: &TraceRange,
        progress: &Progress,
        show: &mut dyn FnMut(&[Cell]) -> ControlFlow<()>,
    ) -> Result<Answered, Cancelled> {
        let by: Vec<(Field, Direction)> = self
            .order
            .iter()
            .map(|order| {
                let field = Field::named(&order.column);
                let field = field.expect("it was looked up when the query was parsed");
                (field, order.direction)
            })
            .collect();
        let limit = self.limit.unwrap_or(MOST_ORDERED).min(MOST_ORDERED);
        let mut kept: Vec<(Vec<Cell>, Vec<Cell>)> = Vec::new();
        let mut more = false;
        let direction = |(a, _): &(Vec<Cell>, Vec<Cell>), (b, _): &(Vec<Cell>, Vec<Cell>)| {
            let cells = a.iter().zip(b).zip(&by);
            let orders = cells.map(|((a, b), (_, direction))| compare(a, b, *direction));
            orders.fold(Ordering::Equal, Ordering::then)
        };
        let mut notes = visit(trace, scope, progress, |subject| {
            if self.condition.holds(subject) {
                let keys = by.iter().map(|(field, _)| cell(subject, *field)).collect();
                kept.push((keys, self.cells(subject)));
                // Sorting now and then keeps at most about twice the limit.
                if kept.len() >= 2 * limit + 1024 {
                    kept.sort_by(direction);
                    kept.truncate(limit);
                    more = true;
                }
            }
            ControlFlow::Continue(())
        })?;
        kept.sort_by(direction);
        more |= kept.len() > limit;
        kept.truncate(limit);
        if more && self.limit.is_none() {
            notes.push(format!(
                "Only the first {MOST_ORDERED} rows are shown: set a limit, or export them."
            ));
        }
        let rows = kept.into_iter().map(|(_, cells)| cells);
        let answered = Answered {
            rows: 0,
            more,
            notes,
        };
        Ok(give(rows, answered, show))
    }

    fn groups(
        &self,
        trace: &Trace,
        scope: &TraceRange,
        progress: &Progress,
        show: &mut dyn FnMut(&[Cell]) -> ControlFlow<()>,
    ) -> Result<Answered, Cancelled> {
        let Sums { fields, columns } = self.sums_of_columns();
        let mut groups = Groups::new(fields.len());
        if self.keys.is_empty() {
            groups.add(Symbols::default());
        }
        let mut lost: u64 = 0;
        let mut notes = visit(trace, scope, progress, |subject| {
            if self.condition.holds(subject) {
                match groups.of(&self.keys, subject) {
                    Some(group) => {
                        for (numbers, sum) in group.iter_mut().zip(&fields) {
                            sum.add(subject, numbers);
                        }
                    }
                    None => lost += 1,
                }
            }
            ControlFlow::Continue(())
        })?;
        if lost > 0 {
            notes.push(format!(
                "{} left out: there are more than {MOST_GROUPS} groups. Group by fewer keys, or by wider buckets.",
                counted(lost, "row is", "rows are")
            ));
        }
        let Groups { keys, all, .. } = groups;
        let row = |(symbols, mut numbers): (Symbols, Vec<Numbers>)| {
            let of_keys = symbols[..self.keys.len()].iter();
            let of_keys = of_keys.map(|it| keys.cells[*it as usize].clone());
            let of_columns = columns
                .iter()
                .map(|(function, at)| numbers[*at].get(*function));
            of_keys.chain(of_columns.collect::<Vec<_>>()).collect()
        };
        let mut rows: Vec<Vec<Cell>> = all.into_iter().map(row).collect();
        self.sort_groups(&mut rows);
        let limit = self.limit.unwrap_or(usize::MAX);
        let more = rows.len() > limit;
        rows.truncate(limit);
        let answered = Answered {
            rows: 0,
            more,
            notes,
        };
        Ok(give(rows.into_iter(), answered, show))
    }

    /// The fields to aggregate, each once.
    fn sums_of_columns(&self) -> Sums {
        let mut fields: Vec<SumField> = Vec::new();
        let columns = self.columns.iter().filter_map(|column| match column {
            Column::Sum(function, field) => Some((*function, *field)),
            Column::Field(_) => None,
        });
        let columns = columns.map(|(function, field)| {
            let known = fields.iter().position(|it| it.field == field);
            let at = known.unwrap_or_else(|| {
                fields.push(SumField {
                    field,
                    percentiles: false,
                });
                fields.len() - 1
            });
            fields[at].percentiles |= matches!(function, Function::Percentile(_));
            (function, at)
        });
        Sums {
            columns: columns.collect(),
            fields,
        }
    }

    fn sort_groups(&self, rows: &mut [Vec<Cell>]) {
        let names = self.names();
        // By default, groups by times or numbers begin with the smallest, as for plotting; others with the greatest sum.
        let plotted = self
            .keys
            .first()
            .is_some_and(|it| it.field.sort() != Sort::Text);
        let place = |order: &super::Order| {
            let at = names.iter().position(|it| *it == order.column);
            let at = at.expect("it was looked up when the query was parsed");
            (at, order.direction)
        };
        let mut by: Vec<(usize, Direction)> = self.order.iter().map(place).collect();
        if by.is_empty() {
            let sum = names.iter().position(|it| it.starts_with("sum("));
            let most = sum.unwrap_or(self.keys.len()).min(names.len() - 1);
            by.push(match plotted {
                true => (0, Direction::Ascending),
                false => (most, Direction::Descending),
            });
        }
        rows.sort_by(|a, b| {
            let asked = by.iter();
            let asked = asked.map(|&(at, direction)| compare(&a[at], &b[at], direction));
            let keys = a
                .iter()
                .zip(b)
                .map(|(a, b)| compare(a, b, Direction::Ascending));
            asked.chain(keys).fold(Ordering::Equal, Ordering::then)
        });
    }

    fn cells(&self, subject: &Subject<'_>) -> Vec<Cell> {
        let columns = self.columns.iter().map(|column| match column {
            Column::Field(field) => cell(subject, *field),
            Column::Sum(..) => Cell::Nothing,
        });
        columns.collect()
    }
}

/// Passes rows on, and completes the answer to the query.
fn give(
    rows: impl Iterator<Item = Vec<Cell>>,
    mut answered: Answered,
    show: &mut dyn FnMut(&[Cell]) -> ControlFlow<()>,
) -> Answered {
    for row in rows {
        answered.rows += 1;
        if show(&row).is_break() {
            answered.more = true;
            break;
        }
    }
    answered
}

/// A row's value of a field.
fn cell(subject: &Subject<'_>, field: Field) -> Cell {
    if field == Field::What {
        return Cell::Text(subject.row.name(subject.trace));
    }
    match field.sort() {
        Sort::Text => match subject.key(field) {
            Some(key) => Cell::Text(subject.text(field, key)),
            None => subject.own_text(field).map_or(Cell::Nothing, Cell::Text),
        },
        _ => subject.number(field).map_or(Cell::Nothing, Cell::Whole),
    }
}

/// Compares cells. `Nothing` comes last in both directions.
fn compare(a: &Cell, b: &Cell, direction: Direction) -> Ordering {
    let number = |cell: &Cell| match cell {
        Cell::Whole(it) => Some(*it as f64),
        Cell::Real(it) => Some(*it),
        Cell::Nothing | Cell::Text(_) => None,
    };
    let order = match (a, b) {
        (Cell::Nothing, Cell::Nothing) => Ordering::Equal,
        (Cell::Nothing, _) => return Ordering::Greater,
        (_, Cell::Nothing) => return Ordering::Less,
        (Cell::Text(a), Cell::Text(b)) => a.cmp(b),
        (Cell::Whole(a), Cell::Whole(b)) => a.cmp(b),
        _ => number(a).partial_cmp(&number(b)).unwrap_or(Ordering::Equal),
    };
    match direction {
        Direction::Ascending => order,
        Direction::Descending => order.reverse(),
    }
}

impl Keys {
    /// The symbol of a row's key. `None` if there are too many different texts.
    fn symbol(&mut self, place: usize, key: &Key, subject: &Subject<'_>) -> Option<u32> {
        if key.field.sort() != Sort::Text {
            let Some(number) = subject.number(key.field) else {
                return Some(self.nothing());
            };
            let number = key.width.map_or(number, |width| number / width * width);
            let cells = &mut self.cells;
            return Some(*self.numbers.entry(number).or_insert_with(|| {
                cells.push(Cell::Whole(number));
                cells.len() as u32 - 1
            }));
        }
        let Some(id) = subject.key(key.field) else {
            return match subject.own_text(key.field) {
                Some(text) if self.is_full(&text) => None,
                Some(text) => Some(self.of_text(text)),
                None => Some(self.nothing()),
            };
        };
        if let Some(symbol) = self.known.get(&(place, id)) {
            return Some(*symbol);
        }
        let symbol = self.of_text(subject.text(key.field, id));
        self.known.insert((place, id), symbol);
        Some(symbol)
    }

    /// Whether there is no room for a new text. Each call may have a text of its own.
    fn is_full(&self, text: &str) -> bool {
        self.texts.len() >= MOST_GROUPS && !self.texts.contains_key(text)
    }

    fn of_text(&mut self, text: String) -> u32 {
        let cells = &mut self.cells;
        *self.texts.entry(text.clone()).or_insert_with(|| {
            cells.push(Cell::Text(text));
            cells.len() as u32 - 1
        })
    }

    fn nothing(&mut self) -> u32 {
        *self.nothing.get_or_insert_with(|| {
            self.cells.push(Cell::Nothing);
            self.cells.len() as u32 - 1
        })
    }
}
