//! Reads pieces of the text in parallel. A thread's result refers to nothing of another thread's, and everything keeps its
//! place in the text, so the result does not depend on which thread read which piece.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, ScopedJoinHandle};

use fulcrum_model::call_tree::{CallTreeError, Limits, MAX_MAGNITUDE};
use fulcrum_model::{Cancelled, Progress};
use memchr::memchr;

use super::prefixes::{KnownPrefixes, StackBatch, TooMany};
use super::text::{Piece, Place, Text};
use crate::collect::stacks::MAX_DEPTH;
use crate::collect::units::Decimals;
use crate::decode::fault::{Fault, quote};
use crate::decode::folded_line::{is_record, split};

/// The most contexts that a tree may have.
fn most() -> u32 {
    Limits::default().nodes
}

/// One thread's result.
pub(crate) struct Part {
    pub(crate) prefixes: KnownPrefixes,
    /// The sum of the samples without a stack.
    pub(crate) bare: Option<i64>,
    /// Stacks with too many frames, with their counts.
    pub(crate) deep: Vec<(Place, Box<str>, i64)>,
    /// The sum of all counts.
    pub(crate) sum: u128,
    /// Lines that are left out.
    pub(crate) wrong: Wrong,
    /// Where the thread had to stop.
    pub(crate) end: Option<End>,
}

/// Lines that are no stack with a count.
#[derive(Default)]
pub(crate) struct Wrong {
    /// How many lines are a stack with a count.
    pub(crate) right: u64,
    /// How many are not.
    pub(crate) count: u64,
    /// The first of them, and what is wrong.
    pub(crate) first: Option<(Place, String)>,
}

impl Wrong {
    fn leave_out(&mut self, at: Place, problem: String) {
        self.count += 1;
        // A thread takes pieces in the order of the text.
        self.first.get_or_insert((at, problem));
    }
}

/// Where reading ends.
#[derive(Debug)]
pub(crate) struct End {
    /// The line.
    pub(crate) at: Place,
    pub(crate) reason: EndReason,
}

/// Why reading ends.
#[derive(Debug)]
pub(crate) enum EndReason {
    /// A count has a fraction, and the number of decimals is unknown.
    Fraction,
    /// The last line is not a stack with a count and has no line end: the file was cut.
    Cut,
    /// The counts of this thread alone are too much.
    TooMuch,
    Fault(Fault),
}

/// What is wrong with a line.
enum LineError {
    /// It is not a stack with a count: the problem.
    Wrong(String),
    /// Reading ends here.
    Ends(EndReason),
}

/// Reads a text with as many threads as there are processors, but not more than pieces. `decimals` is the number of decimals of
/// counts; `None` while all counts are whole.
pub(crate) fn read_all(
    text: Text<'_>,
    decimals: Option<Decimals>,
    progress: &Progress,
) -> Result<Vec<Part>, Cancelled> {
    let pieces = text.pieces();
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let wanted = match processors.min(pieces) {
        // This thread would only wait for it.
        1 => 0,
        wanted => wanted,
    };
    let queue = Queue::new(pieces);
    let done = |n: usize| n as f64 / pieces as f64;
    thread::scope(|scope| {
        let (done_pieces, finished) = channel();
        let start = |_| {
            let (queue, done_pieces) = (&queue, done_pieces.clone());
            thread::Builder::new()
                .spawn_scoped(scope, move || {
                    Part::from_queue(text, queue, decimals, &done_pieces)
                })
                .ok()
        };
        let threads: Vec<_> = (0..wanted).map_while(start).collect();
        drop(done_pieces);
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
            // All threads have ended before all pieces were read.
            if finished.recv().is_err() {
                break;
            }
        }
        let join = |thread: ScopedJoinHandle<'_, Part>| {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        Ok(threads.into_iter().map(join).collect())
    })
}

/// The pieces that no thread has taken yet.
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

    /// Gives out no more pieces.
    fn stop(&self) {
        self.next.store(self.pieces, Ordering::Relaxed);
    }
}

impl Part {
    fn new() -> Self {
        Part {
            prefixes: KnownPrefixes::new(),
            bare: None,
            deep: Vec::new(),
            sum: 0,
            wrong: Wrong::default(),
            end: None,
        }
    }

    /// The work of one of several threads. It reports each finished piece.
    fn from_queue(
        text: Text<'_>,
        queue: &Queue,
        decimals: Option<Decimals>,
        done_pieces: &Sender<()>,
    ) -> Self {
        let (mut part, mut buffer) = (Part::new(), Vec::new());
        while part.end.is_none()
            && let Some(number) = queue.next()
        {
            part.take(text, number, &mut buffer, decimals);
            // The receiver is gone when reading was cancelled.
            let _ = done_pieces.send(());
        }
        part
    }

