//! Pieces of the text, whole lines, taken apart beside one another. What a thread makes of its pieces refers to nothing that
//! another one knows, and everything has its place in the text: so the result is the same whoever took which piece.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, ScopedJoinHandle};

use fulcrum_model::call_tree::{CallTreeError, Limits, MAX_MAGNITUDE};
use fulcrum_model::{Cancelled, Progress};
use memchr::{memchr, memrchr};

use super::super::fault::Fault;
use super::super::stacks::MAX_DEPTH;
use super::super::units::Decimals;
use super::contexts::{Contexts, TooMany};
use super::line::{is_record, split};

/// Bytes of a piece, about.
const SIZE: usize = 1 << 20;

/// More contexts fit no tree.
fn most() -> u32 {
    Limits::default().nodes
}

/// What one thread makes of its pieces.
pub struct Part<'t> {
    pub contexts: Contexts<'t>,
    /// The counts of samples without a stack.
    pub bare: Option<i64>,
    /// Stacks that have too many frames, with their counts.
    pub deep: Vec<(&'t str, i64)>,
    /// The sum of all counts.
    pub sum: u128,
    /// Where it could not go on.
    pub end: Option<End<'t>>,
}

/// Where reading ends.
pub struct End<'t> {
    /// The line, or the whole piece.
    pub at: &'t [u8],
    pub why: Why,
}

/// Why reading ends.
pub enum Why {
    /// The piece is no UTF-8.
    Bytes,
    /// A count has a fraction, and it is not known how fine they are.
    Fraction,
    /// The line holds something else.
    Wrong,
    /// The counts up to here are too much for a thread alone.
    TooMuch,
    Fault(Fault),
}

/// Cuts a text into pieces. Lines longer than a piece are pieces of their own.
fn cut(mut text: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    while text.len() > SIZE {
        let newline = memrchr(b'\n', &text[..SIZE])
            .or_else(|| memchr(b'\n', &text[SIZE..]).map(|at| SIZE + at));
        let (piece, rest) = text.split_at(newline.map_or(text.len(), |at| at + 1));
        pieces.push(piece);
        text = rest;
    }
    if !text.is_empty() {
        pieces.push(text);
    }
    pieces
}

/// Takes a text apart, with as many threads as there are processors, but no more than pieces. `decimals` says how fine counts
/// are; `None` as long as all are whole.
pub fn take_all<'t>(
    text: &'t [u8],
    decimals: Option<Decimals>,
    progress: &Progress,
) -> Result<Vec<Part<'t>>, Cancelled> {
    let pieces = cut(text);
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let wanted = match processors.min(pieces.len()) {
        // It would only be waited for.
        1 => 0,
        wanted => wanted,
    };
    let queue = Queue::new(&pieces);
    let done = |n: usize| n as f64 / pieces.len() as f64;
    thread::scope(|scope| {
        let (tell, told) = channel();
        let start = |_| {
            let (queue, tell) = (&queue, tell.clone());
            thread::Builder::new()
                .spawn_scoped(scope, move || Part::of(queue, decimals, &tell))
                .ok()
        };
        let threads: Vec<_> = (0..wanted).map_while(start).collect();
        drop(tell);
        if threads.is_empty() {
            let mut part = Part::new();
            for (n, piece) in pieces.iter().enumerate() {
                progress.at(done(n))?;
                part.take(piece, decimals);
                if part.end.is_some() {
                    break;
                }
            }
            return Ok(vec![part]);
        }
        for n in 0..pieces.len() {
            if let Err(cancelled) = progress.at(done(n)) {
                queue.stop();
                return Err(cancelled);
            }
            // When all threads have ended, not all pieces were taken.
            if told.recv().is_err() {
                break;
            }
        }
        let join = |thread: ScopedJoinHandle<'_, Part<'t>>| {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        Ok(threads.into_iter().map(join).collect())
    })
}

/// Pieces that no thread has taken yet.
struct Queue<'p, 't> {
    pieces: &'p [&'t [u8]],
    next: AtomicUsize,
}

