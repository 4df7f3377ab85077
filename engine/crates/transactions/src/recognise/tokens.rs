//! The words of an SQL statement, as PostgreSQL and MySQL write them: strings and comments must not be taken for names.

/// Whose SQL it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// PostgreSQL's.
    Postgres,
    /// MySQL's and MariaDB's.
    MySql,
}

#[derive(Clone, Copy)]
pub(super) enum Token<'a> {
    Word(&'a [u8]),
    /// A name in quotes.
    Quoted(&'a [u8]),
    Open,
    Close,
    Dot,
    Other,
}

impl Token<'_> {
    /// A word in capital letters.
    pub(crate) fn keyword(self) -> Option<String> {
        match self {
            Token::Word(word) => Some(str::from_utf8(word).ok()?.to_ascii_uppercase()),
            _ => None,
        }
    }

    /// A name. `None` for what cannot be shown on a line.
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

    /// Skips to behind the next `end`; to the end of the text when there is none.
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

    /// What is between the quotes at the beginning. A quote that is written twice ends one and begins another.
    fn quoted(&mut self, backslashes: bool) -> &'a [u8] {
        let (quote, inner) = (self.rest[0], &self.rest[1..]);
        let mut length = 0;
        while let Some(&byte) = inner.get(length)
            && byte != quote
        {
            length += 1 + usize::from(backslashes && byte == b'\\');
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

    /// `None` at the end of the text, and at a zero byte, which ends it on the wire.
    fn next(&mut self) -> Option<Token<'a>> {
        self.skip_space_and_comments();
        let is_mysql = self.dialect == Dialect::MySql;
        match self.rest {
            [] | [0, ..] => return None,
            [b'\'', ..] => {
                self.quoted(is_mysql);
                return Some(Token::Other);
            }
            [b'E' | b'e', b'\'', ..] if !is_mysql => {
                self.rest = &self.rest[1..];
                self.quoted(true);
                return Some(Token::Other);
            }
            [b'"', ..] if is_mysql => {
                self.quoted(true);
                return Some(Token::Other);
            }
            [b'"' | b'`', ..] => return Some(Token::Quoted(self.quoted(false))),
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
