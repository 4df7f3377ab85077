//! Units of work that are compared: each one is an observation.

use std::sync::Arc;

use fulcrum_model::CallTree;
use fulcrum_paths::{
    AnyProfile, Calls, ComparativeProfile, FileIdentity, FlameTree, Normalisation, Observation,
    Observations, Options, ProfileInput, ProfileInterface as _, Search, Sides, Spread, open,
};
use fulcrum_stats::{Random, Sample, welch};

use crate::support::tree;

/// A tree of what units cost, and what each of them cost; written by stack, unit and cost.
fn observed(units: u64, samples: &[(&str, u32, i64)]) -> (Arc<CallTree>, Arc<Observations>) {
    let stacks: Vec<(&str, i64)> = samples.iter().map(|it| (it.0, it.2)).collect();
    let tree = tree(&stacks);
    let text = |node: u32| -> String {
        let names: Vec<&str> = tree.stack(node).map(|it| &*tree.frame(it).name).collect();
        names.join(" ")
    };
    let nodes: Vec<String> = (0..tree.len()).map(text).collect();
    let cost = |&(stack, unit, cost): &(&str, u32, i64)| Observation {
        node: nodes.iter().position(|it| it == stack).unwrap() as u32,
        unit,
        cost,
    };
    let costs = samples.iter().map(cost).collect();
    (tree, Arc::new(Observations::new(units, costs)))
}

fn source(file: &str, units: u64, samples: &[(&str, u32, i64)]) -> ProfileInput {
    let (tree, observations) = observed(units, samples);
    ProfileInput {
        identity: FileIdentity {
            file: file.into(),
            digest: file.into(),
        },
        calls: Calls::Tree(tree),
        default_value: 0,
        observations: Some(observations),
    }
}

/// Of four misses, three load; of five hits, all look up and none loads.
fn misses_and_hits() -> (ProfileInput, ProfileInput) {
    let misses = source(
        "miss",
        4,
        &[
            ("serve look", 0, 10),
            ("serve load", 0, 100),
            ("serve load", 1, 80),
            ("serve load parse", 1, 40),
            ("serve load", 2, 90),
            ("serve", 2, 10),
        ],
    );
    let hits = source(
        "hit",
        5,
        &[
            ("serve look", 0, 10),
            ("serve look", 1, 20),
            ("serve look", 2, 10),
            ("serve look", 3, 10),
            ("serve look", 4, 10),
        ],
    );
    (misses, hits)
}

fn compared() -> AnyProfile {
    let (a, b) = misses_and_hits();
    open(vec![a], vec![b], None, Normalisation::None)
        .unwrap()
        .profile
}

fn spread_of(a: &[f64], b: &[f64]) -> [f64; 3] {
    let found = welch(Sample::of(a).unwrap(), Sample::of(b).unwrap());
    [found.interval.low, found.interval.high, found.p]
}

fn close(found: Spread, a: &[f64], b: &[f64]) {
    let expect = spread_of(a, b);
    for (found, expect) in [found.low, found.high, found.p].into_iter().zip(expect) {
        assert!((found - expect).abs() < 1e-9, "{found} {expect}");
    }
    assert_eq!((found.a.runs, found.b.runs), (a.len(), b.len()));
}

#[test]
fn costs_are_those_of_one_unit() {
    let profile = compared();
    let load = profile.summary_of(&["load"]).unwrap();
    // 270 and 310 of four; 60 of five.
    let sides = profile.sides_of(&load).unwrap();
    assert_eq!(sides.base, Sides { a: 68, b: 0 });
    assert_eq!(sides.cum, Sides { a: 78, b: 0 });
    assert_eq!(profile.sides(), Some(Sides { a: 83, b: 12 }));
    assert_eq!(profile.total(), 71);
}

#[test]
fn each_unit_is_an_observation_and_those_without_a_sample_cost_nothing() {
    let profile = compared();
    let load = profile.summary_of(&["load"]).unwrap();
    let spread = profile.spread_of(&load).unwrap();
    close(spread.base, &[100.0, 80.0, 90.0, 0.0], &[0.0; 5]);
    close(spread.cum, &[100.0, 120.0, 90.0, 0.0], &[0.0; 5]);
    let serve = profile.summary_of(&["serve"]).unwrap();
    let spread = profile.spread_of(&serve).unwrap();
    close(
        spread.cum,
        &[110.0, 120.0, 100.0, 0.0],
        &[10.0, 20.0, 10.0, 10.0, 10.0],
    );
    close(spread.base, &[10.0, 0.0, 0.0, 0.0], &[0.0; 5]);
}

#[test]
fn one_unit_tells_nothing_of_how_certain_a_difference_is() {
    let one = source("one", 1, &[("serve", 0, 10)]);
    let (_, hits) = misses_and_hits();
    let profile = open(vec![one], vec![hits], None, Normalisation::None).unwrap();
    let profile = profile.profile;
    let serve = profile.summary_of(&["serve"]).unwrap();
    assert_eq!(profile.spread_of(&serve), None);
    let sides = profile.sides_of(&serve).unwrap();
    assert_eq!(sides.cum, Sides { a: 10, b: 12 });
}

/// Only one side knows its units: their sums are compared, as ever.
#[test]
fn a_profile_without_units_is_compared_as_a_whole() {
    let (misses, hits) = misses_and_hits();
    let hits = ProfileInput {
        observations: None,
        ..hits
    };
    let profile = open(vec![misses], vec![hits], None, Normalisation::None).unwrap();
    assert_eq!(profile.profile.total(), 330 - 60);
}

/// 400 units on both sides take 50 longer in `slow` on one of them, and about as long in `same`.
#[test]
fn the_automatic_search_proposes_only_what_is_significant() {
    let mut random = Random::new(7);
    let mut side = |slower: i64| {
        let mut samples = Vec::new();
        for unit in 0..400 {
            let noise = random.index(40) as i64;
            samples.push(("serve same", unit, 80 + noise));
            samples.push(("serve slow", unit, 40 + slower + random.index(20) as i64));
        }
        samples
    };
    let (a, b) = (source("a", 400, &side(50)), source("b", 400, &side(0)));
    let opened = open(vec![a], vec![b], None, Normalisation::None).unwrap();
    let search = Search::new(Arc::new(opened.profile));
    let found = search
        .automatic(&Options::default(), &fulcrum_model::Progress::default())
        .unwrap();
    let paths: Vec<String> = found
        .suggestions
        .iter()
        .map(|it| it.path.join(" "))
        .collect();
    assert!(paths.iter().any(|it| it.ends_with("slow")), "{paths:?}");
    assert!(paths.iter().all(|it| !it.ends_with("same")), "{paths:?}");
}

#[test]
fn a_flame_graph_is_as_wide_as_one_unit_costs() {
    let (a, b) = misses_and_hits();
    let side = |it: ProfileInput| match it.calls {
        Calls::Tree(tree) => ((tree, 0), it.observations.unwrap()),
        Calls::Graphs(_) => unreachable!("it is a tree"),
    };
    let profile = ComparativeProfile::of_units(side(a), side(b)).unwrap();
    assert_eq!(profile.unit(), "ns");
    let profile = Arc::new(AnyProfile::Comparison(profile));
    let tree = FlameTree::new(&profile).unwrap();
    let all = (0, tree.len());
    assert_eq!((tree.a(all.0, all.1), tree.b(all.0, all.1)), (83, 12));
}
