//! A critical section as the target, and its waiter's requests as a progress point.

use crate::support::{Counters, Lab, PATIENCE, recording, run, run_for, samples};
use fulcrum_model::causal::Count;
use fulcrum_recorder::{Error, Options};
use fulcrum_runs::PricedSection;

/// In reports, while they hold this lock.
fn section(lock: &str) -> PricedSection {
    PricedSection {
        waiter: "GET /checkout".into(),
        holder: "GET /report".into(),
        lock: lock.into(),
        function: "report".into(),
        request: Some("GET /checkout".into()),
        ..PricedSection::default()
    }
}

fn measured(lab: &Lab, words: &[&str], section: PricedSection) -> Options {
    let measured = Options::for_section(section, 0.5);
    Options {
        aim: measured.aim,
        fixed_speedup: measured.fixed_speedup,
        section: measured.section,
        ..lab.options(words, 0.0)
    }
}

fn any_lock() -> PricedSection {
    PricedSection {
        any_lock: true,
        ..section("in report")
    }
}

/// As much as the program's own clock says, and not the ten times as much that the whole function takes.
#[test]
fn samples_count_while_the_lock_is_held() {
    let lab = Lab::build("sections.c", &["-g"]);
    for section in [section("cart_lock"), any_lock()] {
        let counters = Counters::new(&lab);
        let words = [&*format!("file={}", counters.path())];
        let lock = section.lock.clone();
        let recorded = run_for(measured(&lab, &words, section), 6);
        let recording = recording(&recorded);
        let sampled = recording.period_ns.unwrap() as f64 * samples(&recording)["report"] as f64;
        let (held, all) = (counters.get(0) as f64, counters.get(1) as f64);
        assert!(5.0 * held < all, "the program's own: {held} of {all} ns");
        assert!(
            (0.5..2.0).contains(&(sampled / held)),
            "{lock}: {sampled} of {held} ns"
        );
        for experiment in &recording.experiments {
            assert!(
                experiment.speedup == 0.5 || experiment.speedup == 0.0,
                "{experiment:?}"
            );
        }
    }
}

#[test]
fn requests_of_the_type_are_a_latency_point() {
    let lab = Lab::build("sections.c", &["-g"]);
    let recorded = run_for(measured(&lab, &[], section("cart_lock")), 4);
    let recording = recording(&recorded);
    let points: Vec<_> = recording
        .experiments
        .iter()
        .flat_map(|it| &it.points)
        .collect();
    assert!(!points.is_empty(), "{recording:?}");
    for point in points {
        // Reports are not among them, and the one client has one request at a time.
        assert_eq!(point.name, "GET /checkout");
        match point.count {
            Count::Latency {
                arrivals,
                departures,
                difference,
            } => {
                assert!(arrivals.abs_diff(departures) <= 1, "{point:?}");
                assert!(
                    arrivals > 0 && (0.0..=1.01).contains(&difference),
                    "{point:?}"
                );
            }
            Count::Throughput { .. } => panic!("{point:?}"),
        }
    }
}

#[test]
fn what_cannot_be_measured_is_refused_before_it_begins() {
    let lab = Lab::build("sections.c", &["-g"]);
    let of = |function: &str| PricedSection {
        function: function.into(),
        ..section("cart_lock")
    };
    let asked_by = |request: &str| PricedSection {
        request: Some(request.into()),
        ..section("cart_lock")
    };
    for (section, why) in [
        (section("gone_lock"), "has the variable gone_lock any more"),
        (of("audit"), "has no function audit with code of its own"),
        (asked_by("redis GET"), "redis GET is not an HTTP request"),
        (asked_by("main > serve"), "with --progress FILE:LINE"),
    ] {
        let options = Options {
            duration: Some(PATIENCE),
            ..measured(&lab, &[], section)
        };
        match run(&options) {
            Err(Error::CannotStart(told)) => assert!(told.contains(why), "{told}"),
            other => panic!("{other:?}"),
        }
    }
}
