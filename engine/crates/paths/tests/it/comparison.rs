//! Comparison: signs, paradoxes and units (BOTTLENECKS §2.2).

use std::sync::Arc;

use fulcrum_model::CallTreeBuilder;
use fulcrum_model::call_tree::{Frame, ValueType};
use fulcrum_paths::{
    CallTreeProfile, ComparativeProfile, Denominator, DenominatorKind, DifferentUnits,
    Normalisation, ProfileInterface, Search, Sides, Suggester, paradox_of,
};

fn compare(a: &[(&str, i64)], b: &[(&str, i64)]) -> ComparativeProfile {
    ComparativeProfile::new((crate::support::tree(a), 0), (crate::support::tree(b), 0)).unwrap()
}

#[test]
fn a_caller_in_a_does_not_count_for_calls_that_only_b_makes() {
    let profile = compare(&[("r f", 5)], &[("r f", 1), ("r f g", 2)]);
    let s = profile.summary_of(&["f", "g"]).unwrap();
    // One merged tree would say 5 - 1 - 2.
    assert_eq!(profile.base_of(&s), -3);
    assert_eq!(profile.sides_of(&s).unwrap().base, Sides { a: 0, b: 3 });
}

#[test]
fn paradoxical_values_are_kept_and_explained() {
    let profile = compare(&[("f", 10)], &[("f g", 30)]);
    let f = profile.summary_of(&["f"]).unwrap();
    assert_eq!((profile.base_of(&f), profile.cum_of(&f)), (10, -20));
    assert_eq!(
        paradox_of(&profile, &f, &Denominator::of(&profile))
            .unwrap()
            .to_string(),
        "The cum is negative: this path costs less in A than in B. \
         The cum is below the base: what it calls costs less in A than in B. \
         The share of the base is below 0 %: it costs more in A than in B, and all together cost less."
    );
    let g = profile.summary_of(&["g"]).unwrap();
    assert_eq!(
        paradox_of(&profile, &g, &Denominator::of(&profile))
            .unwrap()
            .to_string(),
        "Base and cum are negative: this path costs less in A than in B. \
         It is more than 100 % of the difference: other paths became costlier."
    );
    let plain = compare(&[("f", 10)], &[("f", 3)]);
    let f = plain.summary_of(&["f"]).unwrap();
    assert_eq!(paradox_of(&plain, &f, &Denominator::of(&plain)), None);
}

#[test]
fn suggestions_are_ranked_without_the_sign() {
    let profile = compare(&[("f", 10), ("g", 5)], &[("h", 7), ("g", 4)]);
    let all = Suggester::HighBase.suggest(&profile);
    let names: Vec<_> = all.iter().map(|s| profile.path_of(s)[0]).collect();
    assert_eq!(names, ["f", "h", "g"]);
    let bases: Vec<_> = all.iter().map(|s| profile.base_of(s)).collect();
    assert_eq!(bases, [10, -7, 1]);
    assert_eq!(profile.total(), 4);
    assert_eq!(profile.sides(), Some(Sides { a: 15, b: 11 }));
}

#[test]
fn different_units_are_refused() {
    let mut builder = CallTreeBuilder::new(vec![ValueType::new("alloc", "bytes")]).unwrap();
    let f = builder.intern(Frame::function("f")).unwrap();
    builder.add(&[f], &[1]).unwrap();
    let bytes = Arc::new(builder.finish().unwrap());
    let refused = ComparativeProfile::new((crate::support::tree(&[("f", 1)]), 0), (bytes, 0));
    assert_eq!(
        refused.err(),
        Some(DifferentUnits {
            a: "ns".into(),
            b: "bytes".into()
        })
    );
}

