//! The automatic search: what it covers, that it says why, and that it always says the same.

use std::sync::{Arc, Mutex};

use crate::support::automatic;
use crate::support::planted::{Planted, planted};
use fulcrum_model::call_graph::{GraphCall, GraphFunction};
use fulcrum_model::call_tree::ValueType;
use fulcrum_model::{CallGraph, Cancelled, Progress};
use fulcrum_paths::{
    Automatic, CallGraphProfile, CallTreeProfile, ComparativeProfile, Denominator, DenominatorKind,
    Normalisation, Options, ProfileInterface, why,
};

fn compared(pair: &Planted) -> ComparativeProfile {
    ComparativeProfile::new((pair.a.clone(), 0), (pair.b.clone(), 0)).unwrap()
}

fn paths<P: ProfileInterface>(profile: &P, found: &Automatic<P::Summary>) -> Vec<String> {
    let each = found.found.iter();
    each.map(|it| profile.path_of(&it.summary).join(" "))
        .collect()
}

#[test]
fn fourteen_sequences_cover_what_the_papers_expert_covered() {
    for seed in 0..3 {
        let pair = planted(seed, 40_000);
        let profile = compared(&pair);
        let found = automatic(&profile, &Options::default(), &[]);
        assert!(found.found.len() <= 14);
        assert!(found.coverage >= 0.827, "seed {seed}: {}", found.coverage);
        // Each is context, not a method alone: it holds the part of a planted sequence that tells it apart.
        let paths = paths(&profile, &found);
        for sequence in &pair.sequences[..8] {
            let own = sequence[..sequence.len() - 3].join(" ");
            assert!(
                paths.iter().any(|it| it.contains(&own)),
                "{own} is not in {paths:#?}"
            );
        }
        let names: usize = paths.iter().map(|it| it.split(' ').count()).sum();
        assert!(names as f64 / paths.len() as f64 >= 8.0, "{paths:#?}");
    }
}

#[test]
fn the_marginal_coverages_add_up_and_the_cums_hardly_overlap() {
    let pair = planted(7, 40_000);
    let profile = compared(&pair);
    let found = automatic(&profile, &Options::default(), &[]);
    let marginal: i64 = found.found.iter().map(|it| it.marginal).sum();
    let cum: i64 = found
        .found
        .iter()
        .map(|it| profile.cum_of(&it.summary))
        .sum();
    assert_eq!(marginal, found.covered);
    assert!(cum - marginal <= marginal / 20, "{cum} {marginal}");
    assert!(found.found.is_sorted_by(|a, b| a.marginal >= b.marginal));
    for it in &found.found {
        assert!(it.marginal as f64 >= 0.005 * profile.total() as f64);
        let path = profile.path_of(&it.summary);
        let why = why(&profile, &it.summary, it.marginal, &found.whole);
        let begin = match *path {
            [only] => format!("`{only}` costs "),
            _ => "These calls cost ".to_owned(),
        };
        assert!(why.starts_with(&begin), "{why}");
        assert!(
            why.contains("% of the difference") && why.ends_with('.'),
            "{why}"
        );
    }
}

#[test]
fn the_order_of_the_samples_changes_nothing() {
    let stacks: Vec<(String, i64)> = (0..400)
        .map(|n: i64| {
            let stack = format!("main f{} g{} h{}", n % 7, n * n % 11, n * 31 % 5);
            (stack, 10 + n * 7919 % 83)
        })
        .collect();
    let mut backwards = stacks.clone();
    backwards.reverse();
    let [forward, backward] = [stacks, backwards].map(|it| {
        let profile = CallTreeProfile::new(crate::support::tree(&it), 0);
        let found = automatic(&profile, &Options::default(), &[]);
        let whys: Vec<_> = found
            .found
            .iter()
            .map(|it| why(&profile, &it.summary, it.marginal, &found.whole))
            .collect();
        (paths(&profile, &found), whys, found.covered)
    });
    assert_eq!(forward, backward);
    assert!(!forward.0.is_empty());
}

