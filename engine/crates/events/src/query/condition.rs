//! Conditions of a query.

use std::cell::RefCell;
use std::collections::HashMap;

use regex::Regex;

use super::field::{Field, Subject, method_of};

/// A condition on a row.
#[derive(Debug)]
pub struct Condition(pub(super) Test);

#[derive(Debug)]
pub(super) enum Test {
    All(Vec<Test>),
    Any(Vec<Test>),
    Not(Box<Test>),
    Number {
        field: Field,
        is: Comparison,
        value: f64,
    },
    Text {
        field: Field,
        matcher: Matcher,
        /// A cache by the text's key.
        known: RefCell<HashMap<u64, bool>>,
    },
}

/// How a number is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
}

/// How a text is matched.
#[derive(Debug)]
pub(super) enum Matcher {
    /// Any of these patterns matches, in which `*` stands for any text.
    OneOf(Vec<String>),
    /// A regular expression matches somewhere.
    Regex(Regex),
}

impl Condition {
    pub(crate) fn holds(&self, subject: &Subject<'_>) -> bool {
        self.0.holds(subject)
    }
}

impl Test {
    /// Whether a row satisfies the condition. A field that the row does not have satisfies nothing.
    fn holds(&self, subject: &Subject<'_>) -> bool {
        match self {
            Test::All(parts) => parts.iter().all(|it| it.holds(subject)),
            Test::Any(parts) => parts.iter().any(|it| it.holds(subject)),
            Test::Not(part) => !part.holds(subject),
            Test::Number { field, is, value } => subject
                .number(*field)
                .is_some_and(|number| is.holds(number as f64, *value)),
            Test::Text {
                field: Field::Inside,
                matcher,
                known,
            } => {
                let mut known = known.borrow_mut();
                subject.above.iter().filter_map(method_of).any(|key| {
                    *known
                        .entry(key)
                        .or_insert_with(|| matcher.matches(&subject.text(Field::Inside, key)))
                })
            }
            Test::Text {
                field,
                matcher,
                known,
            } => match subject.key(*field) {
                Some(key) => *known
                    .borrow_mut()
                    .entry(key)
                    .or_insert_with(|| matcher.matches(&subject.text(*field, key))),
                None => {
                    let text = subject.own_text(*field);
                    text.is_some_and(|it| matcher.matches(&it))
                }
            },
        }
    }
}

impl Comparison {
    fn holds(self, a: f64, b: f64) -> bool {
        match self {
            Comparison::Equal => a == b,
            Comparison::Unequal => a != b,
            Comparison::Less => a < b,
            Comparison::AtMost => a <= b,
            Comparison::More => a > b,
            Comparison::AtLeast => a >= b,
        }
    }
}

impl Matcher {
    fn matches(&self, text: &str) -> bool {
        match self {
            Matcher::OneOf(patterns) => patterns.iter().any(|it| crate::matches(it, text)),
            Matcher::Regex(regex) => regex.is_match(text),
        }
    }
}
