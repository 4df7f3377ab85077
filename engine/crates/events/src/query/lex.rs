//! Splits a query into tokens with positions.

use super::QueryError;

/// A token of a query.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// A name or keyword: letters, digits, `_` and `.`, beginning with a letter.
    Word(String),
    /// A text in quotes.
    Text(String),
    /// A number: in nanoseconds or bytes if it has a unit.
    Number(f64, Unit),
    Symbol(&'static str),
    End,
}

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    None,
    Time,
    Bytes,
}

const SYMBOLS: [&str; 14] = [
    "!=", "!~", "<=", ">=", "==", "=", "~", "<", ">", "(", ")", ",", "*", "-",
];

/// The tokens with their byte offsets. The last is [`Token::End`].
pub(crate) fn lex(query: &str) -> Result<Vec<(Token, usize)>, QueryError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = query[at..].chars().next() {
        let rest = &query[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (token, length) = if first == '"' || first == '\'' {
            text(query, at, first)?
        } else if first.is_ascii_digit() {
            number(query, at)?
        } else if first.is_alphabetic() || first == '_' {
            let length = span(rest, |c| c.is_alphanumeric() || "_.".contains(c));
            (Token::Word(rest[..length].to_owned()), length)
        } else if let Some(symbol) = SYMBOLS.iter().find(|it| rest.starts_with(**it)) {
            (Token::Symbol(symbol), symbol.len())
        } else {
            return Err(QueryError::new(
                query,
                at,
                format!("{first:?} means nothing here"),
            ));
        };
        tokens.push((token, at));
        at += length;
    }
    tokens.push((Token::End, query.len()));
    Ok(tokens)
}

fn span(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

/// Reads a text in quotes. A backslash only escapes a quote, because regular expressions have escapes of their own.
fn text(query: &str, at: usize, quote: char) -> Result<(Token, usize), QueryError> {
    let mut content = String::new();
    let mut chars = query[at + 1..].char_indices().peekable();
    while let Some((offset, c)) = chars.next() {
        match c {
            '\\' if chars.peek().is_some_and(|(_, next)| *next == quote) => {
                content.push(quote);
                chars.next();
            }
            _ if c == quote => return Ok((Token::Text(content), offset + 2)),
            _ => content.push(c),
        }
    }
    Err(QueryError::new(
        query,
        at,
        format!("the text that begins here has no closing {quote}"),
    ))
}

fn number(query: &str, at: usize) -> Result<(Token, usize), QueryError> {
    let rest = &query[at..];
    let digits = span(rest, |c| c.is_ascii_digit() || c == '.' || c == '_');
    let unit = span(&rest[digits..], char::is_alphabetic);
    let error = |message: String| QueryError::new(query, at, message);
    let value: f64 = rest[..digits]
        .replace('_', "")
        .parse()
        .map_err(|_| error(format!("{:?} is no number", &rest[..digits])))?;
    let name = &rest[digits..digits + unit];
    let (scale, kind) = match name {
        "" => (1.0, Unit::None),
        "ns" => (1.0, Unit::Time),
        "us" | "µs" | "μs" => (1e3, Unit::Time),
        "ms" => (1e6, Unit::Time),
        "s" => (1e9, Unit::Time),
        "min" => (60e9, Unit::Time),
        "B" => (1.0, Unit::Bytes),
        "kB" | "KB" | "k" | "K" => (1024.0, Unit::Bytes),
        "MB" | "M" => (1024.0 * 1024.0, Unit::Bytes),
        "GB" | "G" => (1024.0 * 1024.0 * 1024.0, Unit::Bytes),
        _ => {
            return Err(error(format!(
                "{name:?} is no unit: use ns, us, ms, s, min, B, kB, MB or GB"
            )));
        }
    };
    Ok((Token::Number(value * scale, kind), digits + unit))
}