#[test]
fn a_tree_for_each_thread_gives_functions_the_sums_of_one_for_all() {
    let together = crate::support::tree(&[("main f", 3), ("main f f", 4), ("main", 1)]);
    let apart = [("main f", 3), ("main f f", 4), ("main", 1)];
    let apart: Vec<_> = apart
        .iter()
        .enumerate()
        .map(|(thread, (stack, cost))| (format!("#{thread} {stack}"), *cost))
        .collect();
    let apart = crate::support::tree_of(&apart, |name| match name.strip_prefix('#') {
        Some(thread) => Frame::container(thread),
        None => Frame::function(name),
    });
    let [together, apart] = [together, apart].map(|it| CallTreeProfile::new(it, 0));
    assert_eq!(together.total(), apart.total());
    for name in ["main", "f"] {
        let metrics = |profile: &CallTreeProfile| {
            let s = profile.summary_of(&[name]).unwrap();
            (
                profile.base_of(&s),
                profile.cum_of(&s),
                profile.top_extensions(&s).len(),
            )
        };
        assert_eq!(metrics(&together), metrics(&apart), "{name}");
    }
    // A longer path has its callers' own cost only where it occurs: here not in the third thread.
    let cum =
        |profile: &CallTreeProfile| profile.cum_of(&profile.summary_of(&["main", "f"]).unwrap());
    assert_eq!((cum(&together), cum(&apart)), (8, 7));
    assert!(apart.summary_of(&["0"]).is_err(), "a thread is in no path");
}

/// Runs of `main` with one callee `f`, by what each costs itself.
fn runs(costs: &[(i64, i64)]) -> Vec<(Arc<fulcrum_model::CallTree>, usize)> {
    let each = costs.iter();
    each.map(|&(main, f)| (crate::support::tree(&[("main", main), ("main f", f)]), 0))
        .collect()
}

#[test]
fn several_runs_are_compared_by_their_means() {
    let a = runs(&[(100, 11), (102, 12), (104, 13)]);
    let b = runs(&[(101, 9), (102, 10), (103, 11)]);
    let profile = ComparativeProfile::of_inputs(a, b, Normalisation::None).unwrap();
    let f = profile.summary_of(&["f"]).unwrap();
    assert_eq!(profile.sides_of(&f).unwrap().base, Sides { a: 12, b: 10 });
    assert_eq!(profile.base_of(&f), 2);
    assert_eq!(profile.sides(), Some(Sides { a: 114, b: 112 }));
    // By hand: t = 2 / sqrt(1/3 + 1/3) = 2.449 with 4 degrees of freedom.
    let spread = profile.spread_of(&f).unwrap().base;
    assert_eq!((spread.a.mean, spread.a.deviation), (12.0, 1.0));
    assert!((spread.p - 0.0705).abs() < 1e-4, "{}", spread.p);
    assert!(spread.low < 0.0 && spread.high > 4.0 && !spread.significant());
    let one = compare(&[("f", 3)], &[("f", 2)]);
    assert_eq!(one.spread_of(&one.summary_of(&["f"]).unwrap()), None);
}

#[test]
fn a_run_without_a_path_counts_as_nothing() {
    let a = vec![
        (crate::support::tree(&[("main f", 30)]), 0),
        (crate::support::tree(&[("main", 1)]), 0),
    ];
    let b = runs(&[(1, 0)]);
    let profile = ComparativeProfile::of_inputs(a, b, Normalisation::None).unwrap();
    let main_f = profile.summary_of(&["main", "f"]).unwrap();
    // 30 and nothing on the one side, what `main` costs itself on the other.
    assert_eq!(
        profile.sides_of(&main_f).unwrap().cum,
        Sides { a: 15, b: 1 }
    );
}

#[test]
fn normalisation_is_what_was_asked_for() {
    let profile =
        |how| ComparativeProfile::of_inputs(runs(&[(60, 40)]), runs(&[(150, 50)]), how).unwrap();
    let f = |profile: &ComparativeProfile| {
        let s = profile.summary_of(&["f"]).unwrap();
        (profile.sides_of(&s).unwrap().base, profile.total())
    };
    assert_eq!(
        f(&profile(Normalisation::None)),
        (Sides { a: 40, b: 50 }, -100)
    );
    assert_eq!(
        f(&profile(Normalisation::Totals)),
        (Sides { a: 80, b: 50 }, 0)
    );
    assert_eq!(
        f(&profile(Normalisation::Factor(1.5))),
        (Sides { a: 60, b: 50 }, -50)
    );
}

