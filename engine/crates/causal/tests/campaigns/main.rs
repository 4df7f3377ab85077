//! Simulations of thousands of runs, judged by what the intervals promise.

#[path = "../it/coverage.rs"]
mod coverage;
#[path = "../it/peeking.rs"]
mod peeking;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "../it/simulated/mod.rs"]
mod simulated;

#[test]
fn intervals_hold_the_truth_with_few_experiments_and_drift() {
    let all = [8, 16, 32, 64].map(|experiments| {
        let held = coverage::simulate(experiments, 3000);
        [held.of_points, held.of_slopes].map(|[held, all]| f64::from(held) / f64::from(all))
    });
    println!(
        "verdict: of points and slopes with 8, 16, 32, 64 experiments hold the truth: {all:.3?}"
    );
    assert!(all.iter().flatten().all(|part| *part >= 0.94), "{all:?}");
}

/// Looking at a run every two seconds, and stopping when one likes what one sees.
#[test]
fn always_valid_intervals_hold_whenever_one_stops() {
    const RUNS: u32 = 1600;
    let peeked = peeking::simulate(RUNS.into());
    let part = |count: u32| f64::from(count) / f64::from(RUNS);
    let missed = peeked
        .missed
        .each_ref()
        .map(|it| [it.plain, it.always_valid, it.stopped].map(part));
    println!(
        "verdict: {} of {RUNS} stopped; plain, always-valid and stopped intervals missed an effect and none in {missed:.3?}",
        peeked.stops
    );
    assert!(peeked.stops > RUNS * 9 / 10);
    // Two standard errors of 5 % in so many runs.
    let allowed = 0.05 + 2.0 * (0.05 * 0.95 / f64::from(RUNS)).sqrt();
    for [plain, valid, stopped] in missed {
        assert!(valid <= allowed && stopped <= allowed);
        assert!(plain > allowed, "the plain interval would do");
    }
}
