//! Call trees in JSON in which each call is nested in its caller, read without recursion.
//!
//! Libraries: serde_json stops at 128 levels, and programs' stacks are deeper. serde_stacker would lift the limit by
//! growing the thread's stack; here a level costs one entry of a vector.
//!
//! The text must be valid JSON. The callers have parsed the rest of the file with serde before, and values that serde ignores
//! may be nested to any depth.

use std::borrow::Cow;

use memchr::memchr2;

use crate::decode::fault::Fault;
use crate::decode::input::Input;

/// Calls between two progress reports.
const PROGRESS_STEP: usize = 1 << 12;

/// A value that is neither an object nor an array.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scalar<'a> {
    Text(Cow<'a, str>),
    Number(f64),
    /// `true`, `false` and `null`.
    Other,
}

impl<'a> Scalar<'a> {
    /// The text, empty for anything else.
    pub(crate) fn text(self) -> Cow<'a, str> {
        match self {
            Scalar::Text(text) => text,
            Scalar::Number(_) | Scalar::Other => "".into(),
        }
    }

    /// The number, 0 for anything else.
    pub(crate) fn number(&self) -> f64 {
        match self {
            Scalar::Number(number) => *number,
            Scalar::Text(_) | Scalar::Other => 0.0,
        }
    }
}

/// What a reader keeps of one call.
pub(crate) trait Call<'a>: Default {
    /// The key of the callees.
    const CHILDREN: &'static str;

    /// Takes a value of the call's object, or of an object inside it that is not a call.
    fn set(&mut self, key: &str, value: Scalar<'a>);
}

/// A call in its tree.
#[derive(Debug)]
pub(crate) struct Nested<C> {
    pub(crate) call: C,
    /// The row of the caller, which comes before this one.
    pub(crate) parent: Option<u32>,
    /// The byte of the text where the call begins.
    at: usize,
}

impl<C> Nested<C> {
    /// Sets this call's line as the place of a fault.
    pub(crate) fn at(&self, input: &Input, fault: Fault) -> Fault {
        fault.at_line(line(input.text(), self.at))
    }
}

/// All calls of the tree that the outermost object has under `root`, callers first.
pub(crate) fn read<'a, C: Call<'a>>(
    input: &'a Input,
    root: &'static str,
) -> Result<Vec<Nested<C>>, Fault> {
    let mut walk = Walk {
        input,
        root,
        tokens: Tokens {
            text: input.text(),
            at: 0,
        },
        open: Vec::new(),
        calls: Vec::new(),
    };
    while let Some(token) = walk.tokens.next() {
        walk.token(token)?;
    }
    if walk.calls.is_empty() {
        let problem = format!("expected a call under the key {root:?}");
        return Err(Fault::whole(problem));
    }
    Ok(walk.calls)
}

/// The walk through a text.
struct Walk<'a, 'i, C> {
    input: &'a Input<'i>,
    root: &'static str,
    tokens: Tokens<'a>,
    /// Open brackets, outermost first.
    open: Vec<Level<'a>>,
    calls: Vec<Nested<C>>,
}

impl<'a, C: Call<'a>> Walk<'a, '_, C> {
    fn token(&mut self, token: Token<'a>) -> Result<(), Fault> {
        let Some(level) = self.open.last() else {
            return match token {
                Token::Open { array: false } => {
                    self.open.push(Level::new(Bracket::Outermost));
                    Ok(())
                }
                _ => Err(self.fault("expected an object")),
            };
        };
        match token {
            Token::Close => {
                self.open.pop();
                self.value_ended();
            }
            Token::Text(text) if level.bracket.is_object() && level.key.is_none() => {
                let key = self.decode(text)?;
                if let Some(level) = self.open.last_mut() {
                    level.key = Some(key);
                }
            }
            Token::Open { array } => self.opened(array)?,
            Token::Text(text) => {
                let text = self.decode(text)?;
                self.scalar(Scalar::Text(text));
            }
            Token::Bare(word) => {
                self.scalar(word.parse().map_or(Scalar::Other, Scalar::Number));
            }
        }
        Ok(())
    }

