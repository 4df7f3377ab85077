//! Pieces of the text taken apart beside one another. What a thread makes of its pieces refers to nothing that another one
//! knows, and everything has its place in the text: so the result is the same whoever took which piece.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, ScopedJoinHandle};

use fulcrum_model::call_tree::{CallTreeError, Limits, MAX_MAGNITUDE};
use fulcrum_model::{Cancelled, Progress};
use memchr::memchr;

use super::prefixes::{KnownPrefixes, Taking, TooMany};
use super::text::{Piece, Place, Text};
use crate::collect::stacks::MAX_DEPTH;
use crate::collect::units::Decimals;
use crate::decode::fault::{Fault, quote};
use crate::decode::folded_line::{is_record, split};

/// More contexts fit no tree.
fn most() -> u32 {
    Limits::default().nodes
}

/// What one thread makes of its pieces.
pub(crate) struct Part {
    pub(crate) contexts: KnownPrefixes,
    /// The counts of samples without a stack.
    pub(crate) bare: Option<i64>,
    /// Stacks that have too many frames, with their counts.
    pub(crate) deep: Vec<(Place, Box<str>, i64)>,
    /// The sum of all counts.
    pub(crate) sum: u128,
    /// Where it could not go on.
    pub(crate) end: Option<End>,
}

/// Where reading ends.
#[derive(Debug)]
pub(crate) struct End {
    /// The line.
    pub(crate) at: Place,
    pub(crate) why: Why,
}

/// Why reading ends.
#[derive(Debug)]
pub(crate) enum Why {
    /// A count has a fraction, and it is not known how fine they are.
    Fraction,
    /// The line holds something else, see the problem.
    Wrong(String),
    /// The same of the last line, which has no end.
    Cut,
    /// The counts up to here are too much for a thread alone.
    TooMuch,
    Fault(Fault),
}

/// Takes a text apart, with as many threads as there are processors, but no more than pieces. `decimals` says how fine counts
/// are; `None` as long as all are whole.
pub(crate) fn take_all(
    text: Text<'_>,
    decimals: Option<Decimals>,
    progress: &Progress,
) -> Result<Vec<Part>, Cancelled> {
    let pieces = text.pieces();
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let wanted = match processors.min(pieces) {
        // It would only be waited for.
        1 => 0,
        wanted => wanted,
    };
    let queue = Queue::new(pieces);
    let done = |n: usize| n as f64 / pieces as f64;
    thread::scope(|scope| {
        let (tell, told) = channel();
        let start = |_| {
            let (queue, tell) = (&queue, tell.clone());
            thread::Builder::new()
                .spawn_scoped(scope, move || Part::of(text, queue, decimals, &tell))
                .ok()
        };
        let threads: Vec<_> = (0..wanted).map_while(start).collect();
        drop(tell);
        if threads.is_empty() {
            let (mut part, mut buffer) = (Part::new(), Vec::new());
            while let Some(number) = queue.next() {
                progress.at(done(number))?;
                part.take(text, number, &mut buffer, decimals);
                if part.end.is_some() {
                    break;
                }
            }
            return Ok(vec![part]);
        }
        for n in 0..pieces {
            if let Err(cancelled) = progress.at(done(n)) {
                queue.stop();
                return Err(cancelled);
            }
            // When all threads have ended, not all pieces were taken.
            if told.recv().is_err() {
                break;
            }
        }
        let join = |thread: ScopedJoinHandle<'_, Part>| {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        Ok(threads.into_iter().map(join).collect())
    })
}

/// Pieces that no thread has taken yet.
struct Queue {
    pieces: usize,
    next: AtomicUsize,
}

impl Queue {
    fn new(pieces: usize) -> Self {
        let next = AtomicUsize::new(0);
        Queue { pieces, next }
    }

    fn next(&self) -> Option<usize> {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        (next < self.pieces).then_some(next)
    }

    /// Nobody gets another one.
    fn stop(&self) {
        self.next.store(self.pieces, Ordering::Relaxed);
    }
}

impl Part {
    fn new() -> Self {
        Part {
            contexts: KnownPrefixes::new(),
            bare: None,
            deep: Vec::new(),
            sum: 0,
            end: None,
        }
    }

    /// What one of several threads makes, which tells of each piece that is done.
    fn of(text: Text<'_>, queue: &Queue, decimals: Option<Decimals>, tell: &Sender<()>) -> Self {
        let (mut part, mut buffer) = (Part::new(), Vec::new());
        while part.end.is_none()
            && let Some(number) = queue.next()
        {
            part.take(text, number, &mut buffer, decimals);
            // Who listened may have cancelled.
            let _ = tell.send(());
        }
        part
    }

