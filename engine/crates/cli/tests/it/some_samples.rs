//! A few of the samples; `npm run bench -- campaigns` takes all of them.

use crate::samples::check;

#[test]
fn samples_build_have_their_targets_and_give_the_same_result_when_profiled() {
    assert_eq!(check(&["pipeline", "two-threads"]), 2);
}