#[test]
fn counts_with_and_without_fractions_are_compared_in_the_finest_part() {
    let run = |unit: &str, value| {
        let mut builder = CallTreeBuilder::new(vec![ValueType::new("samples", unit)]).unwrap();
        let f = builder.intern(Frame::function("f")).unwrap();
        builder.add(&[f], &[value]).unwrap();
        (Arc::new(builder.finish().unwrap()), 0)
    };
    for (a, b, sides) in [
        (("", 3), ("0.01 count", 250), (300, 250)),
        (("0.1 count", 3), ("count", 2), (3, 20)),
        (("0.1 count", 3), ("0.001 count", 2), (300, 2)),
    ] {
        let profile = ComparativeProfile::new(run(a.0, a.1), run(b.0, b.1)).unwrap();
        let (a, b) = sides;
        assert_eq!(profile.sides(), Some(Sides { a, b }));
        assert!(profile.unit().starts_with("0."));
    }
    let refused = ComparativeProfile::new(run("", 3), run("0.1 s", 3));
    assert_eq!(refused.err().map(|it| it.b), Some("0.1 s".into()));
    let large = ComparativeProfile::new(run("", i64::MAX / 8), run("0.1 count", 3));
    assert_eq!(large.err().map(|it| it.a), Some("0.1 count".into()));
}

#[test]
fn every_run_must_have_the_same_unit() {
    let mut builder = CallTreeBuilder::new(vec![ValueType::new("alloc", "bytes")]).unwrap();
    let f = builder.intern(Frame::function("f")).unwrap();
    builder.add(&[f], &[1]).unwrap();
    let mut b = runs(&[(1, 1)]);
    b.push((Arc::new(builder.finish().unwrap()), 0));
    let refused = ComparativeProfile::of_inputs(runs(&[(1, 1)]), b, Normalisation::None);
    assert_eq!(refused.err().map(|it| it.b), Some("bytes".into()));
}

#[test]
fn of_noisy_runs_that_look_even_only_what_is_certain_counts() {
    // `up` and `down` change clearly, `x` and `y` only by chance, and both sides cost the same.
    let run = |costs: [i64; 4]| {
        let names = ["m up", "m down", "m x", "m y"];
        let stacks: Vec<_> = names.into_iter().zip(costs).collect();
        (crate::support::tree(&stacks), 0)
    };
    let a = [[60, 10, 150, 52], [61, 11, 50, 151], [62, 9, 100, 99]].map(run);
    let b = [[20, 50, 60, 142], [21, 51, 140, 61], [22, 49, 92, 110]].map(run);
    let none = Normalisation::None;
    let profile = ComparativeProfile::of_inputs(a.into(), b.into(), none).unwrap();
    let whole = Denominator::of(&profile);
    // 40 of `up`; the mean of `x` is 3 more, too, and may be noise.
    let expected = Denominator {
        cost: 40,
        of: DenominatorKind::Costlier,
    };
    assert_eq!(whole, expected);
    let mut search = Search::new(profile);
    search.set_suggester(Suggester::HighBase);
    let names = |rows: Vec<fulcrum_paths::Row>| -> Vec<String> {
        rows.into_iter().map(|row| row.path.concat()).collect()
    };
    assert_eq!(names(search.suggest().all()), ["down", "up"]);
    assert_eq!(search.noise(), 3);
    // What is asked for by name is shown, noise or not.
    assert_eq!(names(search.find("x").all()), ["x"]);
}

#[test]
fn of_single_runs_nothing_is_left_out() {
    let profile = compare(&[("m f", 60), ("m g", 40)], &[("m f", 20), ("m h", 80)]);
    let mut search = Search::new(profile);
    assert_eq!(search.whole().of, DenominatorKind::Costlier);
    assert_eq!((search.suggest().len(), search.noise()), (4, 0));
}
