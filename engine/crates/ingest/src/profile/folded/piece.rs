//! Pieces of the text, whole lines, taken apart beside one another. What a piece gives refers to nothing that another
//! thread knows; only their reader, who takes them in the file's order, makes frames of names. So the result is the same
//! however many threads there are.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, Scope};

use memchr::{memchr, memchr_iter, memrchr};

use super::super::interner::Interner;
use super::{is_comment, split};

/// Bytes of a piece, about.
const SIZE: usize = 1 << 20;

/// What stands in a piece.
#[derive(Debug, Default, PartialEq)]
pub struct Piece<'t> {
    /// Names that were in no piece of this thread before. The thread numbers its names from 0.
    pub names: Vec<&'t str>,
    /// The stacks' frames by the thread's numbers, outermost first, one stack after the other.
    pub frames: Vec<u32>,
    pub stacks: Vec<Stack>,
    /// The first line that holds something else.
    pub wrong: Option<u32>,
    /// Another line with content follows it. What follows is not read.
    pub goes_on: bool,
    /// How many lines there are.
    pub lines: usize,
}

/// One stack.
#[derive(Debug, PartialEq)]
pub struct Stack {
    /// Its line in the piece, from 0.
    pub line: u32,
    /// Where its frames end.
    pub end: u32,
    pub count: f64,
}

/// Cuts a text into pieces. Lines longer than a piece are pieces of their own.
pub fn cut(mut text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    while text.len() > SIZE {
        let bytes = text.as_bytes();
        let newline = memrchr(b'\n', &bytes[..SIZE])
            .or_else(|| memchr(b'\n', &bytes[SIZE..]).map(|at| SIZE + at));
        let (piece, rest) = text.split_at(newline.map_or(text.len(), |at| at + 1));
        pieces.push(piece);
        text = rest;
    }
    if !text.is_empty() {
        pieces.push(text);
    }
    pieces
}

/// Who takes pieces apart: this thread, or another.
pub enum Taker<'t> {
    Here(Box<Interner>),
    Elsewhere(Receiver<Piece<'t>>),
}

impl<'t> Taker<'t> {
    /// So many takers as there are processors, but no more than pieces; taker `n` of `m` has piece `n`, `n + m` and so on.
    pub fn all<'scope>(scope: &'scope Scope<'scope, 't>, pieces: &'t [&'t str]) -> Vec<Self> {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let count = processors.min(pieces.len()).max(1);
        if count == 1 {
            return vec![Taker::Here(Box::default())];
        }
        let start = |first: usize| {
            // One piece waits while the next is taken apart.
            let (to, from) = sync_channel(1);
            let work = move || {
                let mut names = Interner::default();
                let mine = pieces.iter().skip(first).step_by(count);
                for text in mine {
                    // The reader may have given up.
                    if to.send(take(text, &mut names)).is_err() {
                        break;
                    }
                }
            };
            match thread::Builder::new().spawn_scoped(scope, work) {
                Ok(_) => Taker::Elsewhere(from),
                Err(_) => Taker::Here(Box::default()),
            }
        };
        (0..count).map(start).collect()
    }

    /// The next of its pieces, which has this text. `None` when its thread has died.
    pub fn next(&mut self, text: &'t str) -> Option<Piece<'t>> {
        match self {
            Taker::Here(names) => Some(take(text, names)),
            Taker::Elsewhere(from) => from.recv().ok(),
        }
    }
}

/// Takes a piece apart. `known` are the names before it.
fn take<'t>(text: &'t str, known: &mut Interner) -> Piece<'t> {
    let mut piece = Piece::default();
    let mut rest = text;
    while !rest.is_empty() && !piece.goes_on {
        let end = memchr(b'\n', rest.as_bytes());
        let (line, after) = match end {
            Some(end) => (&rest[..end], &rest[end + 1..]),
            None => (rest, ""),
        };
        piece.line(line, known);
        piece.lines += 1;
        rest = after;
    }
    piece
}

impl<'t> Piece<'t> {
    fn line(&mut self, line: &'t str, known: &mut Interner) {
        if line.trim().is_empty() || is_comment(line) {
            return;
        }
        if self.wrong.is_some() {
            self.goes_on = true;
            return;
        }
        let Some((path, count)) = split(line) else {
            self.wrong = Some(self.lines as u32);
            return;
        };
        let mut start = 0;
        let ends = memchr_iter(b';', path.as_bytes());
        for end in ends.chain([path.len()]).filter(|_| !path.is_empty()) {
            let name = &path[start..end];
            let (number, new) = known.intern(name.as_bytes());
            if new {
                self.names.push(name);
            }
            self.frames.push(number);
            start = end + 1;
        }
        self.stacks.push(Stack {
            line: self.lines as u32,
            end: self.frames.len() as u32,
            count,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_lines_and_all_of_the_text() {
        let line = "main;work 12\n";
        let long = "x".repeat(3 * SIZE);
        let many = line.repeat(3 * SIZE / line.len());
        for text in [
            String::new(),
            line.to_owned(),
            many.clone() + "main 1",
            format!("{many}{long} 1\n{many}"),
            format!("{long} 1"),
        ] {
            let pieces = cut(&text);
            assert_eq!(pieces.concat(), text);
            let (last, others) = pieces.split_last().unwrap_or((&"", &[]));
            assert!(others.iter().all(|it| it.ends_with('\n')));
            assert!(pieces.len() <= 1 + text.len() / (SIZE - line.len()));
            assert_eq!(last.is_empty(), text.is_empty());
        }
    }

    #[test]
    fn names_are_numbered_across_pieces() {
        let mut known = Interner::default();
        let first = take("a;b;a 1\n# no stack\n\nb 2\n", &mut known);
        assert_eq!((&*first.names, first.lines), (&["a", "b"][..], 4));
        assert_eq!(first.frames, [0, 1, 0, 1]);
        let stacks = [(0, 3, 1.0), (3, 4, 2.0)];
        assert_eq!(
            first.stacks,
            stacks.map(|(line, end, count)| Stack { line, end, count })
        );
        let second = take("c;b 1\nno count\n", &mut known);
        assert_eq!((&*second.names, &*second.frames), (&["c"][..], &[2, 1][..]));
        assert_eq!((second.wrong, second.goes_on), (Some(1), false));
        let third = take("no count\n\nc 1\n", &mut known);
        assert_eq!((third.wrong, third.goes_on), (Some(0), true));
    }
}
