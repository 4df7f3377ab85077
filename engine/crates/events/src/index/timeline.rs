//! Timelines: what threads did over time, merged to what is visible.

use crate::index::ThreadIndex;
use crate::index::rows::{Indexed, go_to};
use crate::tree::stack::Node;
use crate::tree::walk::{Blocked, State, Walk};
use fulcrum_model::{Cancelled, Progress};

/// The visible part of a timeline.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The beginning, in nanoseconds since the log's start.
    pub left_ns: u64,
    /// Its end.
    pub right_ns: u64,
    /// The width, in pixels.
    pub width: u32,
    /// The number of levels of calls to return.
    pub depths: u32,
}

/// A thread's timeline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lane {
    /// The states, from left to right, without overlap. Gaps are times in which the thread did not exist.
    pub states: Vec<Interval>,
    /// Calls and waits that are at least [`WIDE`] pixels wide, in the order of their beginnings.
    pub calls: Vec<Bar>,
    /// The number of levels of such calls, returned or not.
    pub levels: u32,
}

/// An interval in which a thread was mostly in one state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The beginning, in nanoseconds since the log's start.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
    /// The predominant state.
    pub state: State,
    /// The part of the time in which the thread was on a processor, 0 to 1, in 16 steps. `None` if the log does not have it.
    pub cpu: Option<f64>,
}

/// A call or a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bar {
    /// Its node.
    pub node: u64,
    /// What it is.
    pub what: Node,
    /// The number of nodes around it.
    pub depth: u32,
    /// When it began, in nanoseconds since the log\'s start.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
}

/// In pixels: narrower calls are left out, and shorter parts of a thread are taken from the index instead of read again.
pub const WIDE: u64 = 3;

/// The number of distinguishable levels of CPU use.
const STEPS: f64 = 16.0;

/// What a thread did in a pixel, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Pixel {
    there: u64,
    blocked: Blocked,
    cpu: f64,
}

/// The counters at a moment.
#[derive(Clone, Copy, Debug)]
struct Known {
    ns: u64,
    cpu: Option<u64>,
    blocked: Blocked,
}

impl Indexed {
    /// A thread's timeline. `None` if there is no such thread.
    ///
    /// # Errors
    /// [`Cancelled`] when `progress` was cancelled.
    pub fn lane(
        &self,
        thread: u32,
        view: &View,
        progress: &Progress,
    ) -> Result<Option<Lane>, Cancelled> {
        let Some(of) = self.index.thread(thread) else {
            return Ok(None);
        };
        let mut drawing = Drawing::new(self, of, *view);
        if of.events > 0 && of.start_ns <= view.right_ns && of.end_ns >= view.left_ns {
            drawing.spans();
            drawing.gaps(progress)?;
        }
        Ok(Some(drawing.finish()))
    }
}

struct Drawing<'a> {
    all: &'a Indexed,
    of: &'a ThreadIndex,
    view: View,
    /// The duration of [`WIDE`] pixels, in nanoseconds.
    wide_ns: u64,
    pixels: Vec<Pixel>,
    calls: Vec<Bar>,
    levels: u32,
}

