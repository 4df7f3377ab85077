//! Builds a thread's tree from its events (JPMT §4.3): nested calls, waits and contentions open and close.
//!
//! Times are corrected for perturbation (JPMT §4.2): the cost of the probes of a call and of all calls inside it is subtracted.

use crate::reader::event::{Event, What};
use crate::reader::open::Costs;

/// A node of the tree: something with a beginning and an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "as in `What`")]
pub enum Node {
    /// A call of a method.
    Call { method: u32 },
    /// Waiting for a monitor that another thread owns.
    Contended { object: u64, class: u32 },
    /// `Object.wait`.
    Waiting { object: u64, class: u32 },
    /// A garbage collection. Only the virtual machine's own thread has them.
    Collection,
}

/// How something ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// It ended normally.
    Ended,
    /// A method was left by an exception.
    Thrown,
    /// Its end is missing, but an outer node has ended.
    Unwound,
    /// The log ended before it.
    Open,
}

/// Durations in nanoseconds, without the cost of probes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Wall time.
    pub wall_ns: u64,
    /// CPU time, if the log has it.
    pub cpu_ns: Option<u64>,
    /// Wall time minus that of direct children.
    pub self_wall_ns: u64,
    /// CPU time minus that of direct children.
    pub self_cpu_ns: Option<u64>,
}

/// A node that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The node.
    pub node: Node,
    /// The number of nodes around it.
    pub depth: usize,
    /// When it began, in nanoseconds since the log\'s start.
    pub start_ns: u64,
    /// When it ended by the clock, which includes the cost of probes.
    pub end_ns: u64,
    /// Its durations.
    pub times: Times,
    /// The cost of probes that was subtracted from the wall time, in nanoseconds.
    pub probes_ns: u64,
    /// How it ended.
    pub closing: Closing,
    /// The number that [`Stack::event`] returned when it began, or that `Stack::numbered` was given.
    pub serial: u64,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    node: Node,
    serial: u64,
    start_ns: u64,
    start_cpu: Option<u64>,
    inside: Times,
    /// The number of logged calls inside, at any depth.
    calls: u64,
    /// The number of calls inside whose probes fired without logging them.
    skipped: u64,
}

/// The open nodes of a thread.
#[derive(Clone, Debug)]
pub struct Stack {
    costs: Costs,
    frames: Vec<Frame>,
    serial: u64,
    last: (u64, Option<u64>),
    /// The number of ends without a beginning.
    unmatched: u64,
}

/// The greatest depth of the stack. Deeper nodes are only counted.
const DEEPEST: usize = 1 << 20;

impl Stack {
    /// The stack of a thread that has not begun.
    pub fn new(costs: Costs) -> Stack {
        Stack {
            costs,
            frames: Vec::new(),
            serial: 0,
            last: (0, None),
            unmatched: 0,
        }
    }

    /// Takes the thread's next event. Calls `ended` with each node that it ends, innermost first. Returns the number of the node that it
    /// begins.
    pub fn event(&mut self, event: &Event, ended: impl FnMut(Outcome)) -> Option<u64> {
        let number = self.serial + 1;
        let begun = self.numbered(event, number, ended);
        self.serial += u64::from(begun.is_some());
        begun
    }

    /// Like [`Self::event`], but with the given number for a node that begins.
    pub(crate) fn numbered(
        &mut self,
        event: &Event,
        number: u64,
        mut ended: impl FnMut(Outcome),
    ) -> Option<u64> {
        self.last = (event.wall_ns, event.cpu_ns);
        if let Some(frame) = self.frames.last_mut() {
            frame.skipped = frame.skipped.saturating_add(event.skipped);
            frame.calls = frame.calls.saturating_add(event.filtered);
        }
        match event.what {
            What::Enter { method } => return self.open(Node::Call { method }, number),
            What::ContendedEnter { object, class } => {
                return self.open(Node::Contended { object, class }, number);
            }
            What::Wait { object, class, .. } => {
                return self.open(Node::Waiting { object, class }, number);
            }
            What::GcStart => return self.open(Node::Collection, number),
            What::GcEnd => {
                let found = self.innermost(|node| node == Node::Collection);
                self.close(found, Closing::Ended, &mut ended);
            }
            What::Exit { method, thrown } => {
                let closing = if thrown {
                    Closing::Thrown
                } else {
                    Closing::Ended
                };
                let found = self.find(|node| node == Node::Call { method });
                self.close(found, closing, &mut ended);
            }
            What::ContendedEntered { object, .. } => {
                let found = self.innermost(
                    |node| matches!(node, Node::Contended { object: it, .. } if it == object),
                );
                self.close(found, Closing::Ended, &mut ended);
            }
            What::Waited { object, .. } => {
                let found = self.innermost(
                    |node| matches!(node, Node::Waiting { object: it, .. } if it == object),
                );
                self.close(found, Closing::Ended, &mut ended);
            }
            What::ThreadEnd => self.close_all(Closing::Unwound, &mut ended),
            _ => {}
        }
        None
    }

    /// Ends all open nodes with the last event: the thread has no more.
    pub fn finish(&mut self, mut ended: impl FnMut(Outcome)) {
        self.close_all(Closing::Open, &mut ended);
    }