#[test]
fn one_hot_chain_is_one_sequence_with_its_reason() {
    let stacks = [
        ("main run parse lex", 90),
        ("main run print", 6),
        ("main", 4),
    ];
    let profile = CallTreeProfile::new(crate::support::tree(&stacks), 0);
    let found = automatic(&profile, &Options::default(), &[]);
    assert_eq!(paths(&profile, &found)[0], "main run parse lex");
    assert_eq!(found.found[0].marginal, 94);
    assert_eq!(
        why(&profile, &found.found[0].summary, 94, &found.whole),
        "These calls cost 94.0 % of the total, 94.0 % in their own code; 100.0 % of what `lex` costs comes this way; \
         the stacks begin at `main`."
    );
}

#[test]
fn the_function_above_everything_does_not_stand_for_everything() {
    // `main` costs something itself, and its cum is all there is.
    let stacks = [
        ("main", 3),
        ("main load read", 30),
        ("main load parse", 20),
        ("main serve hash", 25),
        ("main serve write", 22),
    ];
    let profile = CallTreeProfile::new(crate::support::tree(&stacks), 0);
    let found = automatic(&profile, &Options::default(), &[]);
    let paths = paths(&profile, &found);
    let last: Vec<_> = paths
        .iter()
        .map(|it| it.rsplit(' ').next().unwrap())
        .collect();
    assert_eq!(last, ["read", "hash", "write", "parse"]);
    assert!(found.coverage >= 0.97, "{}", found.coverage);
}

#[test]
fn a_costly_caller_is_a_sequence_of_its_own() {
    let stacks = [("main", 40), ("main f", 20), ("main g", 20), ("main h", 20)];
    let profile = CallTreeProfile::new(crate::support::tree(&stacks), 0);
    let found = automatic(&profile, &Options::default(), &[]);
    // Not [main f]: most of its cum would be what `main` does itself.
    assert_eq!(paths(&profile, &found), ["f", "g", "h", "main"]);
    let marginal: Vec<_> = found.found.iter().map(|it| it.marginal).collect();
    assert_eq!(marginal, [20, 20, 20, 40]);
}

#[test]
fn what_became_cheaper_is_found_when_the_whole_became_cheaper() {
    let a = crate::support::tree(&[("main f", 10), ("main g", 10)]);
    let b = crate::support::tree(&[("main f", 10), ("main g cache", 80), ("main g", 10)]);
    let profile = ComparativeProfile::new((a, 0), (b, 0)).unwrap();
    let found = automatic(&profile, &Options::default(), &[]);
    assert!(paths(&profile, &found)[0].ends_with("g cache"));
    assert_eq!(profile.cum_of(&found.found[0].summary), -100 + 10);
    assert!(found.coverage >= 1.0);
}

#[test]
fn nothing_is_found_in_nothing() {
    let tree = crate::support::tree::<&str>(&[]);
    let found = automatic(
        &CallTreeProfile::new(tree.clone(), 0),
        &Options::default(),
        &[],
    );
    assert!(found.found.is_empty());
    let same = crate::support::tree(&[("main f", 10)]);
    let profile = ComparativeProfile::new((same.clone(), 0), (Arc::clone(&same), 0)).unwrap();
    let found = automatic(&profile, &Options::default(), &[]);
    assert_eq!((found.found.len(), found.coverage), (0, 0.0));
}

#[test]
fn a_call_graph_is_searched_as_far_as_it_goes() {
    let function = |name: &str, base, cum| GraphFunction {
        name: name.into(),
        base,
        cum,
    };
    let call = |caller, callee, cum| GraphCall {
        caller,
        callee,
        base: None,
        cum,
    };
    let profile = CallGraphProfile::new(&CallGraph {
        value_type: ValueType::new("cpu", "ns"),
        functions: vec![
            function("main", 1, 100),
            function("f", 30, 60),
            function("g", 69, 69),
        ],
        calls: vec![call(0, 1, 60), call(0, 2, 39), call(1, 2, 30)],
    })
    .unwrap();
    let found = automatic(&profile, &Options::default(), &[]);
    assert!(found.coverage >= 0.85, "{}", found.coverage);
    // What `main` does itself is 1 %, and not needed.
    assert_eq!(paths(&profile, &found), ["main f", "main g"]);
    let marginal: Vec<_> = found.found.iter().map(|it| it.marginal).collect();
    assert_eq!(marginal, [60, 39]);
}

