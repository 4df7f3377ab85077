//! The tokens of an SQL statement, as PostgreSQL and MySQL define them. Strings and comments must not be mistaken for
//! names.
//!
//! Written by hand: `sqlparser` needs whole statements, and its tokenizer rejects one that is cut off within a string.
//! Here the first bytes of a message must do.

/// How quoted text escapes its quotes, besides by doubling them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    /// In no other way.
    None,
    /// With backslashes.
    Backslash,
}

/// The SQL dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// PostgreSQL.
    Postgres,
    /// MySQL and MariaDB.
    MySql,
}

#[derive(Clone, Copy)]
pub(super) enum Token<'a> {
    Word(&'a [u8]),
    /// A quoted name.
    Quoted(&'a [u8]),
    Open,
    Close,
    Dot,
    Other,
}

impl Token<'_> {
    /// The word in capitals, if this is a word.
    pub(crate) fn keyword(self) -> Option<String> {
        match self {
            Token::Word(word) => Some(str::from_utf8(word).ok()?.to_ascii_uppercase()),
            _ => None,
        }
    }

    /// The token as a name, or `None` if it cannot be shown on one line.
    pub(crate) fn name(self) -> Option<String> {
        let (Token::Word(name) | Token::Quoted(name)) = self else {
            return None;
        };
        let name = String::from_utf8_lossy(name);
        (!name.contains(char::is_control)).then(|| name.into_owned())
    }
}

#[derive(Clone)]
pub(super) struct Tokens<'a> {
    dialect: Dialect,
    rest: &'a [u8],
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(dialect: Dialect, text: &'a [u8]) -> Self {
        Tokens {
            dialect,
            rest: text,
        }
    }

    /// Skips past the next `end`, or to the end of the text if there is none.
    fn skip_past(&mut self, end: &[u8]) {
        let at = self.rest.windows(end.len()).position(|it| it == end);
        self.rest = at.map_or(&[], |at| &self.rest[at + end.len()..]);
    }

    fn skip_space_and_comments(&mut self) {
        loop {
            self.rest = self.rest.trim_ascii_start();
            match (self.dialect, self.rest) {
                (_, [b'/', b'*', ..]) => self.skip_past(b"*/"),
                (_, [b'-', b'-', ..]) | (Dialect::MySql, [b'#', ..]) => self.skip_past(b"\n"),
                _ => return,
            }
        }
    }

    /// Takes the quoted text at the start. A doubled quote ends one text and starts another.
    fn quoted(&mut self, escapes: Escapes) -> &'a [u8] {
        let (quote, inner) = (self.rest[0], &self.rest[1..]);
        let mut length = 0;
        while let Some(&byte) = inner.get(length)
            && byte != quote
        {
            length += 1 + usize::from(escapes == Escapes::Backslash && byte == b'\\');
        }
        self.rest = inner.get(length + 1..).unwrap_or_default();
        &inner[..length.min(inner.len())]
    }

    /// Skips `$tag$ … $tag$`, or a parameter.
    fn skip_dollars(&mut self) {
        let tag = self.rest[1..]
            .iter()
            .position(|it| !it.is_ascii_alphabetic());
        match tag.map(|length| self.rest.split_at(length + 1)) {
            Some((tag, [b'$', inner @ ..])) => {
                self.rest = inner;
                self.skip_past(&[tag, b"$"].concat());
            }
            _ => self.rest = &self.rest[1..],
        }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    /// Returns `None` at the end of the text, or at the zero byte that ends it on the wire.
    fn next(&mut self) -> Option<Token<'a>> {
        self.skip_space_and_comments();
        let is_mysql = self.dialect == Dialect::MySql;
        let escapes = match self.dialect {
            Dialect::MySql => Escapes::Backslash,
            Dialect::Postgres => Escapes::None,
        };
        match self.rest {
            [] | [0, ..] => return None,
            [b'\'', ..] => {
                self.quoted(escapes);
                return Some(Token::Other);
            }
            [b'E' | b'e', b'\'', ..] if !is_mysql => {
                self.rest = &self.rest[1..];
                self.quoted(Escapes::Backslash);
                return Some(Token::Other);
            }
            [b'"', ..] if is_mysql => {
                self.quoted(Escapes::Backslash);
                return Some(Token::Other);
            }
            [b'"' | b'`', ..] => return Some(Token::Quoted(self.quoted(Escapes::None))),
            [b'$', ..] if !is_mysql => {
                self.skip_dollars();
                return Some(Token::Other);
            }
            _ => {}
        }
        let in_word = |it: &u8| it.is_ascii_alphanumeric() || b"_$@".contains(it) || *it >= 0x80;
        let length = self.rest.iter().take_while(|it| in_word(it)).count();
        let (token, rest) = self.rest.split_at(length.max(1));
        self.rest = rest;
        Some(match token {
            b"(" => Token::Open,
            b")" => Token::Close,
            b"." => Token::Dot,
            [first, ..] if length == 0 || first.is_ascii_digit() => Token::Other,
            word => Token::Word(word),
        })
    }
}