    /// Takes a piece apart, up to where it cannot go on.
    fn take(
        &mut self,
        text: Text<'_>,
        number: usize,
        buffer: &mut Vec<u8>,
        decimals: Option<Decimals>,
    ) {
        let begin = Place {
            piece: number,
            byte: 0,
        };
        match text.piece(number, buffer) {
            Ok(piece) => self.end = self.lines(&piece, decimals).err(),
            Err(fault) => {
                let why = Why::Fault(fault);
                self.end = Some(End { at: begin, why });
            }
        }
    }

    fn lines(&mut self, piece: &Piece<'_>, decimals: Option<Decimals>) -> Result<(), End> {
        let Part {
            contexts,
            bare,
            deep,
            sum,
            ..
        } = self;
        let mut stacks = Stacks {
            taking: Taking::new(contexts, piece, most()),
            piece,
            bare,
            deep,
        };
        let lines = stacks.lines(|line| count(line, decimals, sum));
        // What has waited stands before what is wrong.
        stacks.flush().and(lines)
    }
}

/// The stacks of a piece.
struct Stacks<'c, 't> {
    taking: Taking<'c, 't>,
    piece: &'t Piece<'t>,
    bare: &'c mut Option<i64>,
    deep: &'c mut Vec<(Place, Box<str>, i64)>,
}

impl<'t> Stacks<'_, 't> {
    fn lines(
        &mut self,
        mut record: impl FnMut(&'t str) -> Result<(&'t str, i64), Why>,
    ) -> Result<(), End> {
        let piece = self.piece;
        let mut rest: &'t str = &piece.text;
        while !rest.is_empty() {
            let (line, after) = match memchr(b'\n', rest.as_bytes()) {
                Some(end) => (&rest[..end], &rest[end + 1..]),
                None => (rest, ""),
            };
            if is_record(line) {
                let (stack, count) = record(line).map_err(|why| {
                    let at = self.piece.place(line);
                    let why = match why {
                        Why::Wrong(_) if self.piece.last && is_cut(rest) => Why::Cut,
                        why => why,
                    };
                    End { at, why }
                })?;
                self.stack(stack, count)?;
            }
            rest = after;
        }
        Ok(())
    }

    fn stack(&mut self, stack: &'t str, count: i64) -> Result<(), End> {
        if stack.is_empty() {
            *self.bare = Some(self.bare.unwrap_or(0) + count);
            return Ok(());
        }
        let taken = self.taking.take(stack, count, MAX_DEPTH);
        let taken = taken.map_err(|error| too_many(self.piece, error))?;
        if !taken {
            self.deep
                .push((self.piece.place(stack), stack.into(), count));
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), End> {
        let flushed = self.taking.flush();
        flushed.map_err(|error| too_many(self.piece, error))
    }
}

/// The stack and the count of a line; adds that to a sum.
fn count<'t>(
    line: &'t str,
    decimals: Option<Decimals>,
    sum: &mut u128,
) -> Result<(&'t str, i64), Why> {
    let wrong = || Why::Wrong(expected(line));
    let (stack, count) = split(line).ok_or_else(wrong)?;
    let count = match (decimals, count.whole()) {
        (None, Some(count)) => Ok(count),
        (None, None) if count.fraction().is_some_and(|it| !is_whole(it)) => {
            return Err(Why::Fraction);
        }
        _ => {
            let scale = decimals.unwrap_or_default().scale();
            count.scaled(scale).ok_or_else(wrong)?
        }
    };
    let count = count.map_err(Why::Fault)?;
    *sum += u128::from(count.unsigned_abs());
    match *sum > MAX_MAGNITUDE as u128 {
        true => Err(Why::TooMuch),
        false => Ok((stack, count)),
    }
}

/// The problem of a line that is no stack.
fn expected(line: &str) -> String {
    format!(
        "expected a stack and a count, as in main;work 12, got {}",
        quote(line.trim())
    )
}

/// Whether the rest of a text is one line without an end, and nothing behind it.
fn is_cut(rest: &str) -> bool {
    !rest.ends_with('\n') && rest.lines().filter(|line| is_record(line)).nth(1).is_none()
}

fn too_many(piece: &Piece<'_>, TooMany(stack): TooMany<'_>) -> End {
    let error = CallTreeError::TooManyNodes { limit: most() };
    End {
        at: piece.place(stack),
        why: Why::Fault(error.into()),
    }
}

/// What is no number or too large is told later.
fn is_whole(count: f64) -> bool {
    let mut decimals = Decimals::default();
    decimals.see(count);
    decimals == Decimals::default()
}