#[test]
fn what_is_labelled_already_is_not_found_again() {
    let stacks = [("main parse", 50), ("main hash", 30), ("main print", 20)];
    let profile = CallTreeProfile::new(crate::support::tree(&stacks), 0);
    let known = profile.summary_of(&["parse"]).unwrap();
    let found = automatic(&profile, &Options::default(), &[known]);
    assert_eq!(paths(&profile, &found), ["main hash", "main print"]);
    let marginal: Vec<_> = found.found.iter().map(|it| it.marginal).collect();
    assert_eq!(marginal, [30, 20]);
    assert_eq!((found.covered, found.coverage), (100, 1.0));
}

#[test]
fn the_reason_counts_callers_without_their_own_cost() {
    let stacks = [("busy f", 10), ("busy", 80), ("calm f", 5), ("calm", 5)];
    let profile = CallTreeProfile::new(crate::support::tree(&stacks), 0);
    let f = profile.summary_of(&["f"]).unwrap();
    assert_eq!(
        why(&profile, &f, 15, &Denominator::of(&profile)),
        "`f` costs 15.0 % of the total, 15.0 % in its own code; 2 callers share it, the largest, `busy`, has \
         66.7 %."
    );
    let busy_f = profile.summary_of(&["busy", "f"]).unwrap();
    assert_eq!(
        why(&profile, &busy_f, 90, &Denominator::of(&profile)),
        "These calls cost 90.0 % of the total, 90.0 % in their own code; 66.7 % of what `f` costs comes this way; \
         the stacks begin at `busy`."
    );
}

#[test]
fn noise_between_runs_is_no_regression() {
    // `new` is in every run of A; `jitter` costs much in one of them.
    let run = |new: i64, jitter: i64| {
        let stacks = [("main", 1000), ("main new", new), ("main jitter", jitter)];
        (crate::support::tree(&stacks), 0)
    };
    let a = vec![run(100, 300), run(101, 900), run(99, 310)];
    let b = vec![run(0, 500), run(0, 280), run(0, 290)];
    let several = ComparativeProfile::of_inputs(a.clone(), b.clone(), Normalisation::None).unwrap();
    let found = automatic(&several, &Options::default(), &[]);
    assert_eq!(paths(&several, &found), ["main new"]);
    let first = &found.found[0];
    let why = why(&several, &first.summary, first.marginal, &found.whole);
    assert!(why.contains("by the spread of the runs"), "{why}");
    // The worst run alone would blame the other.
    let one = ComparativeProfile::new(a[1].clone(), b[1].clone()).unwrap();
    let found = automatic(&one, &Options::default(), &[]);
    assert_eq!(paths(&one, &found)[0], "main jitter");
}

/// The paper's Figure 1: two sequences that all commands of a server share. Going on to each command would fill the places
/// with small pieces.
#[test]
fn what_all_callers_share_is_not_taken_to_pieces() {
    let mut stacks = Vec::new();
    for caller in ["quote", "buy", "sell", "home", "account"] {
        for (n, end) in ["execute set check context", "invoke run permission stack"]
            .iter()
            .enumerate()
        {
            stacks.push((format!("main {caller} {end}"), 500 - 250 * n as i64));
        }
        for n in 0..9 {
            stacks.push((format!("main {caller} part{n} leaf{n}"), 150 - 5 * n));
        }
    }
    let profile = CallTreeProfile::new(crate::support::tree(&stacks), 0);
    let found = automatic(&profile, &Options::default(), &[]);
    assert!(found.coverage >= 0.85, "{}", found.coverage);
    let paths = paths(&profile, &found);
    assert!(
        paths[0].ends_with("execute set check context"),
        "{paths:#?}"
    );
    assert!(
        paths[1].ends_with("invoke run permission stack"),
        "{paths:#?}"
    );
    assert_eq!(found.found[0].marginal, 2500);
}

/// Two threads do the same work, and one function has two callers that matter: the first is one sequence, the second two.
#[test]
fn the_same_work_in_two_threads_is_one_sequence() {
    let starts = [
        "__libc_start_call_main main",
        "start_thread std::thread::_State_impl<F>::_M_run std::__invoke<F>",
    ];
    let threads = starts.map(|start| {
        [
            (format!("{start} work compress"), 30),
            (format!("{start} work rank search"), 15),
            (format!("{start} work extract search"), 5),
        ]
    });
    let profile = CallTreeProfile::new(crate::support::tree(&threads.concat()), 0);
    let found = automatic(&profile, &Options::default(), &[]);
    assert_eq!(
        paths(&profile, &found),
        ["work compress", "work rank search", "work extract search"]
    );
    let marginal: Vec<_> = found.found.iter().map(|it| it.marginal).collect();
    assert_eq!(marginal, [60, 30, 10]);
}

