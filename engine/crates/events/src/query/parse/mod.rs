//! Parses queries.
//!
//! By hand: the grammar is small, and errors must point at the place and suggest what to write.

mod conditions;

use super::aggregate::Function;
use super::condition::Condition;
use super::field::{FIELDS, Field, Sort};
use super::lex::{Token, Unit, lex};
use super::{Column, Direction, Key, Order, Query, QueryError};

const KEYWORDS: [&str; 10] = [
    "and", "or", "not", "in", "group", "select", "order", "by", "limit", "where",
];

/// The most keys of a group. More make no sense on a screen.
const MOST_KEYS: usize = 4;

struct Parser<'q> {
    query: &'q str,
    tokens: Vec<(Token, usize)>,
    next: usize,
}

impl Query {
    /// Parses a query.
    ///
    /// # Errors
    /// When the text is invalid. The error says where.
    pub fn parse(text: &str) -> Result<Query, QueryError> {
        query(text)
    }
}

impl Condition {
    /// Parses a condition. An empty one holds for every row.
    ///
    /// # Errors
    /// When the text is invalid. The error says where.
    pub fn parse(text: &str) -> Result<Condition, QueryError> {
        condition(text)
    }
}

fn query(text: &str) -> Result<Query, QueryError> {
    let mut parser = Parser::new(text)?;
    let mut query = Query {
        condition: Condition(parser.optional_condition()?),
        keys: Vec::new(),
        columns: Vec::new(),
        order: Vec::new(),
        limit: None,
    };
    loop {
        let at = parser.at();
        if parser.keyword("group") {
            parser.expect_word("by")?;
            if !query.keys.is_empty() {
                return Err(parser.twice(at, "group by"));
            }
            query.keys = parser.list(Parser::key)?;
            if query.keys.len() > MOST_KEYS {
                return Err(
                    parser.error(at, format!("at most {MOST_KEYS} things can be grouped by"))
                );
            }
        } else if parser.keyword("select") {
            if !query.columns.is_empty() {
                return Err(parser.twice(at, "select"));
            }
            query.columns = parser.list(Parser::column)?;
        } else if parser.keyword("order") {
            parser.expect_word("by")?;
            if !query.order.is_empty() {
                return Err(parser.twice(at, "order by"));
            }
            query.order = parser.list(Parser::order)?;
        } else if parser.keyword("limit") {
            if query.limit.is_some() {
                return Err(parser.twice(at, "limit"));
            }
            query.limit = Some(parser.whole_number()?);
        } else if parser.peek() == &Token::End {
            break;
        } else {
            return Err(parser.unexpected("and, or, group by, select, order by, limit, or the end"));
        }
    }
    query.complete(&parser)
}

/// Parses a condition.
fn condition(text: &str) -> Result<Condition, QueryError> {
    let mut parser = Parser::new(text)?;
    let condition = parser.optional_condition()?;
    match parser.peek() {
        Token::End => Ok(Condition(condition)),
        _ => Err(parser.unexpected("and, or, or the end")),
    }
}

impl Query {
    /// Fills in defaults, and checks that the parts fit together.
    fn complete(mut self, parser: &Parser<'_>) -> Result<Query, QueryError> {
        let grouped = !self.keys.is_empty();
        if self.columns.is_empty() {
            self.columns = match grouped {
                true => Column::of_groups(),
                false => Column::of_rows(),
            };
        }
        let sums = self.columns.iter().any(|it| matches!(it, Column::Sum(..)));
        let plain = self.columns.iter().find_map(|it| match it {
            Column::Field(field) => Some(*field),
            Column::Sum(..) => None,
        });
        if let (true, Some(field)) = (grouped || sums, plain) {
            // In groups, a field alone must be a key, and keys are shown anyway.
            let at = parser.place_of(field.name(), "select");
            return Err(parser.error(at, self.not_in_groups(field)));
        }
        for order in &self.order {
            let columns = self.names();
            if !columns.contains(&order.column)
                && (grouped || sums || Field::named(&order.column).is_none())
            {
                let at = parser.place_of(&order.column, "order");
                let columns = columns.join(", ");
                return Err(parser.error(
                    at,
                    format!(
                        "there is no column {}: choose one of {columns}",
                        order.column
                    ),
                ));
            }
        }
        Ok(self)
    }

