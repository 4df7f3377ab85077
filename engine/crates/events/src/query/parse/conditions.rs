//! Parses conditions: comparisons, combined by `and`, `or` and `not`.

use std::cell::RefCell;
use std::collections::HashMap;

use regex::Regex;

use super::super::QueryError;
use super::super::condition::{Comparison, Matcher, Test};
use super::super::field::{Field, RowKind, Sort};
use super::super::lex::{Token, Unit};
use super::{KEYWORDS, Parser, unknown};

impl Parser<'_> {
    pub(super) fn optional_condition(&mut self) -> Result<Test, QueryError> {
        let said = self.keyword("where");
        let clause = match self.peek() {
            Token::Word(word) => {
                ["group", "select", "order", "limit"]
                    .iter()
                    .any(|it| word.eq_ignore_ascii_case(it))
                    && !matches!(self.tokens.get(self.next + 1), Some((Token::Symbol(symbol), _)) if "=!=~".contains(symbol))
            }
            Token::End => true,
            _ => false,
        };
        match clause && !said {
            true => Ok(Test::All(Vec::new())),
            false => self.any(0),
        }
    }

    fn any(&mut self, depth: u32) -> Result<Test, QueryError> {
        let mut parts = vec![self.all(depth)?];
        while self.keyword("or") {
            parts.push(self.all(depth)?);
        }
        Ok(match parts.len() {
            1 => parts.remove(0),
            _ => Test::Any(parts),
        })
    }

    fn all(&mut self, depth: u32) -> Result<Test, QueryError> {
        let mut parts = vec![self.one(depth)?];
        while self.keyword("and") {
            parts.push(self.one(depth)?);
        }
        Ok(match parts.len() {
            1 => parts.remove(0),
            _ => Test::All(parts),
        })
    }

    fn one(&mut self, depth: u32) -> Result<Test, QueryError> {
        if depth > 100 {
            return Err(self.error(self.at(), "this is nested too deeply"));
        }
        if self.keyword("not") {
            return Ok(Test::Not(Box::new(self.one(depth + 1)?)));
        }
        if self.symbol("(") {
            let inner = self.any(depth + 1)?;
            self.expect_symbol(")")?;
            return Ok(inner);
        }
        let field = self.field("a condition")?;
        match field.sort() {
            Sort::Text => self.text_condition(field),
            _ => self.number_condition(field),
        }
    }

    pub(super) fn field(&mut self, what: &str) -> Result<Field, QueryError> {
        let at = self.at();
        let Token::Word(word) = self.peek().clone() else {
            return Err(self.unexpected(what));
        };
        let Some(field) = Field::named(&word) else {
            return Err(
                match KEYWORDS.contains(&word.to_ascii_lowercase().as_str()) {
                    true => self.unexpected(what),
                    false => self.error(at, unknown(&word)),
                },
            );
        };
        self.take();
        Ok(field)
    }

    fn text_condition(&mut self, field: Field) -> Result<Test, QueryError> {
        let negative = matches!(self.peek(), Token::Symbol("!=" | "!~"));
        let matcher = match self.peek() {
            Token::Symbol("=" | "==" | "!=") => {
                self.take();
                Matcher::OneOf(vec![self.text(field)?])
            }
            Token::Symbol("~" | "!~") => {
                self.take();
                let at = self.at();
                let text = self.text(field)?;
                let regex = Regex::new(&text).map_err(|error| {
                    let error = error.to_string();
                    let why = error
                        .lines()
                        .last()
                        .unwrap_or("")
                        .trim_start_matches("error: ");
                    self.error(at, format!("this is not a regular expression: {why}"))
                })?;
                Matcher::Regex(regex)
            }
            Token::Word(word) if word.eq_ignore_ascii_case("in") => {
                self.take();
                self.expect_symbol("(")?;
                let list = self.list(|it| it.text(field))?;
                self.expect_symbol(")")?;
                Matcher::OneOf(list)
            }
            _ => {
                let name = field.name();
                return Err(self.unexpected(&format!("=, !=, ~, !~ or in: {name} is a text")));
            }
        };
        let condition = Test::Text {
            field,
            matcher,
            known: RefCell::new(HashMap::new()),
        };
        Ok(match negative {
            true => Test::Not(Box::new(condition)),
            false => condition,
        })
    }

    fn text(&mut self, field: Field) -> Result<String, QueryError> {
        let at = self.at();
        let text = match self.peek() {
            Token::Text(text) | Token::Word(text) => text.clone(),
            Token::Number(..) | Token::Symbol("*") | Token::Symbol(_) | Token::End => {
                return Err(self.unexpected("a text in quotes"));
            }
        };
        self.take();
        let known: &[&str] = match field {
            Field::Kind => RowKind::names(),
            Field::Ended => &["returned", "thrown", "open", "lost"],
            _ => return Ok(text),
        };
        match text.contains(['*', '.', '|', '^', '$']) || known.contains(&text.as_str()) {
            true => Ok(text),
            false => Err(self.error(
                at,
                format!("{} is one of {}", field.name(), known.join(", ")),
            )),
        }
    }

    fn number_condition(&mut self, field: Field) -> Result<Test, QueryError> {
        let is = match self.peek() {
            Token::Symbol("=" | "==") => Comparison::Equal,
            Token::Symbol("!=") => Comparison::Unequal,
            Token::Symbol("<") => Comparison::Less,
            Token::Symbol("<=") => Comparison::AtMost,
            Token::Symbol(">") => Comparison::More,
            Token::Symbol(">=") => Comparison::AtLeast,
            _ => {
                let name = field.name();
                return Err(self.unexpected(&format!("=, !=, <, <=, > or >=: {name} is a number")));
            }
        };
        self.take();
        let at = self.at();
        let Token::Number(value, unit) = *self.peek() else {
            let what = match field.sort() {
                Sort::Time => "a time such as 1ms",
                Sort::Bytes => "a size such as 4kB",
                _ => "a number",
            };
            return Err(self.unexpected(what));
        };
        self.take();
        match (field.sort(), unit) {
            (Sort::Time, Unit::Time)
            | (Sort::Bytes, Unit::Bytes | Unit::None)
            | (Sort::Number, Unit::None) => {}
            (Sort::Time, Unit::None) if value == 0.0 => {}
            (Sort::Time, _) => {
                return Err(self.error(
                    at,
                    format!("{} is a time: give it a unit, as in 1ms", field.name()),
                ));
            }
            _ => return Err(self.error(at, format!("{} has another unit", field.name()))),
        }
        Ok(Test::Number { field, is, value })
    }
}