    /// A bracket opens: enters calls and their parts, and skips everything else.
    fn opened(&mut self, array: bool) -> Result<(), Fault> {
        let Some(level) = self.open.last() else {
            return Ok(());
        };
        let key = level.key.as_deref().unwrap_or_default();
        let inside = match (level.bracket, array) {
            (Bracket::Outermost, false) if key == self.root => Bracket::Call(self.begin(None)?),
            (Bracket::Call(row), true) if key == C::CHILDREN => Bracket::Children(row),
            (Bracket::Children(row), false) => Bracket::Call(self.begin(Some(row))?),
            (Bracket::Call(row), false) => Bracket::Part(row),
            _ => {
                self.tokens.skip();
                self.value_ended();
                return Ok(());
            }
        };
        self.open.push(Level::new(inside));
        Ok(())
    }

    fn scalar(&mut self, value: Scalar<'a>) {
        if let Some(level) = self.open.last()
            && let Bracket::Call(row) | Bracket::Part(row) = level.bracket
        {
            let key = level.key.as_deref().unwrap_or_default();
            self.calls[row as usize].call.set(key, value);
        }
        self.value_ended();
    }

    /// A value has ended: the next text in an object is a key.
    fn value_ended(&mut self) {
        if let Some(level) = self.open.last_mut() {
            level.key = None;
        }
    }

    fn begin(&mut self, parent: Option<u32>) -> Result<u32, Fault> {
        let (at, row) = (self.tokens.at, self.calls.len());
        if row.is_multiple_of(PROGRESS_STEP) {
            let done = at as f64 / self.tokens.text.len() as f64;
            self.input.progress.at(done)?;
        }
        let row = u32::try_from(row).map_err(|_| self.fault("the tree has too many calls"))?;
        self.calls.push(Nested {
            call: C::default(),
            parent,
            at,
        });
        Ok(row)
    }

    fn fault(&self, problem: &str) -> Fault {
        Fault::line(line(self.tokens.text, self.tokens.at), problem)
    }

    /// Decodes the escapes of a JSON text.
    fn decode(&self, text: &'a str) -> Result<Cow<'a, str>, Fault> {
        match text.contains('\\') {
            false => Ok(Cow::Borrowed(text)),
            true => serde_json::from_str(&format!("\"{text}\""))
                .map(Cow::Owned)
                .map_err(|_| self.fault("a text has half a surrogate pair")),
        }
    }
}

/// What an open bracket belongs to.
#[derive(Clone, Copy)]
enum Bracket {
    Outermost,
    Call(u32),
    /// An object inside a call.
    Part(u32),
    /// The array of a call's callees.
    Children(u32),
}

impl Bracket {
    fn is_object(self) -> bool {
        !matches!(self, Bracket::Children(_))
    }
}

struct Level<'a> {
    bracket: Bracket,
    /// The key of the next value of an object.
    key: Option<Cow<'a, str>>,
}

impl Level<'_> {
    fn new(bracket: Bracket) -> Self {
        Level { bracket, key: None }
    }
}

