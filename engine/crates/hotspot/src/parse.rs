//! Parses rules.
//!
//! By hand: the grammar is four lines, errors must name the place and what to write, and the crate is linked into agents inside other
//! people's programs, which keeps it free of dependencies.
//!
//! ```text
//! rule  = cost ">=" amount [ "after" NUMBER [ "executions" ] ]
//! cost  = term { "+" term }
//! term  = [ "inherent" | "cumulative" ] [ NUMBER "*" ] ( "wall" | "cpu" | "allocation" | "contention" )
//! amount = NUMBER ( "ns" | "us" | "ms" | "s" | "B" | "KiB" | "MiB" )
//! ```
//! A term without a scope has the scope of the term before it; the first one is *inherent*. The default for `after` is 1000.

use std::fmt;

use crate::rule::{CostScope, Meter, Rule, Term};
use crate::units::{Quantity, UNITS};

/// What is wrong with a rule. `Display` says where, and what to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    /// The position of the character in the rule, from 1.
    pub at: usize,
    /// The text there. Empty at the end.
    pub found: String,
    /// What was expected.
    pub expected: &'static str,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RuleError {
            at,
            found,
            expected,
        } = self;
        match &**found {
            "" => write!(f, "at the rule's end {expected} is missing"),
            found => write!(f, "at character {at}, {found:?} is not {expected}"),
        }?;
        f.write_str("; a rule is written like \"inherent wall >= 50us after 1000\"")
    }
}

impl std::error::Error for RuleError {}

const TIME: &str = "a time such as 50us (ns, us, ms, s)";
const SIZE: &str = "a size such as 64KiB (B, KiB, MiB), because the cost is memory";
const COST: &str =
    "a meter (wall, cpu, allocation, contention), a number with *, inherent, or cumulative";
const WEIGHT: &str =
    "a weight in nanoseconds a byte, such as \"0.5 * allocation\": memory is added to a time here";

impl Rule {
    /// Reads a rule.
    pub fn parse(text: &str) -> Result<Rule, RuleError> {
        let mut words = Words::of(text);
        let mut terms = Vec::new();
        let mut scope = CostScope::Inherent;
        // Allocation without a weight, which must not be added to a time.
        let mut unweighted = None;
        loop {
            scope = words.scope().unwrap_or(scope);
            let mut weight = None;
            if words.peek().is_number() {
                let number = words.next();
                weight = Some(number.positive().ok_or(number.error("a weight above 0"))?);
                words.expect("*", "* between a weight and its meter")?;
            }
            let word = words.next();
            let found = Meter::NAMES.iter().find(|(name, _)| *name == word.text);
            let (_, meter) = *found.ok_or(word.error(COST))?;
            if meter == Meter::Allocation && weight.is_none() {
                unweighted = Some(word);
            }
            terms.push(Term {
                meter,
                scope,
                weight: weight.unwrap_or(1.0),
            });
            if words.peek().text != "+" {
                break;
            }
            words.next();
        }
        match words.peek().text {
            ">=" | "≥" => words.next(),
            _ => return Err(words.peek().error(">= or +")),
        };
        let mut rule = Rule {
            terms,
            threshold: 0.0,
            after: 1000,
        };
        if let Some(word) = unweighted.filter(|_| !rule.in_bytes()) {
            return Err(word.error(WEIGHT));
        }
        rule.threshold = words.amount(rule.quantity())?;
        if words.peek().text == "after" {
            words.next();
            let number = words.next();
            let executions = number.text.parse().ok().filter(|it| *it > 0);
            rule.after = executions.ok_or(number.error("a number of executions such as 1000"))?;
            if matches!(words.peek().text, "executions" | "execution" | "calls") {
                words.next();
            }
        }
        let rest = words.next();
        match rest.text {
            "" => Ok(rule),
            _ => Err(rest.error("after and a number of executions")),
        }
    }
}

/// A word of a rule and where it is.
#[derive(Clone, Copy)]
struct Word<'a> {
    at: usize,
    text: &'a str,
}

impl Word<'_> {
    fn is_number(&self) -> bool {
        self.text
            .starts_with(|c: char| c.is_ascii_digit() || c == '.')
    }

    fn positive(&self) -> Option<f64> {
        let number = self.text.parse::<f64>().ok();
        number.filter(|it| it.is_finite() && *it > 0.0)
    }

    fn error(&self, expected: &'static str) -> RuleError {
        RuleError {
            at: self.at,
            found: self.text.to_owned(),
            expected,
        }
    }
}

struct Words<'a> {
    words: std::iter::Peekable<std::vec::IntoIter<Word<'a>>>,
    end: usize,
}

