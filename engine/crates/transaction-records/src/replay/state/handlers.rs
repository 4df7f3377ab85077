//! Finds the function that handles an event (Whodunit §4.1): the first one on the call path that the waiting loop called.

use std::collections::HashMap;
use std::rc::Rc;

use fulcrum_transactions::Name;

/// A function on a call path.
#[derive(Clone, Debug)]
pub(in crate::replay) struct Place {
    pub(crate) address: u64,
    /// The function and those inlined into it, outermost first.
    pub(crate) names: Rc<[Name]>,
    /// Whether its name is known, and not only its file.
    pub(crate) is_named: bool,
    /// The row of its module in its process.
    pub(crate) module: Option<usize>,
}

/// How many of a loop's innermost functions may be at other addresses when they call a handler: the waiting function and
/// its caller.
const OF_LOOP: usize = 2;

/// The position of an event's handler on its call path. The loop waited at `waiting`, and the handler acted at `path`, both
/// outermost first. `program` is the module of the program itself.
pub(in crate::replay) fn depth(
    waiting: &[Place],
    path: &[Place],
    program: Option<usize>,
) -> Option<usize> {
    let loop_module = waiting.last()?.module;
    let both = waiting.iter().zip(path).enumerate();
    let same = both.take_while(|(depth, (a, b))| match depth + OF_LOOP >= waiting.len() {
        true => may_be_same(a, b),
        false => is_same(a, b),
    });
    let mut depth = same.count();
    // The loop of a library calls functions of its own first.
    if is_librarys(waiting, program) && path.get(depth).is_some_and(|it| it.module == loop_module) {
        let others = path[depth..].iter();
        depth += others.take_while(|it| it.module == loop_module).count();
    }
    // If a loop does the work itself, it is the handler.
    Some(depth.min(path.len().checked_sub(1)?))
}

/// Whether the waiting loop belongs to a library.
pub(in crate::replay) fn is_librarys(waiting: &[Place], program: Option<usize>) -> bool {
    let module = waiting.last().and_then(|it| it.module);
    module.is_some() && module != program
}

/// Whether a loop, which waited at one call path, runs deferred handlers at this depth: not where it is told of events, but
/// further out.
pub(in crate::replay) fn is_put_off(waiting: &[Place], depth: usize) -> bool {
    depth + OF_LOOP <= waiting.len()
}

/// Which functions call which others, over all call paths of a process.
#[derive(Clone, Debug)]
pub(in crate::replay) struct Calls {
    /// By the caller's node and the name of the callee.
    nodes: HashMap<(usize, Name), usize>,
    /// The number of callees of each node. The first node is the root.
    callees: Vec<usize>,
}

impl Default for Calls {
    fn default() -> Self {
        Calls {
            nodes: HashMap::new(),
            callees: vec![0],
        }
    }
}

impl Calls {
    /// Adds a call path, outermost first.
    pub(crate) fn add(&mut self, path: &[Place]) {
        let mut at = 0;
        for name in names(path) {
            let next = self.callees.len();
            let node = *self.nodes.entry((at, name)).or_insert(next);
            if node == next {
                self.callees.push(0);
                self.callees[at] += 1;
            }
            at = node;
        }
    }

    /// The position of a deferred handler on a call path that leaves the loop at this depth. Everything that the loop calls
    /// there goes through its queue, such as Squid's `AsyncCallQueue`.
    pub(crate) fn behind_queue(&self, path: &[Place], depth: usize) -> usize {
        let mut at = names(&path[..depth]).try_fold(0, |at, name| self.callee(at, name));
        for (behind, place) in path.iter().enumerate().skip(depth) {
            let Some(caller) = at else { break };
            // The loop itself also calls what waits.
            let waits = usize::from(behind == depth);
            if self.callees[caller] > 1 + waits {
                return behind;
            }
            let name = place.names.first().filter(|_| place.is_named);
            at = name.and_then(|name| self.callee(caller, *name));
        }
        depth
    }

    fn callee(&self, caller: usize, name: Name) -> Option<usize> {
        self.nodes.get(&(caller, name)).copied()
    }
}

/// The functions of a call path, without inlined ones.
fn names(path: &[Place]) -> impl Iterator<Item = Name> {
    path.iter().map_while(|it| it.names.first().copied())
}

/// Whether two places are in one function.
fn is_same(a: &Place, b: &Place) -> bool {
    let is_one_name = || a.is_named && b.is_named && a.names.first() == b.names.first();
    a.address == b.address || is_one_name()
}

/// Whether two places may be in one function: unnamed places in one file may be.
fn may_be_same(a: &Place, b: &Place) -> bool {
    let is_unnamed = !a.is_named && !b.is_named;
    is_same(a, b) || is_unnamed && a.module.is_some() && a.module == b.module
}
