//! The common part of the call paths of a thread's work, and whether a wait belongs to that work.

use fulcrum_transactions::Name;

use crate::process::MADE_CODE;
use crate::replay::state::doing::Doing;
use crate::replay::state::world::World;

impl World<'_> {
    /// Whether a wait happens in the middle of a thread's work, all of whose call paths begin with `scope`.
    ///
    /// The callers of just-in-time code are unknown, so a wait below it may be at any depth. It ends no request that has
    /// not been answered.
    pub(in crate::replay) fn is_in_midst(
        &self,
        process: usize,
        of: Doing,
        (scope, wait): (&[Name], &[Name]),
    ) -> bool {
        let is_open = of.task.is_some_and(|it| !self.tasks[it].is_over);
        let names = &self.processes[process].dictionary.names;
        let common = common(scope, wait);
        let is_made = common > 0 && names.text(wait[common - 1]) == MADE_CODE;
        is_within(scope, wait) || is_open && is_made && wait.len() > common
    }
}

/// The number of functions that two call paths have in common, starting with the outermost.
pub(in crate::replay) fn common(a: &[Name], b: &[Name]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Whether a wait belongs to work whose call paths all begin with `scope`, and not to the loop that does one piece of work
/// after the other. A loop waits itself, or through one function of its own.
fn is_within(scope: &[Name], wait: &[Name]) -> bool {
    let common = common(scope, wait);
    let deeper = wait.len() - common;
    deeper > 0 && (common == scope.len() || deeper > 1)
}