    /// The number of open nodes.
    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    pub(crate) fn innermost_node(&self) -> Option<Node> {
        self.frames.last().map(|frame| frame.node)
    }

    /// The open nodes, outermost first.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = Node> + '_ {
        self.frames.iter().map(|frame| frame.node)
    }

    /// The number of the innermost open call of a method.
    pub fn call(&self, method: u32) -> Option<u64> {
        let found = self.find(|node| node == Node::Call { method })?;
        Some(self.frames[found].serial)
    }

    /// The number of ends so far without a beginning. They are ignored.
    pub fn unmatched(&self) -> u64 {
        self.unmatched
    }

    fn open(&mut self, node: Node, serial: u64) -> Option<u64> {
        if self.frames.len() >= DEEPEST {
            return None;
        }
        let (start_ns, start_cpu) = self.last;
        self.frames.push(Frame {
            node,
            serial,
            start_ns,
            start_cpu,
            inside: Times::default(),
            calls: 0,
            skipped: 0,
        });
        Some(serial)
    }

    /// Opens nodes of a resumed thread, outermost first: node, number, beginning. What they did so far is not known, so their own outcomes
    /// will be too small.
    pub(crate) fn resume(&mut self, inside: impl Iterator<Item = (Node, u64, u64)>) {
        self.frames.clear();
        let frames = inside.map(|(node, serial, start_ns)| Frame {
            node,
            serial,
            start_ns,
            start_cpu: None,
            inside: Times::default(),
            calls: 0,
            skipped: 0,
        });
        self.frames.extend(frames);
    }

    fn find(&self, wanted: impl Fn(Node) -> bool) -> Option<usize> {
        self.frames.iter().rposition(|frame| wanted(frame.node))
    }

    /// The position of the top node, if it matches. Waits have no children, so a match below the top is not meant.
    fn innermost(&self, wanted: impl Fn(Node) -> bool) -> Option<usize> {
        let top = self.frames.len().checked_sub(1)?;
        wanted(self.frames[top].node).then_some(top)
    }

    fn close(&mut self, found: Option<usize>, closing: Closing, ended: &mut impl FnMut(Outcome)) {
        let Some(at) = found else {
            self.unmatched += 1;
            return;
        };
        while self.frames.len() > at + 1 {
            self.pop(Closing::Unwound, ended);
        }
        self.pop(closing, ended);
    }

    fn close_all(&mut self, closing: Closing, ended: &mut impl FnMut(Outcome)) {
        while !self.frames.is_empty() {
            self.pop(closing, ended);
        }
    }

    fn pop(&mut self, closing: Closing, ended: &mut impl FnMut(Outcome)) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        let (now, now_cpu) = self.last;
        let Costs {
            inside_ns,
            outside_ns,
            skipped_ns,
        } = self.costs;
        let is_call = matches!(frame.node, Node::Call { .. });
        let own = if is_call { inside_ns } else { 0.0 };
        let probes =
            own + frame.calls as f64 * (inside_ns + outside_ns) + frame.skipped as f64 * skipped_ns;
        let probes = probes.round() as u64;
        let wall_ns = now.saturating_sub(frame.start_ns).saturating_sub(probes);
        // A thread runs on one processor at a time, so CPU time beyond wall time is an error of the clocks.
        let cpu_ns = match (frame.start_cpu, now_cpu) {
            (Some(from), Some(to)) => {
                let cpu = to.saturating_sub(from).saturating_sub(probes);
                Some(cpu.min(wall_ns))
            }
            _ => None,
        };
        let inside = frame.inside;
        let times = Times {
            wall_ns,
            cpu_ns,
            self_wall_ns: wall_ns.saturating_sub(inside.wall_ns),
            self_cpu_ns: cpu_ns.map(|cpu| cpu.saturating_sub(inside.cpu_ns.unwrap_or(0))),
        };
        if let Some(outer) = self.frames.last_mut() {
            outer.inside.wall_ns = outer.inside.wall_ns.saturating_add(wall_ns);
            let cpu = outer
                .inside
                .cpu_ns
                .unwrap_or(0)
                .saturating_add(cpu_ns.unwrap_or(0));
            outer.inside.cpu_ns = Some(cpu);
            outer.calls += frame.calls + u64::from(is_call);
            outer.skipped = outer.skipped.saturating_add(frame.skipped);
        }
        ended(Outcome {
            node: frame.node,
            depth: self.frames.len(),
            start_ns: frame.start_ns,
            end_ns: now,
            times,
            probes_ns: probes,
            closing,
            serial: frame.serial,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(at: u64, skipped: u64, what: What) -> Event {
        Event {
            thread: 2,
            wall_ns: at,
            cpu_ns: Some(at / 2),
            skipped,
            filtered: 0,
            what,
        }
    }

    fn enter(method: u32) -> What {
        What::Enter { method }
    }

    fn exit(method: u32) -> What {
        What::Exit {
            method,
            thrown: false,
        }
    }

    /// `(method, depth, wall, self wall, closing)` of everything that ended.
    fn check(
        costs: Costs,
        events: &[(u64, u64, What)],
        expect: &[(u32, usize, u64, u64, Closing)],
    ) -> Stack {
        let mut stack = Stack::new(costs);
        let mut found = Vec::new();
        let mut ended = |it: Outcome| {
            let number = match it.node {
                Node::Call { method } => method,
                Node::Contended { class, .. } | Node::Waiting { class, .. } => class,
                Node::Collection => 0,
            };
            found.push((
                number,
                it.depth,
                it.times.wall_ns,
                it.times.self_wall_ns,
                it.closing,
            ));
        };
        for (at, skipped, what) in events {
            stack.event(&event(*at, *skipped, what.clone()), &mut ended);
        }
        stack.finish(&mut ended);
        assert_eq!(found, expect);
        stack
    }

    #[test]
    fn calls_have_their_own_time_and_that_of_what_they_call() {
        use Closing::{Ended, Thrown};
        let thrown = What::Exit {
            method: 2,
            thrown: true,
        };
        let events = [
            (10, 0, enter(1)),
            (20, 0, enter(2)),
            (50, 0, thrown),
            (60, 0, enter(1)),
            (65, 0, exit(1)),
            (100, 0, exit(1)),
        ];
        let expect = [
            (2, 1, 30, 30, Thrown),
            (1, 1, 5, 5, Ended),
            (1, 0, 90, 55, Ended),
        ];
        let stack = check(Costs::default(), &events, &expect);
        assert_eq!(stack.unmatched(), 0);
    }

    #[test]
    fn what_probes_cost_is_subtracted_at_every_level() {
        use Closing::Ended;
        let costs = Costs {
            inside_ns: 3.0,
            outside_ns: 7.0,
            skipped_ns: 2.0,
        };
        // Call 2 has four calls inside that are not logged; call 1 has two more.
        let events = [
            (0, 0, enter(1)),
            (100, 2, enter(2)),
            (200, 4, exit(2)),
            (300, 0, exit(1)),
        ];
        let inner = 100 - 3 - 4 * 2;
        let outer = 300 - 3 - 10 - (2 + 4) * 2;
        let expect = [
            (2, 1, inner, inner, Ended),
            (1, 0, outer, outer - inner, Ended),
        ];
        check(costs, &events, &expect);
        // More than there is does not make it negative.
        check(
            costs,
            &[(0, 0, enter(1)), (1, 9, exit(1))],
            &[(1, 0, 0, 0, Ended)],
        );
    }

    #[test]
    fn no_call_is_longer_on_a_processor_than_it_takes() {
        let costs = Costs {
            inside_ns: 10.0,
            ..Costs::default()
        };
        let mut stack = Stack::new(costs);
        let at = |wall_ns, cpu_ns, what| Event {
            wall_ns,
            cpu_ns: Some(cpu_ns),
            ..event(0, 0, what)
        };
        let mut times = Vec::new();
        let mut ended = |it: Outcome| times.push(it.times);
        // The CPU clock went on by 9.7 µs while the wall's did by what the probes cost.
        stack.event(&at(100, 100, enter(1)), &mut ended);
        stack.event(&at(110, 9_810, exit(1)), &mut ended);
        assert_eq!(
            times,
            [Times {
                cpu_ns: Some(0),
                self_cpu_ns: Some(0),
                ..Times::default()
            }]
        );
    }

    #[test]
    fn missing_beginnings_and_ends_do_not_unbalance_a_tree() {
        use Closing::{Ended, Open, Unwound};
        let events = [
            (0, 0, exit(9)),
            (10, 0, enter(1)),
            (20, 0, enter(2)),
            (30, 0, enter(3)),
            (40, 0, exit(1)),
            (50, 0, enter(4)),
        ];
        let expect = [
            (3, 2, 10, 10, Unwound),
            (2, 1, 20, 10, Unwound),
            (1, 0, 30, 10, Ended),
            (4, 0, 0, 0, Open),
        ];
        assert_eq!(check(Costs::default(), &events, &expect).unmatched(), 1);
    }

    #[test]
    fn waits_and_contentions_are_inside_the_call_and_cost_no_probe() {
        use Closing::{Ended, Unwound};
        let costs = Costs {
            inside_ns: 1.0,
            outside_ns: 1.0,
            skipped_ns: 0.0,
        };
        let (object, class) = (77, 5);
        let events = [
            (0, 0, enter(1)),
            (10, 0, What::ContendedEnter { object, class }),
            (40, 0, What::ContendedEntered { object, class }),
            (
                50,
                0,
                What::Wait {
                    object,
                    class,
                    timeout_ms: 0,
                },
            ),
            (
                70,
                0,
                What::Waited {
                    object,
                    class,
                    timed_out: false,
                },
            ),
            (71, 0, What::ContendedEntered { object, class }),
            (80, 0, What::ThreadEnd),
        ];
        let expect = [
            (5, 1, 30, 30, Ended),
            (5, 1, 20, 20, Ended),
            (1, 0, 79, 29, Unwound),
        ];
        assert_eq!(check(costs, &events, &expect).unmatched(), 1);
    }
}
