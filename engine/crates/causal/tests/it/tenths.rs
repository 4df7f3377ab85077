//! A tenth of the simulations that `npm run bench -- campaigns` judges, to the last count: what changes a count changes
//! the statistics.

use crate::{coverage, peeking};
use expect_test::expect;

#[test]
fn intervals_with_few_experiments_and_drift() {
    let held = [8, 64].map(|experiments| coverage::simulate(experiments, 30));
    expect![[r#"
        [
            Held {
                of_points: [
                    338,
                    360,
                ],
                of_slopes: [
                    82,
                    90,
                ],
            },
            Held {
                of_points: [
                    356,
                    360,
                ],
                of_slopes: [
                    89,
                    90,
                ],
            },
        ]
    "#]]
    .assert_debug_eq(&held);
}

#[test]
fn looking_at_a_run_every_two_seconds() {
    expect![[r#"
        Peeked {
            stops: 16,
            missed: [
                Missed {
                    plain: 5,
                    always_valid: 0,
                    stopped: 0,
                },
                Missed {
                    plain: 2,
                    always_valid: 0,
                    stopped: 0,
                },
            ],
        }
    "#]]
    .assert_debug_eq(&peeking::simulate(16));
}
