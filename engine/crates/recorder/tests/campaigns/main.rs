//! How near shares of samples come to what programs really do: on a machine that does nothing else.

#[path = "../it/support/mod.rs"]
mod support;

use fulcrum_recorder::{Aim, Options, Sampler, TargetChoice};
use support::{Counters, Lab, recording, run_for, samples, visits};

/// Seven parts of ten of the program's work are on line 10.
const SHARE: f64 = 0.7;
const EXPERIMENTS: u64 = 20;

#[test]
fn lines_have_their_shares_of_the_samples() {
    let lab = Lab::build("shares.cpp", &["-g"]);
    let mut shares = Vec::new();
    for sampler in [Sampler::Auto, Sampler::Timer] {
        let mut per_visit = [0.0; 2];
        for (line, per_visit) in [10, 14].into_iter().zip(&mut per_visit) {
            let options = Options {
                sampler,
                fixed_line: Some(format!("shares.cpp:{line}")),
                ..lab.options(&[], 0.0)
            };
            let recording = recording(&run_for(options, EXPERIMENTS));
            let of = &recording.experiments;
            let selected: u64 = of.iter().map(|it| it.selected_samples).sum();
            let visited: u64 = of.iter().map(|it| visits(it, "round")).sum();
            *per_visit = selected as f64 / visited as f64;
            let count = |wanted: u32| {
                let of_line = recording.samples.iter();
                let of_line = of_line.filter(|(at, _)| at.location.line == wanted);
                of_line.map(|(_, count)| *count).sum::<u64>() as f64
            };
            shares.push(count(10) / (count(10) + count(14)));
        }
        shares.push(per_visit[0] / per_visit.iter().sum::<f64>());
    }
    println!("verdict: of the samples, {shares:.3?} are on the line with {SHARE} of the work");
    assert!(shares.iter().all(|it| (it - SHARE).abs() < 0.03));
}

#[test]
fn functions_with_their_callees_have_theirs() {
    let lab = Lab::build("calls.cpp", &["-g", "-O2", "-fomit-frame-pointer"]);
    let path = |text: &str| text.split(' ').map(str::to_owned).collect();
    let paths = vec![path("heavy leaf"), path("work light leaf")];
    let shares = [
        (TargetChoice::Inclusive, "heavy", "light"),
        (
            TargetChoice::Path(paths),
            "heavy > leaf",
            "work > light > leaf",
        ),
    ]
    .map(|(target, heavy, light)| {
        let options = Options {
            aim: Aim {
                target,
                ..Aim::default()
            },
            ..lab.options(&[], 0.0)
        };
        let counts = samples(&recording(&run_for(options, EXPERIMENTS)));
        counts[heavy] as f64 / (counts[heavy] + counts[light]) as f64
    });
    println!("verdict: of the samples, {shares:.3?} are below the call with {SHARE} of the work");
    assert!(shares.iter().all(|it| (it - SHARE).abs() < 0.03));
}

#[test]
fn blocked_calls_have_the_time_that_they_waited() {
    let lab = Lab::build("calls.cpp", &["-g", "-O2", "-fomit-frame-pointer"]);
    let counters = Counters::new(&lab);
    let words = ["nap", &format!("file={}", counters.path())];
    let options = Options {
        aim: Aim {
            target: TargetChoice::Blocked,
            ..Aim::default()
        },
        ..lab.options(&words, 0.0)
    };
    let recording = recording(&run_for(options, EXPERIMENTS));
    let period = recording.period_ns.unwrap() as f64;
    let sampled = period * samples(&recording)["nanosleep"] as f64;
    let share = sampled / counters.get(0) as f64;
    println!("verdict: samples of blocked calls are {share:.3} of the time that they waited");
    assert!((share - 1.0).abs() < 0.05);
}
