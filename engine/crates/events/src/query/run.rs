//! Answering a query.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::ControlFlow;

use fulcrum_model::{Cancelled, Progress};

use super::aggregate::{Function, Numbers};
use super::field::{Field, Sort, Subject};
use super::{Cell, Column, Query};
use crate::open::Trace;
use crate::visit::{TraceRange, visit};

/// Groups that are kept; a query that makes more should group by less.
const MOST_GROUPS: usize = 1 << 20;

/// Rows that are kept to be ordered when the query has no limit.
const MOST_ORDERED: usize = 1 << 20;

/// What an answered query leaves to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// Rows of the table that were given out.
    pub rows: u64,
    /// Whether there are more.
    pub more: bool,
    /// What had to be left out, whole sentences.
    pub notes: Vec<String>,
}

/// A group: its keys' symbols.
type Symbols = [u32; 4];

/// Keys as numbers that are the same for the same text.
#[derive(Default)]
struct Keys {
    cells: Vec<Cell>,
    texts: HashMap<String, u32>,
    numbers: HashMap<u64, u32>,
    /// By the place of the key and what the text is known by.
    known: HashMap<(usize, u64), u32>,
    nothing: Option<u32>,
}

impl Query {
    /// Answers the query. `show` gets each row of the table, and says whether it wants more.
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

    /// Rows as they end.
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

    /// The first rows of an order.
    fn ordered(
        &self,
        trace: &Trace,
        scope: &TraceRange,
        progress: &Progress,
        show: &mut dyn FnMut(&[Cell]) -> ControlFlow<()>,
    ) -> Result<Answered, Cancelled> {
        let by: Vec<(Field, bool)> = self
            .order
            .iter()
            .map(|order| {
                let field = Field::named(&order.column);
                let field = field.expect("it was looked up when the query was read");
                (field, order.descending)
            })
            .collect();
        let limit = self.limit.unwrap_or(MOST_ORDERED).min(MOST_ORDERED);
        let mut kept: Vec<(Vec<Cell>, Vec<Cell>)> = Vec::new();
        let mut more = false;
        let direction = |(a, _): &(Vec<Cell>, Vec<Cell>), (b, _): &(Vec<Cell>, Vec<Cell>)| {
            let cells = a.iter().zip(b).zip(&by);
            let orders = cells.map(|((a, b), (_, descending))| compare(a, b, *descending));
            orders.fold(Ordering::Equal, Ordering::then)
        };
        let mut notes = visit(trace, scope, progress, |subject| {
            if self.condition.holds(subject) {
                let keys = by.iter().map(|(field, _)| cell(subject, *field)).collect();
                kept.push((keys, self.cells(subject)));
                // Sorting now and then keeps twice the limit at most.
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
                "Only the first {MOST_ORDERED} rows are told: say limit, or export them."
            ));
        }
        let rows = kept.into_iter().map(|(_, cells)| cells);
        Ok(give(rows, more, notes, show))
    }