impl<'a> Drawing<'a> {
    fn new(all: &'a Indexed, of: &'a ThreadIndex, view: View) -> Drawing<'a> {
        let width = u64::from(view.width.max(1));
        let all_ns = view.right_ns.saturating_sub(view.left_ns).max(1);
        Drawing {
            all,
            of,
            view,
            wide_ns: (all_ns / width).saturating_mul(WIDE),
            pixels: vec![Pixel::default(); width as usize],
            calls: Vec::new(),
            levels: 0,
        }
    }

    fn bar(&mut self, bar: Bar) {
        let seen = bar.start_ns < self.view.right_ns && bar.end_ns > self.view.left_ns;
        if seen && bar.end_ns - bar.start_ns >= self.wide_ns {
            self.levels = self.levels.max(bar.depth + 1);
            if bar.depth < self.view.depths {
                self.calls.push(bar);
            }
        }
    }

    fn spans(&mut self) {
        for span in &self.of.spans {
            if span.start_ns > self.view.right_ns {
                break;
            }
            self.bar(Bar {
                node: span.node,
                what: span.what,
                depth: span.depth,
                start_ns: span.start_ns,
                end_ns: span.end_ns,
            });
        }
    }

    /// Goes from checkpoint to checkpoint. Wide gaps are read; narrow ones are taken from the index.
    fn gaps(&mut self, progress: &Progress) -> Result<(), Cancelled> {
        let of = self.of;
        let known = |at: usize| {
            let standing = &of.checkpoints[at].standing;
            Known {
                ns: standing.now.0.max(of.start_ns),
                cpu: standing.now.1,
                blocked: standing.blocked,
            }
        };
        let begins = |at: usize| of.checkpoints[at].standing.now.0;
        let first = of
            .checkpoints
            .partition_point(|it| it.standing.now.0 < self.view.left_ns);
        for at in first.saturating_sub(1)..of.checkpoints.len() {
            if begins(at) > self.view.right_ns {
                break;
            }
            progress.check()?;
            let last = at + 1 == of.checkpoints.len();
            let end_ns = if last { of.end_ns } else { begins(at + 1) };
            if last || at == 0 || end_ns.saturating_sub(begins(at)) >= self.wide_ns {
                self.read(at);
            } else {
                self.add(known(at), known(at + 1));
            }
        }
        Ok(())
    }

    fn read(&mut self, checkpoint: usize) {
        let of = self.of;
        let end = match of.checkpoints.get(checkpoint + 1) {
            Some(next) => next.standing.mark.ordinal,
            None => u64::MAX,
        };
        let mut walk = Walk::new(&self.all.trace, of.id, &self.all.index.parking);
        go_to(&mut walk, of, checkpoint);
        let mut before = (checkpoint > 0).then(|| of_walk(&walk));
        while walk.standing().mark.ordinal < end {
            let event = walk.step_or_finish();
            for at in 0..walk.ended.len() {
                let (outcome, open) = walk.ended[at];
                if open.span.is_none() {
                    self.bar(Bar {
                        node: open.node,
                        what: outcome.node,
                        depth: outcome.depth as u32,
                        start_ns: outcome.start_ns,
                        end_ns: outcome.end_ns,
                    });
                }
            }
            if event.is_none() {
                break;
            }
            let now = of_walk(&walk);
            if let Some(before) = before {
                self.add(before, now);
            }
            before = Some(now);
        }
    }

    /// Distributes the time between two moments evenly over its pixels.
    fn add(&mut self, from: Known, to: Known) {
        let (left, right) = (self.view.left_ns, self.view.right_ns);
        let (start, end) = (from.ns.max(left), to.ns.min(right));
        if end <= start {
            return;
        }
        let whole = (to.ns - from.ns) as f64;
        let cpu = match (from.cpu, to.cpu) {
            (Some(from), Some(to)) => to.saturating_sub(from) as f64 / whole,
            _ => 0.0,
        };
        let blocked: [f64; 3] = std::array::from_fn(|at| {
            to.blocked[at].saturating_sub(from.blocked[at]) as f64 / whole
        });
        let all = u128::from(right - left);
        let width = self.pixels.len() as u128;
        let edge = |pixel: usize| left + (pixel as u128 * all / width) as u64;
        let mut pixel = (u128::from(start - left) * width / all) as usize;
        let mut at = start;
        while at < end && pixel < self.pixels.len() {
            let until = edge(pixel + 1).min(end);
            if until > at {
                let ns = until - at;
                let sums = &mut self.pixels[pixel];
                sums.there += ns;
                sums.cpu += cpu * ns as f64;
                for (sum, part) in sums.blocked.iter_mut().zip(blocked) {
                    *sum += (part * ns as f64).round() as u64;
                }
                at = until;
            }
            pixel += 1;
        }
    }

    fn finish(mut self) -> Lane {
        let (left, all) = (
            self.view.left_ns,
            u128::from(self.view.right_ns.saturating_sub(self.view.left_ns)),
        );
        let width = self.pixels.len() as u128;
        let edge = |pixel: usize| left + (pixel as u128 * all / width) as u64;
        let has_cpu = self.of.cpu_ns.is_some();
        let mut states: Vec<Interval> = Vec::new();
        for (at, pixel) in self.pixels.iter().enumerate() {
            if pixel.there == 0 {
                continue;
            }
            let cpu = has_cpu.then(|| {
                let part = pixel.cpu / pixel.there as f64;
                (part.clamp(0.0, 1.0) * STEPS).round() / STEPS
            });
            let next = Interval {
                // A thread that begins or ends within a pixel is drawn exactly.
                from_ns: edge(at).max(self.of.start_ns),
                to_ns: edge(at + 1).min(self.of.end_ns),
                state: pixel.state(),
                cpu,
            };
            match states.last_mut() {
                Some(last)
                    if last.to_ns == next.from_ns
                        && last.state == next.state
                        && last.cpu == next.cpu =>
                {
                    last.to_ns = next.to_ns;
                }
                _ => states.push(next),
            }
        }
        self.calls.sort_unstable_by_key(|it| it.node);
        Lane {
            states,
            calls: self.calls,
            levels: self.levels,
        }
    }
}

fn of_walk(walk: &Walk<'_>) -> Known {
    Known {
        ns: walk.now.0,
        cpu: walk.now.1,
        blocked: walk.blocked,
    }
}

impl Pixel {
    fn state(&self) -> State {
        let blocked: u64 = self.blocked.iter().sum();
        let all = [
            (self.there.saturating_sub(blocked), State::Running),
            (self.blocked[0], State::Contended),
            (self.blocked[1], State::Waiting),
            (self.blocked[2], State::Parked),
        ];
        let longest = all.iter().rev().max_by_key(|(ns, _)| *ns);
        longest.expect("there are four").1
    }
}
