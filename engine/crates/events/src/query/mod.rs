//! Queries: a small language over the rows of a trace (JPMT §4.3, the command-line tool for scripting).
//!
//! ```text
//! method ~ "ThreadPool\." and wall > 1ms and thread = "Dispatcher*"
//! kind = call group by method select count, sum(self), p99(wall) order by sum(self) limit 20
//! kind = contended group by class, bucket(start, 1s)
//! ```
//! A query takes one pass over a trace. Without `group by` and aggregates, each row is returned as soon as it has ended. Otherwise, memory is
//! needed for the groups, never for the rows.

mod aggregate;
mod cell;
mod condition;
mod error;
pub(crate) mod field;
mod lex;
mod parse;
mod run;

pub use cell::Cell;
pub use condition::Condition;
pub use error::QueryError;
pub use field::{RowKind, ended};
pub use run::Answered;

use aggregate::Function;
pub(crate) use field::Subject;
use field::{FIELDS, Field, Sort};

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Texts.
    Text,
    /// Integers.
    Whole,
    /// Numbers.
    Real,
}

/// A query.
#[derive(Debug)]
pub struct Query {
    pub(crate) condition: Condition,
    pub(crate) keys: Vec<Key>,
    pub(crate) columns: Vec<Column>,
    /// The order, most important column first. Empty by default.
    pub(crate) order: Vec<Order>,
    pub(crate) limit: Option<usize>,
}

/// A key of a group.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    field: Field,
    /// The width of buckets: numbers are rounded down to multiples of it.
    width: Option<u64>,
}

/// A column.
#[derive(Clone, Debug)]
pub(crate) enum Column {
    Field(Field),
    Sum(Function, Option<Field>),
}

#[derive(Clone, Debug)]
pub(crate) struct Order {
    column: String,
    direction: Direction,
}

/// The direction of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Ascending,
    Descending,
}

/// The fields of rows: name, unit (`ns`, `bytes`, `text`, or empty for plain numbers) and meaning.
pub fn fields() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    FIELDS.iter().map(|(name, _, sort, meaning)| {
        let unit = match sort {
            Sort::Text => "text",
            Sort::Time => "ns",
            Sort::Bytes => "bytes",
            Sort::Number => "",
        };
        (*name, unit, *meaning)
    })
}

impl Query {
    /// The columns' names, keys first.
    pub fn names(&self) -> Vec<String> {
        let keys = self.keys.iter().map(Key::name);
        keys.chain(self.columns.iter().map(Column::name)).collect()
    }

    /// The units of the columns: `ns`, `bytes`, or empty.
    pub fn units(&self) -> Vec<&'static str> {
        let unit = |sort: Sort| match sort {
            Sort::Time => "ns",
            Sort::Bytes => "bytes",
            Sort::Text | Sort::Number => "",
        };
        let keys = self.keys.iter().map(|it| unit(it.field.sort()));
        let columns = self.columns.iter().map(|it| match it {
            Column::Field(field) => unit(field.sort()),
            Column::Sum(_, field) => field.map_or("", |it| unit(it.sort())),
        });
        keys.chain(columns).collect()
    }

    /// The types of the columns, for tables with typed columns.
    pub fn holds(&self) -> Vec<Holds> {
        let of = |sort: Sort| match sort {
            Sort::Text => Holds::Text,
            Sort::Time | Sort::Bytes | Sort::Number => Holds::Whole,
        };
        let keys = self.keys.iter().map(|it| of(it.field.sort()));
        let columns = self.columns.iter().map(|it| match it {
            Column::Field(field) => of(field.sort()),
            Column::Sum(Function::Mean | Function::Deviation, _) => Holds::Real,
            Column::Sum(..) => Holds::Whole,
        });
        keys.chain(columns).collect()
    }

    /// Whether the query aggregates rows.
    pub fn sums(&self) -> bool {
        !self.keys.is_empty() || self.columns.iter().any(|it| matches!(it, Column::Sum(..)))
    }
}

impl Key {
    fn name(&self) -> String {
        match self.width {
            Some(width) => format!("bucket({}, {width})", self.field.name()),
            None => self.field.name().to_owned(),
        }
    }
}

impl Column {
    fn of_rows() -> Vec<Column> {
        use Field::{Cpu, Kind, SelfWall, Start, Thread, Wall};
        let mut columns = [Thread, Start, Wall, Cpu, SelfWall, Kind]
            .map(Column::Field)
            .to_vec();
        columns.push(Column::Field(Field::What));
        columns
    }

    fn of_groups() -> Vec<Column> {
        let wall = Some(Field::Wall);
        vec![
            Column::Sum(Function::Count, None),
            Column::Sum(Function::Sum, wall),
            Column::Sum(Function::Sum, Some(Field::SelfWall)),
            Column::Sum(Function::Mean, wall),
            Column::Sum(Function::Percentile(50.0), wall),
            Column::Sum(Function::Percentile(99.0), wall),
            Column::Sum(Function::Max, wall),
        ]
    }

    fn name(&self) -> String {
        match self {
            Column::Field(field) => field.name().to_owned(),
            Column::Sum(Function::Count, _) => "count".to_owned(),
            Column::Sum(function, field) => {
                let field = field.map_or("", Field::name);
                let name = match function {
                    Function::Count => "count".to_owned(),
                    Function::Sum => "sum".to_owned(),
                    Function::Mean => "mean".to_owned(),
                    Function::Min => "min".to_owned(),
                    Function::Max => "max".to_owned(),
                    Function::Deviation => "stddev".to_owned(),
                    Function::Percentile(part) => format!("p{part}"),
                };
                format!("{name}({field})")
            }
        }
    }
}