    fn groups(
        &self,
        trace: &Trace,
        scope: &TraceRange,
        progress: &Progress,
        show: &mut dyn FnMut(&[Cell]) -> ControlFlow<()>,
    ) -> Result<Answered, Cancelled> {
        // Each field is added up once, whatever is asked of it.
        let mut fields: Vec<(Option<Field>, bool)> = Vec::new();
        let columns: Vec<(Function, usize)> = self
            .columns
            .iter()
            .filter_map(|column| match column {
                Column::Sum(function, field) => Some((*function, *field)),
                Column::Field(_) => None,
            })
            .map(|(function, field)| {
                let percentile = matches!(function, Function::Percentile(_));
                let at = fields
                    .iter()
                    .position(|(it, _)| *it == field)
                    .unwrap_or_else(|| {
                        fields.push((field, false));
                        fields.len() - 1
                    });
                fields[at].1 |= percentile;
                (function, at)
            })
            .collect();
        let mut keys = Keys::default();
        let mut groups: HashMap<Symbols, Vec<Numbers>> = HashMap::new();
        let mut lost: u64 = 0;
        if self.keys.is_empty() {
            groups.insert(Symbols::default(), vec![Numbers::default(); fields.len()]);
        }
        let mut notes = visit(trace, scope, progress, |subject| {
            if !self.condition.holds(subject) {
                return ControlFlow::Continue(());
            }
            let mut symbols = Symbols::default();
            for (at, key) in self.keys.iter().enumerate() {
                let Some(symbol) = keys.symbol(at, key, subject) else {
                    lost += 1;
                    return ControlFlow::Continue(());
                };
                symbols[at] = symbol;
            }
            if groups.len() >= MOST_GROUPS && !groups.contains_key(&symbols) {
                lost += 1;
                return ControlFlow::Continue(());
            }
            let group = groups
                .entry(symbols)
                .or_insert_with(|| vec![Numbers::default(); fields.len()]);
            for (numbers, (field, percentiles)) in group.iter_mut().zip(&fields) {
                match field {
                    Some(field) => {
                        if let Some(value) = subject.number(*field) {
                            numbers.add(value, *percentiles);
                        }
                    }
                    None => numbers.add(0, false),
                }
            }
            ControlFlow::Continue(())
        })?;
        if lost > 0 {
            notes.push(format!(
                "{lost} rows are left out: there are more than {MOST_GROUPS} groups. Group by less."
            ));
        }
        let mut rows: Vec<Vec<Cell>> = groups
            .into_iter()
            .map(|(symbols, mut numbers)| {
                let of_keys = symbols[..self.keys.len()]
                    .iter()
                    .map(|it| keys.cells[*it as usize].clone());
                let of_columns = columns
                    .iter()
                    .map(|(function, at)| numbers[*at].get(*function));
                of_keys.chain(of_columns.collect::<Vec<_>>()).collect()
            })
            .collect();
        self.sort_groups(&mut rows);
        let limit = self.limit.unwrap_or(usize::MAX);
        let more = rows.len() > limit;
        rows.truncate(limit);
        Ok(give(rows.into_iter(), more, notes, show))
    }

    fn sort_groups(&self, rows: &mut [Vec<Cell>]) {
        let names = self.names();
        // Of keys that are times or numbers the smallest comes first: a table to plot. Else the greatest sum does.
        let plotted = self
            .keys
            .first()
            .is_some_and(|it| it.field.sort() != Sort::Text);
        let place = |order: &super::Order| {
            let at = names.iter().position(|it| *it == order.column);
            let at = at.expect("it was looked up when the query was read");
            (at, order.descending)
        };
        let mut by: Vec<(usize, bool)> = self.order.iter().map(place).collect();
        if by.is_empty() {
            let sum = names.iter().position(|it| it.starts_with("sum("));
            let most = sum.unwrap_or(self.keys.len()).min(names.len() - 1);
            by.push(if plotted { (0, false) } else { (most, true) });
        }
        rows.sort_by(|a, b| {
            let asked = by.iter();
            let asked = asked.map(|&(at, descending)| compare(&a[at], &b[at], descending));
            let keys = a.iter().zip(b).map(|(a, b)| compare(a, b, false));
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

fn give(
    rows: impl Iterator<Item = Vec<Cell>>,
    more: bool,
    notes: Vec<String>,
    show: &mut dyn FnMut(&[Cell]) -> ControlFlow<()>,
) -> Answered {
    let mut answered = Answered {
        rows: 0,
        more,
        notes,
    };
    for row in rows {
        answered.rows += 1;
        if show(&row).is_break() {
            answered.more = true;
            break;
        }
    }
    answered
}

/// What a row has in a field.
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

/// Nothing comes last, whichever way.
fn compare(a: &Cell, b: &Cell, descending: bool) -> Ordering {
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
    match descending {
        true => order.reverse(),
        false => order,
    }
}

impl Keys {
    /// `None`: there are too many different texts.
    fn symbol(&mut self, place: usize, key: &super::Key, subject: &Subject<'_>) -> Option<u32> {
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

    /// Each call may have a text of its own.
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
