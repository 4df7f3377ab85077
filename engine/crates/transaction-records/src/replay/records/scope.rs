//! What all call paths have in common of what a thread does, and whether a wait is a part of it.

use fulcrum_transactions::Name;

use crate::process::MADE_CODE;
use crate::replay::state::doing::Doing;
use crate::replay::state::world::World;

impl World<'_> {
    /// Whether a wait is made in the midst of what a thread does, of which all call paths begin with `scope`.
    ///
    /// Of code that a virtual machine has made no calls are known: a wait below it may be as deep as anything else. It ends no
    /// request that is still to be answered.
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

/// How many functions two call paths have in common, from the outermost on.
pub(in crate::replay) fn common(a: &[Name], b: &[Name]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Whether a wait is made by what a thread does, all of which has call paths that begin with `scope`, rather than by the loop
/// that does one thing after the other. A loop waits itself, or by one function of its own.
fn is_within(scope: &[Name], wait: &[Name]) -> bool {
    let common = common(scope, wait);
    let deeper = wait.len() - common;
    deeper > 0 && (common == scope.len() || deeper > 1)
}
