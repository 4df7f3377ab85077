//! A few of the kills that `npm run bench -- campaigns` repeats.

use crate::kills;

#[test]
fn whatever_is_killed_leaves_a_run_of_transactions_that_opens() {
    assert!(kills::check(1) > 0, "nothing was answered");
}