impl<'p, 't> Queue<'p, 't> {
    fn new(pieces: &'p [&'t [u8]]) -> Self {
        let next = AtomicUsize::new(0);
        Queue { pieces, next }
    }

    fn next(&self) -> Option<&'t [u8]> {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        self.pieces.get(next).copied()
    }

    /// Nobody gets another one.
    fn stop(&self) {
        self.next.store(self.pieces.len(), Ordering::Relaxed);
    }
}

impl<'t> Part<'t> {
    fn new() -> Self {
        Part {
            contexts: Contexts::new(),
            bare: None,
            deep: Vec::new(),
            sum: 0,
            end: None,
        }
    }

    /// What one of several threads makes, which tells of each piece that is done.
    fn of(queue: &Queue<'_, 't>, decimals: Option<Decimals>, tell: &Sender<()>) -> Self {
        let mut part = Part::new();
        while part.end.is_none()
            && let Some(piece) = queue.next()
        {
            part.take(piece, decimals);
            // Who listened may have cancelled.
            let _ = tell.send(());
        }
        part
    }

    /// Takes a piece apart, up to where it cannot go on.
    fn take(&mut self, piece: &'t [u8], decimals: Option<Decimals>) {
        let done = match str::from_utf8(piece) {
            Ok(text) => {
                let lines = self.lines(text, decimals);
                // What has waited stands before what is wrong.
                self.contexts.flush(most()).map_err(too_many).and(lines)
            }
            Err(_) => Err(End {
                at: piece,
                why: Why::Bytes,
            }),
        };
        self.end = done.err();
    }

    fn lines(&mut self, mut rest: &'t str, decimals: Option<Decimals>) -> Result<(), End<'t>> {
        while !rest.is_empty() {
            let (line, after) = match memchr(b'\n', rest.as_bytes()) {
                Some(end) => (&rest[..end], &rest[end + 1..]),
                None => (rest, ""),
            };
            if is_record(line) {
                let at = line.as_bytes();
                let record = self.record(line, decimals);
                let (stack, count) = record.map_err(|why| End { at, why })?;
                self.stack(stack, count).map_err(too_many)?;
            }
            rest = after;
        }
        Ok(())
    }

    fn record(&mut self, line: &'t str, decimals: Option<Decimals>) -> Result<(&'t str, i64), Why> {
        let (stack, count) = split(line).ok_or(Why::Wrong)?;
        let count = match (decimals, count.whole()) {
            (None, Some(count)) => Ok(count),
            (None, None) if count.fraction().is_some_and(|it| !is_whole(it)) => {
                return Err(Why::Fraction);
            }
            _ => {
                let scale = decimals.unwrap_or_default().scale();
                count.scaled(scale).ok_or(Why::Wrong)?
            }
        };
        let count = count.map_err(Why::Fault)?;
        self.sum += u128::from(count.unsigned_abs());
        match self.sum > MAX_MAGNITUDE as u128 {
            true => Err(Why::TooMuch),
            false => Ok((stack, count)),
        }
    }

    fn stack(&mut self, stack: &'t str, count: i64) -> Result<(), TooMany<'t>> {
        if stack.is_empty() {
            self.bare = Some(self.bare.unwrap_or(0) + count);
        } else if !self.contexts.take(stack, count, MAX_DEPTH, most())? {
            self.deep.push((stack, count));
        }
        Ok(())
    }
}

fn too_many(TooMany(stack): TooMany<'_>) -> End<'_> {
    let error = CallTreeError::TooManyNodes { limit: most() };
    End {
        at: stack.as_bytes(),
        why: Why::Fault(error.into()),
    }
}

/// What is no number or too large is told later.
fn is_whole(count: f64) -> bool {
    let mut decimals = Decimals::default();
    decimals.see(count);
    decimals == Decimals::default()
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
            let pieces = cut(text.as_bytes());
            assert_eq!(pieces.concat(), text.as_bytes());
            let empty = &b""[..];
            let (last, others) = pieces.split_last().unwrap_or((&empty, &[]));
            assert!(others.iter().all(|it| it.ends_with(b"\n")));
            assert!(pieces.len() <= 1 + text.len() / (SIZE - line.len()));
            assert_eq!(last.is_empty(), text.is_empty());
        }
    }
}