    /// Why a field cannot be a column of groups.
    fn not_in_groups(&self, field: Field) -> String {
        let name = field.name();
        let is_key = |key: &Key| key.field == field && key.width.is_none();
        if self.keys.iter().any(is_key) {
            return format!(
                "the rows are grouped by {name}, which is shown first anyway: select only aggregates, such as count, \
                 sum(wall) or p99(wall)"
            );
        }
        if field.sort() == Sort::Text {
            return format!("{name} differs within a group: group by {name}, too");
        }
        format!(
            "{name} differs within a group: use sum({name}), mean({name}), max({name}), p99({name}), or group by {name}"
        )
    }
}

impl<'q> Parser<'q> {
    fn new(query: &'q str) -> Result<Parser<'q>, QueryError> {
        let tokens = lex(query)?;
        Ok(Parser {
            query,
            tokens,
            next: 0,
        })
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.next].0
    }

    fn at(&self) -> usize {
        self.tokens[self.next].1
    }

    fn take(&mut self) -> Token {
        let token = self.tokens[self.next].0.clone();
        // The last token is the end, and stays.
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    fn error(&self, at: usize, message: impl Into<String>) -> QueryError {
        QueryError::new(self.query, at, message.into())
    }

    fn unexpected(&self, expected: &str) -> QueryError {
        let found = match self.peek() {
            Token::End => "the end".to_owned(),
            Token::Word(word) => word.clone(),
            Token::Text(text) => format!("{text:?}"),
            Token::Number(..) => "a number".to_owned(),
            Token::Symbol(symbol) => format!("{symbol:?}"),
        };
        self.error(self.at(), format!("expected {expected}, found {found}"))
    }

    /// The position of a word after another word.
    fn place_of(&self, word: &str, after: &str) -> usize {
        let is = |token: &Token, text: &str| matches!(token, Token::Word(it) if it == text);
        let from = self
            .tokens
            .iter()
            .position(|(token, _)| is(token, after))
            .unwrap_or(0);
        let found = self.tokens[from..]
            .iter()
            .find(|(token, _)| is(token, word));
        found.map_or(self.query.len(), |(_, at)| *at)
    }

    fn keyword(&mut self, wanted: &str) -> bool {
        let found = matches!(self.peek(), Token::Word(word) if word.eq_ignore_ascii_case(wanted));
        if found {
            self.take();
        }
        found
    }

    fn symbol(&mut self, wanted: &str) -> bool {
        let found = matches!(self.peek(), Token::Symbol(symbol) if *symbol == wanted);
        if found {
            self.take();
        }
        found
    }

    fn expect_word(&mut self, wanted: &str) -> Result<(), QueryError> {
        match self.keyword(wanted) {
            true => Ok(()),
            false => Err(self.unexpected(wanted)),
        }
    }

    fn expect_symbol(&mut self, wanted: &str) -> Result<(), QueryError> {
        match self.symbol(wanted) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("{wanted:?}"))),
        }
    }

    fn twice(&self, at: usize, clause: &str) -> QueryError {
        self.error(at, format!("{clause} is there twice"))
    }

    fn list<T>(
        &mut self,
        one: impl Fn(&mut Self) -> Result<T, QueryError>,
    ) -> Result<Vec<T>, QueryError> {
        let mut list = vec![one(self)?];
        while self.symbol(",") {
            list.push(one(self)?);
        }
        Ok(list)
    }

    fn key(&mut self) -> Result<Key, QueryError> {
        let at = self.at();
        if self.keyword("bucket") {
            self.expect_symbol("(")?;
            let field = self.field("a number to make buckets of")?;
            self.expect_symbol(",")?;
            let Token::Number(width, _) = *self.peek() else {
                return Err(self.unexpected("the width of a bucket, such as 100ms"));
            };
            if field.sort() == Sort::Text || width < 1.0 {
                return Err(self.error(at, "buckets are made of numbers, and are at least 1 wide"));
            }
            self.take();
            self.expect_symbol(")")?;
            return Ok(Key {
                field,
                width: Some(width as u64),
            });
        }
        let field =
            self.field("what to group by: method, class, thread, …, or bucket(start, 100ms)")?;
        match field {
            Field::Inside => Err(self.error(
                at,
                "a call is inside several others, so there is no single value to group by: \
                 group by parent instead",
            )),
            _ => Ok(Key { field, width: None }),
        }
    }

    fn column(&mut self) -> Result<Column, QueryError> {
        let at = self.at();
        let Token::Word(word) = self.peek().clone() else {
            return Err(
                self.unexpected("a column: count, sum(wall), p99(wall), or a name such as wall")
            );
        };
        let opens = matches!(
            self.tokens.get(self.next + 1),
            Some((Token::Symbol("("), _))
        );
        if word == "count" && !opens {
            self.take();
            return Ok(Column::Sum(Function::Count, None));
        }
        if !opens {
            let field = self.field("a column")?;
            return match field {
                Field::Inside => Err(self.error(
                    at,
                    "a call is inside several others, so there is no single value to show: \
                     select parent instead",
                )),
                _ => Ok(Column::Field(field)),
            };
        }
        let Some(function) = function(&word) else {
            return Err(self.error(
                at,
                format!(
                    "there is no function {word}: choose one of count, sum, mean, min, max, stddev, median, and p50 to p99.9"
                ),
            ));
        };
        self.take();
        self.take();
        if function == Function::Count {
            self.symbol("*");
            self.expect_symbol(")")?;
            return Ok(Column::Sum(function, None));
        }
        let at = self.at();
        let field = self.field("a number: wall, cpu, self, …")?;
        if field.sort() == Sort::Text {
            return Err(self.error(
                at,
                format!("{} is a text, which cannot be added up", field.name()),
            ));
        }
        self.expect_symbol(")")?;
        Ok(Column::Sum(function, Some(field)))
    }

    /// Parses a column and its direction.
    fn order(&mut self) -> Result<Order, QueryError> {
        let Token::Word(word) = self.peek().clone() else {
            return Err(self.unexpected("a column to order by"));
        };
        let column = match matches!(
            self.tokens.get(self.next + 1),
            Some((Token::Symbol("("), _))
        ) {
            true if word == "bucket" => self.key()?.name(),
            true => self.column()?.name(),
            false => {
                self.take();
                word
            }
        };
        let direction = match (self.keyword("desc"), self.keyword("asc")) {
            (true, _) => Direction::Descending,
            (_, true) => Direction::Ascending,
            (false, false) => Direction::default_of(&column),
        };
        Ok(Order { column, direction })
    }

    fn whole_number(&mut self) -> Result<usize, QueryError> {
        match *self.peek() {
            Token::Number(value, Unit::None) if value.fract() == 0.0 && value >= 1.0 => {
                self.take();
                Ok(value as usize)
            }
            _ => Err(self.unexpected("how many rows, such as 20")),
        }
    }
}