    /// Reads a piece, up to where it has to stop.
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
                let reason = EndReason::Fault(fault);
                self.end = Some(End { at: begin, reason });
            }
        }
    }

    fn lines(&mut self, piece: &Piece<'_>, decimals: Option<Decimals>) -> Result<(), End> {
        let Part {
            prefixes,
            bare,
            deep,
            sum,
            wrong,
            ..
        } = self;
        let mut stacks = Stacks {
            batch: StackBatch::new(prefixes, piece, most()),
            piece,
            bare,
            deep,
            wrong,
        };
        let lines = stacks.lines(|line| count(line, decimals, sum));
        // The waiting stacks come before the line that is wrong.
        stacks.flush().and(lines)
    }
}

/// The stacks of a piece.
struct Stacks<'c, 't> {
    batch: StackBatch<'c, 't>,
    piece: &'t Piece<'t>,
    bare: &'c mut Option<i64>,
    deep: &'c mut Vec<(Place, Box<str>, i64)>,
    wrong: &'c mut Wrong,
}

impl<'t> Stacks<'_, 't> {
    fn lines(
        &mut self,
        mut record: impl FnMut(&'t str) -> Result<(&'t str, i64), LineError>,
    ) -> Result<(), End> {
        let piece = self.piece;
        let mut rest: &'t str = &piece.text;
        while !rest.is_empty() {
            let (line, after) = match memchr(b'\n', rest.as_bytes()) {
                Some(end) => (&rest[..end], &rest[end + 1..]),
                None => (rest, ""),
            };
            if is_record(line) {
                match record(line) {
                    Ok((stack, count)) => self.stack(stack, count)?,
                    Err(error) => self.wrong(line, error, piece.last && is_cut(rest))?,
                }
            }
            rest = after;
        }
        Ok(())
    }

    /// Leaves out a line, unless reading ends there.
    fn wrong(&mut self, line: &str, error: LineError, cut: bool) -> Result<(), End> {
        let at = self.piece.place(line);
        let reason = match error {
            LineError::Wrong(_) if cut => EndReason::Cut,
            LineError::Wrong(problem) => {
                self.wrong.leave_out(at, problem);
                return Ok(());
            }
            LineError::Ends(reason) => reason,
        };
        Err(End { at, reason })
    }

    fn stack(&mut self, stack: &'t str, count: i64) -> Result<(), End> {
        self.wrong.right += 1;
        if stack.is_empty() {
            *self.bare = Some(self.bare.unwrap_or(0) + count);
            return Ok(());
        }
        let taken = self.batch.push(stack, count, MAX_DEPTH);
        let taken = taken.map_err(|error| too_many(self.piece, error))?;
        if !taken {
            self.deep
                .push((self.piece.place(stack), stack.into(), count));
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), End> {
        let flushed = self.batch.flush();
        flushed.map_err(|error| too_many(self.piece, error))
    }
}

/// The stack and the count of a line. Adds the count to a sum.
fn count<'t>(
    line: &'t str,
    decimals: Option<Decimals>,
    sum: &mut u128,
) -> Result<(&'t str, i64), LineError> {
    let wrong = || LineError::Wrong(expected(line));
    let (stack, count) = split(line).ok_or_else(wrong)?;
    let whole = count.whole();
    let count = match (decimals, whole) {
        (None, Some(count)) => Ok(count),
        _ => {
            let number = count.fraction().ok_or_else(wrong)?;
            if !number.is_finite() {
                return Err(LineError::Wrong(format!("expected a number, got {number}")));
            }
            if decimals.is_none() && !is_whole(number) {
                return Err(LineError::Ends(EndReason::Fraction));
            }
            let scale = decimals.unwrap_or_default().scale();
            count.scaled(scale).ok_or_else(wrong)?
        }
    };
    let count = count.map_err(|fault| LineError::Ends(EndReason::Fault(fault)))?;
    *sum += u128::from(count.unsigned_abs());
    match *sum > MAX_MAGNITUDE as u128 {
        true => Err(LineError::Ends(EndReason::TooMuch)),
        false => Ok((stack, count)),
    }
}

/// The problem of a line that is not a stack with a count.
fn expected(line: &str) -> String {
    format!(
        "expected a stack and a count, as in main;work 12, got {}",
        quote(line.trim())
    )
}

/// Whether the rest of a text is a single line without a line end.
fn is_cut(rest: &str) -> bool {
    !rest.ends_with('\n') && rest.lines().filter(|line| is_record(line)).nth(1).is_none()
}

fn too_many(piece: &Piece<'_>, TooMany(stack): TooMany<'_>) -> End {
    let error = CallTreeError::TooManyNodes { limit: most() };
    End {
        at: piece.place(stack),
        reason: EndReason::Fault(error.into()),
    }
}

/// Whether a count has no fraction. Too large counts are refused later.
fn is_whole(count: f64) -> bool {
    let mut decimals = Decimals::default();
    decimals.include(count);
    decimals == Decimals::default()
}
