//! How long the search takes on a generated pair of profiles: `cargo run --release --example million -- 1000000`.

#[path = "../tests/it/support/mod.rs"]
mod support;

use std::time::Instant;

use fulcrum_model::Progress;
use fulcrum_paths::{
    CUTOFF, CallTreeProfile, ComparativeProfile, Denominator, End, Options, ProfileInterface,
    Suggester, automatic, why, zoom,
};

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    println!("{what:40} {:8.1} ms", start.elapsed().as_secs_f64() * 1e3);
    result
}

fn main() {
    let nodes = std::env::args().nth(1).and_then(|it| it.parse().ok());
    let nodes = nodes.unwrap_or(1_000_000);
    let pair = timed("generate and build", || support::planted::planted(1, nodes));
    println!("{} and {} nodes", pair.a.len(), pair.b.len());
    let single = timed("prepare one", || CallTreeProfile::new(pair.a.clone(), 0));
    measure(&single);
    let both = timed("prepare both", || {
        ComparativeProfile::new((pair.a.clone(), 0), (pair.b.clone(), 0)).expect("same unit")
    });
    measure(&both);
}

fn measure<P: ProfileInterface>(profile: &P) {
    let all = timed("suggest", || Suggester::HighCum.suggest(profile));
    let mut slowest = (0.0, String::new());
    for s in all.iter().step_by(all.len().div_ceil(300)) {
        for end in [End::Top, End::Bottom] {
            let start = Instant::now();
            let shown = zoom(profile, s, CUTOFF, end).shown.len();
            let took = start.elapsed().as_secs_f64() * 1e3;
            if took > slowest.0 {
                slowest = (
                    took,
                    format!("{:?} {end:?}, {shown} shown", profile.path_of(s)),
                );
            }
        }
    }
    println!(
        "slowest zoom of 300 methods: {:.1} ms, {}",
        slowest.0, slowest.1
    );
    let found = timed("automatic", || {
        let (whole, progress) = (Denominator::of(profile), Progress::default());
        automatic(profile, &Options::default(), &[], whole, &progress).expect("nobody cancels it")
    });
    println!(
        "{} sequences cover {:.1} %",
        found.found.len(),
        100.0 * found.coverage
    );
    for it in &found.found {
        let why = why(profile, &it.summary, it.marginal, &found.whole);
        println!("  {:3} names: {why}", profile.path_of(&it.summary).len());
    }
}
