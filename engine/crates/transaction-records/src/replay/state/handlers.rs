//! Which function handles an event (Whodunit §4.1): the first one on the call path that the loop, which waited, called.

use std::collections::HashMap;
use std::rc::Rc;

use fulcrum_transactions::Name;

/// A function on a call path.
#[derive(Clone, Debug)]
pub(in crate::replay) struct Place {
    pub(crate) address: u64,
    /// The function and what was inlined into it, outermost first.
    pub(crate) names: Rc<[Name]>,
    /// Its name is known, rather than its file alone.
    pub(crate) is_named: bool,
    /// The row of its module in its process.
    pub(crate) module: Option<usize>,
}

/// So many of a loop's innermost functions may be found at other addresses when they call a handler: the one that waits, and
/// its caller.
const OF_LOOP: usize = 2;

/// Where the handler of an event stands on its call path. `waiting` is where the loop waited and `path` where the handler did
/// something, both outermost first. `program` is the module of the program itself.
pub(in crate::replay) fn depth(
    waiting: &[Place],
    path: &[Place],
    program: Option<usize>,
) -> Option<usize> {
    let loop_module = waiting.last()?.module;
    let both = waiting.iter().zip(path).enumerate();
    let same = both.take_while(|(depth, (a, b))| is_same(a, b, depth + OF_LOOP >= waiting.len()));
    let mut depth = same.count();
    // A library's loop calls functions of its own first.
    if is_librarys(waiting, program) && path.get(depth).is_some_and(|it| it.module == loop_module) {
        let others = path[depth..].iter();
        depth += others.take_while(|it| it.module == loop_module).count();
    }
    // When a loop does the work itself, it is the handler.
    Some(depth.min(path.len().checked_sub(1)?))
}

/// Whether the loop that waited is a library's.
pub(in crate::replay) fn is_librarys(waiting: &[Place], program: Option<usize>) -> bool {
    let module = waiting.last().and_then(|it| it.module);
    module.is_some() && module != program
}

/// Whether a loop that waited by one call path calls at this depth what handlers have put off: not where it is told of events,
/// but further out.
pub(in crate::replay) fn is_put_off(waiting: &[Place], depth: usize) -> bool {
    depth + OF_LOOP <= waiting.len()
}

/// Which functions call which others, by all call paths of a process.
#[derive(Clone, Debug)]
pub(in crate::replay) struct Calls {
    /// By the caller's node and the name of what it calls.
    nodes: HashMap<(usize, Name), usize>,
    /// How many functions each node calls. The first one is no function.
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

    /// Where the handler stands on a call path that leaves the loop at this depth, when it was put off: what everything goes
    /// through that the loop calls there is its queue, such as Squid's `AsyncCallQueue`.
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

/// The functions of a call path, without what was inlined into them.
fn names(path: &[Place]) -> impl Iterator<Item = Name> {
    path.iter().map_while(|it| it.names.first().copied())
}

/// Whether two places are in one function. Without names it is taken for one where a loop's function is expected, and both are
/// in one file.
fn is_same(a: &Place, b: &Place, is_of_loop: bool) -> bool {
    match (a.is_named, b.is_named) {
        _ if a.address == b.address => true,
        (true, true) => a.names.first() == b.names.first(),
        (false, false) => is_of_loop && a.module.is_some() && a.module == b.module,
        _ => false,
    }
}
