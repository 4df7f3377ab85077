//! Which function handles an event (Whodunit §4.1): the first one on the call path that the loop, which waited, called.

use std::rc::Rc;

use fulcrum_transactions::Name;

/// A function on a call path.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub address: u64,
    /// The function and what was inlined into it, outermost first.
    pub names: Rc<[Name]>,
    /// Its name is known, rather than its file alone.
    pub is_named: bool,
    /// The row of its module in its process.
    pub module: Option<usize>,
}

/// So many of a loop's innermost functions may be found at other addresses when they call a handler: the one that waits, and
/// its caller.
const OF_LOOP: usize = 2;

/// The handler of an event. `waiting` is where the loop waited and `path` where the handler did something, both outermost
/// first. `program` is the module of the program itself.
pub(super) fn handler(waiting: &[Place], path: &[Place], program: Option<usize>) -> Option<Name> {
    let loop_module = waiting.last()?.module;
    let both = waiting.iter().zip(path).enumerate();
    let same = both.take_while(|(depth, (a, b))| is_same(a, b, depth + OF_LOOP >= waiting.len()));
    let mut depth = same.count();
    // A library's loop calls functions of its own first.
    let is_library = loop_module.is_some() && loop_module != program;
    if is_library && path.get(depth).is_some_and(|it| it.module == loop_module) {
        let others = path[depth..].iter();
        depth += others.take_while(|it| it.module == loop_module).count();
    }
    // When a loop does the work itself, it is the handler.
    let place = path.get(depth).or(path.last())?;
    place.names.first().copied()
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