impl<'a> Words<'a> {
    /// Splits a text into names, numbers and single characters; `>=` is one word.
    fn of(text: &'a str) -> Words<'a> {
        let mut words = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let number = |c: char| c.is_ascii_digit() || c == '.';
            let name = |c: char| c.is_alphabetic() || c == '_';
            let length = |of: &dyn Fn(char) -> bool| rest.find(|c| !of(c)).unwrap_or(rest.len());
            let length = match first {
                first if number(first) => length(&number),
                first if name(first) => length(&name),
                '>' if rest.starts_with(">=") => 2,
                first => first.len_utf8(),
            };
            let (word, behind) = rest.split_at(length);
            if !first.is_whitespace() {
                let before = &text[..text.len() - rest.len()];
                words.push(Word {
                    at: before.chars().count() + 1,
                    text: word,
                });
            }
            rest = behind;
        }
        Words {
            words: words.into_iter().peekable(),
            end: text.chars().count() + 1,
        }
    }

    /// The next word, or an empty one at the end.
    fn peek(&mut self) -> Word<'a> {
        let end = Word {
            at: self.end,
            text: "",
        };
        self.words.peek().copied().unwrap_or(end)
    }

    fn next(&mut self) -> Word<'a> {
        let word = self.peek();
        self.words.next();
        word
    }

    /// Reads a scope, if there is one.
    fn scope(&mut self) -> Option<CostScope> {
        let scope = match self.peek().text {
            "inherent" | "self" => CostScope::Inherent,
            "cumulative" | "total" => CostScope::Cumulative,
            _ => return None,
        };
        self.next();
        Some(scope)
    }

    fn expect(&mut self, text: &str, expected: &'static str) -> Result<(), RuleError> {
        let word = self.next();
        match word.text == text {
            true => Ok(()),
            false => Err(word.error(expected)),
        }
    }

    fn amount(&mut self, quantity: Quantity) -> Result<f64, RuleError> {
        let expected = match quantity {
            Quantity::Time => TIME,
            Quantity::Size => SIZE,
        };
        let number = self.next();
        let amount = number.positive().ok_or(number.error(expected))?;
        let unit = self.next();
        let known = UNITS
            .iter()
            .find(|(name, _, of)| *name == unit.text && *of == quantity);
        let (_, scale, _) = known.ok_or(unit.error(expected))?;
        Ok(amount * scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_written_as_they_are_read() {
        for (text, expect) in [
            ("inherent wall >= 50us after 1000", ""),
            ("wall≥50µs", "inherent wall >= 50us after 1000"),
            (
                "self cpu >= 1.5 ms after 20 executions",
                "inherent cpu >= 1500us after 20",
            ),
            (
                "total allocation >= 64KiB after 1",
                "cumulative allocation >= 64KiB after 1",
            ),
            (
                "cumulative contention >= 2s",
                "cumulative contention >= 2s after 1000",
            ),
            ("inherent wall + 0.5 * allocation >= 10us after 100", ""),
            (
                "2*cpu+cumulative wall+contention >= 0.25ns",
                "inherent 2 * cpu + cumulative wall + contention >= 0.25ns after 1000",
            ),
        ] {
            let rule = Rule::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let expect = if expect.is_empty() { text } else { expect };
            assert_eq!(rule.to_string(), expect);
            assert_eq!(Rule::parse(expect).as_ref(), Ok(&rule));
        }
        assert_eq!(Rule::parse("wall >= 50us"), Ok(Rule::default()));
    }

    #[test]
    fn errors_say_where_and_what_is_expected() {
        for (text, at, expected) in [
            ("", 1, "a meter"),
            ("inherent", 9, "a meter"),
            ("inherent time >= 5us", 10, "a meter"),
            ("wall > 5us", 6, ">= or +"),
            ("wall >= 5", 10, "a time such as"),
            ("wall >= 5KiB", 10, "a time such as"),
            ("allocation >= 5us", 16, "a size such as"),
            ("wall >= 0us", 9, "a time such as"),
            ("wall >= us", 9, "a time such as"),
            (
                "wall + allocation >= 5us",
                8,
                "a weight in nanoseconds a byte",
            ),
            ("3 wall >= 5us", 3, "* between"),
            ("0 * wall >= 5us", 1, "a weight above 0"),
            ("1..2 * wall >= 5us", 1, "a weight above 0"),
            ("wall >= 5us after", 18, "a number of executions"),
            ("wall >= 5us after 0", 19, "a number of executions"),
            ("wall >= 5us often", 13, "after and a number"),
            ("µ >= 5us", 1, "a meter"),
        ] {
            let error = Rule::parse(text).unwrap_err();
            assert_eq!(error.at, at, "{text}: {error}");
            assert!(error.to_string().contains(expected), "{text}: {error}");
        }
        let error = Rule::parse("wall >= 5 min").unwrap_err().to_string();
        let expect = "at character 11, \"min\" is not a time such as 50us (ns, us, ms, s); a rule is written like \
                      \"inherent wall >= 50us after 1000\"";
        assert_eq!(error, expect);
    }
}