#[derive(Clone, Copy)]
enum Token<'a> {
    Open {
        array: bool,
    },
    Close,
    /// Without the quotes, not yet decoded.
    Text(&'a str),
    /// A number, `true`, `false` or `null`.
    Bare(&'a str),
}

struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    fn next(&mut self) -> Option<Token<'a>> {
        let bytes = self.text.as_bytes();
        while bytes
            .get(self.at)
            .is_some_and(|byte| b" \t\r\n,:".contains(byte))
        {
            self.at += 1;
        }
        let from = self.at;
        self.at += 1;
        Some(match bytes.get(from)? {
            b'{' => Token::Open { array: false },
            b'[' => Token::Open { array: true },
            b'}' | b']' => Token::Close,
            b'"' => {
                while let Some(found) =
                    memchr2(b'"', b'\\', bytes.get(self.at..).unwrap_or_default())
                {
                    self.at += found;
                    if bytes[self.at] == b'"' {
                        break;
                    }
                    // The escaped character may be a quote.
                    self.at += 2;
                }
                let text = self.text.get(from + 1..self.at)?;
                self.at += 1;
                Token::Text(text)
            }
            _ => {
                let rest = &bytes[from..];
                let end = rest.iter().position(|byte| b" \t\r\n,:]}".contains(byte));
                self.at = from + end.unwrap_or(rest.len());
                Token::Bare(self.text.get(from..self.at)?)
            }
        })
    }

    /// Skips to the end of the object or array that was just opened.
    fn skip(&mut self) {
        let mut depth = 1_u64;
        while depth > 0 {
            match self.next() {
                Some(Token::Open { .. }) => depth += 1,
                Some(Token::Close) => depth -= 1,
                Some(Token::Text(_) | Token::Bare(_)) => {}
                None => return,
            }
        }
    }
}

/// The 1-based line of a byte.
fn line(text: &str, at: usize) -> usize {
    let before = &text.as_bytes()[..at.min(text.len())];
    1 + memchr::memchr_iter(b'\n', before).count()
}

#[cfg(test)]
mod tests {
    use fulcrum_model::Progress;

    use super::*;
    use crate::collect::symbols::NoSymbols;
    use crate::decode::limits::Limits;

    #[derive(Debug, Default)]
    struct Seen(String);

    impl<'a> Call<'a> for Seen {
        const CHILDREN: &'static str = "children";

        fn set(&mut self, key: &str, value: Scalar<'a>) {
            self.0 += &format!("{key}={value:?} ");
        }
    }

    fn calls(text: &str) -> Result<Vec<(String, Option<u32>)>, Fault> {
        let input = Input::new(
            text.as_bytes(),
            Limits::default(),
            &NoSymbols,
            Progress::default(),
        );
        let calls = read::<Seen>(&input, "head")?;
        Ok(calls.into_iter().map(|it| (it.call.0, it.parent)).collect())
    }

    #[test]
    fn calls_know_their_callers_wherever_their_keys_are() {
        let text = r#"{"x":{"head":{"id":9}},"head" : {"children":[{"id":2,"children":[{"n":"a\"\u00e9\n"}]},
            {"place":{"line":-3.5,"more":{"id":7},"list":[{"id":8}]},"ok":true,"children":[]}],"id":1},"y":[1]}"#;
        let found = calls(text).expect("a tree");
        assert_eq!(
            found,
            [
                ("id=Number(1.0) ".to_owned(), None),
                ("id=Number(2.0) ".to_owned(), Some(0)),
                ("n=Text(\"a\\\"é\\n\") ".to_owned(), Some(1)),
                ("line=Number(-3.5) ok=Other ".to_owned(), Some(0)),
            ]
        );
    }

    #[test]
    fn depth_is_no_reason_to_refuse() {
        let deep = "{\"children\":[".repeat(100_000) + &"]}".repeat(100_000);
        let found = calls(&format!("{{\"head\":{deep}}}")).expect("a tree");
        assert_eq!((found.len(), found[99_999].1), (100_000, Some(99_998)));
    }

    #[test]
    fn what_is_no_tree_is_refused() {
        for (text, problem) in [
            ("[]", "expected an object"),
            ("{}", "expected a call under the key \"head\""),
            ("{\"head\":[1]}", "expected a call under the key \"head\""),
            (
                "{\"head\":{\"a\":\"\\ud800\"}}",
                "a text has half a surrogate pair",
            ),
        ] {
            assert_eq!(calls(text).expect_err(problem).problem, problem);
        }
    }
}