#[test]
fn a_search_reports_progress_up_to_its_end_and_can_be_cancelled() {
    let tree = crate::support::random_tree(&mut fulcrum_stats::Random::new(5), false);
    let profile = CallTreeProfile::new(tree, 0);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let search = |most: usize| {
        heard.lock().unwrap().clear();
        let theirs = Arc::clone(&heard);
        let token = Progress::default();
        let handle = token.clone();
        let progress = token.with_listener(move |_: &str, fraction: f64| {
            let mut heard = theirs.lock().unwrap();
            heard.push(fraction);
            if heard.len() == most {
                handle.cancel();
            }
        });
        let found = fulcrum_paths::automatic(
            &profile,
            &Options::default(),
            &[],
            Denominator::of(&profile),
            &progress,
        );
        found.map(|it| it.covered)
    };
    let whole = automatic(&profile, &Options::default(), &[]);
    assert_eq!(search(usize::MAX), Ok(whole.covered));
    let all = heard.lock().unwrap().clone();
    assert!(all.len() > 3 && all.is_sorted(), "{all:?}");
    assert_eq!((all[0], all[all.len() - 1]), (0.0, 1.0), "{all:?}");
    for most in 1..=all.len() {
        assert_eq!(search(most), Err(Cancelled));
        assert_eq!(heard.lock().unwrap().len(), most, "it went on");
    }
}

#[test]
fn what_became_costlier_is_found_when_both_sides_cost_the_same() {
    let a = crate::support::tree(&[("main read parse", 70), ("main write", 20), ("main", 10)]);
    let b = crate::support::tree(&[("main read parse", 20), ("main write", 70), ("main", 10)]);
    let profile = ComparativeProfile::new((a, 0), (b, 0)).unwrap();
    assert_eq!(profile.total(), 0);
    let found = automatic(&profile, &Options::default(), &[]);
    assert_eq!(
        (found.whole.cost, found.whole.of),
        (50, DenominatorKind::Costlier)
    );
    assert_eq!(paths(&profile, &found), ["main read parse"]);
    assert_eq!((found.covered, found.coverage), (50, 1.0));
    let first = &found.found[0];
    let why = why(&profile, &first.summary, first.marginal, &found.whole);
    assert!(
        why.starts_with("These calls cost 100.0 % of what became costlier, 100.0 % in their own"),
        "{why}"
    );
}

/// The runs of A took twice as long. Of what they did, `parse` became more.
#[test]
fn sides_that_were_scaled_to_one_total_are_searched() {
    let a = crate::support::tree(&[("main read parse", 140), ("main write", 60)]);
    let b = crate::support::tree(&[("main read parse", 40), ("main write", 60)]);
    let (a, b) = (vec![(a, 0)], vec![(b, 0)]);
    let profile = ComparativeProfile::of_inputs(a, b, Normalisation::Totals).unwrap();
    assert_eq!(profile.total(), 0);
    let found = automatic(&profile, &Options::default(), &[]);
    assert_eq!(paths(&profile, &found), ["main read parse"]);
    assert_eq!((found.whole.cost, found.covered), (30, 30));
}

#[test]
fn shares_are_of_the_difference_unless_it_is_the_smaller_part_of_what_changed() {
    let whole = |cheaper: i64| {
        let a = crate::support::tree(&[("main f", 100), ("main g", 1)]);
        let b = crate::support::tree(&[("main g", 1 + cheaper)]);
        let whole = Denominator::of(&ComparativeProfile::new((a, 0), (b, 0)).unwrap());
        (whole.cost, whole.of)
    };
    assert_eq!(whole(0), (100, DenominatorKind::Difference));
    assert_eq!(whole(50), (50, DenominatorKind::Difference));
    assert_eq!(whole(51), (100, DenominatorKind::Costlier));
    assert_eq!(whole(100), (100, DenominatorKind::Costlier));
    assert_eq!(whole(199), (100, DenominatorKind::Costlier));
    assert_eq!(whole(200), (-100, DenominatorKind::Difference));
    let alone = CallTreeProfile::new(crate::support::tree(&[("main f", 3)]), 0);
    assert_eq!(
        Denominator::of(&alone),
        Denominator {
            cost: 3,
            of: DenominatorKind::Total
        }
    );
}