impl Direction {
    /// Numbers begin with the greatest; texts and `start` with the smallest.
    fn default_of(column: &str) -> Direction {
        match Field::named(column) {
            Some(field) if field.sort() == Sort::Text || field == Field::Start => {
                Direction::Ascending
            }
            Some(_) | None => Direction::Descending,
        }
    }
}

fn function(name: &str) -> Option<Function> {
    Some(match name {
        "count" => Function::Count,
        "sum" => Function::Sum,
        "mean" | "avg" => Function::Mean,
        "min" => Function::Min,
        "max" => Function::Max,
        "stddev" => Function::Deviation,
        "median" => Function::Percentile(50.0),
        _ => {
            let part: f64 = name.strip_prefix('p')?.parse().ok()?;
            Function::Percentile((0.0..=100.0).contains(&part).then_some(part)?)
        }
    })
}

/// The message about an unknown name, with one that may have been meant.
fn unknown(word: &str) -> String {
    let names = || FIELDS.iter().map(|(name, ..)| *name);
    let near = names().min_by_key(|name| distance(name, word));
    match near.filter(|name| distance(name, word) <= 2) {
        Some(name) => format!("there is no {word}: did you mean {name}?"),
        None => format!(
            "there is no {word}: choose one of {}",
            names().collect::<Vec<_>>().join(", ")
        ),
    }
}

/// The edit distance between two texts.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (n, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = n + 1;
        for (m, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != *y);
            diagonal = row[m + 1];
            row[m + 1] = change.min(diagonal + 1).min(row[m] + 1);
        }
    }
    row[b.len()]
}
