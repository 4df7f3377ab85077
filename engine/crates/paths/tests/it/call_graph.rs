//! Call graphs answer paths of length 1 and 2 and refuse longer ones.

use fulcrum_model::CallGraph;
use fulcrum_model::call_graph::{CallGraphError, GraphCall, GraphFunction};
use fulcrum_model::call_tree::ValueType;
use fulcrum_paths::{
    CallGraphProfile, Denominator, GraphComparison, ProfileInterface, Refusal, Search, Sides,
    cum_ovl, paradox_of, unusual_shares_note,
};

/// `main` calls `f` and `g`, `f` calls `g`.
fn graph() -> CallGraph {
    let function = |name: &str, base, cum| GraphFunction {
        name: name.into(),
        base,
        cum,
    };
    let call = |caller, callee, base, cum| GraphCall {
        caller,
        callee,
        base,
        cum,
    };
    CallGraph {
        value_type: ValueType::new("cpu", "ns"),
        functions: vec![
            function("main", 1, 100),
            function("f", 30, 60),
            function("g", 69, 69),
        ],
        calls: vec![
            call(0, 1, Some(30), 60),
            call(0, 2, None, 39),
            call(1, 2, None, 30),
        ],
    }
}

#[test]
fn functions_and_calls_have_the_profilers_numbers() {
    let profile = CallGraphProfile::new(&graph()).unwrap();
    let check = |path: &[&str], base, cum| {
        let s = profile.summary_of(path).unwrap();
        assert_eq!(
            (profile.base_of(&s), profile.cum_of(&s)),
            (base, cum),
            "{path:?}"
        );
    };
    check(&["main"], 1, 100);
    check(&["f"], 30, 60);
    check(&["main", "f"], 30, 60);
    // The base of g, shared out by what the calls cost.
    check(&["f", "g"], 30, 30);
    check(&["main", "g"], 39, 39);
    assert_eq!(profile.total(), 100);
}

#[test]
fn overlap_follows_the_calls() {
    let profile = CallGraphProfile::new(&graph()).unwrap();
    let of = |path: &[&str]| profile.summary_of(path).unwrap();
    let (main, f, g) = (of(&["main"]), of(&["f"]), of(&["g"]));
    assert_eq!(profile.total_cum_of(&[f, g]), 99);
    assert_eq!(cum_ovl(&profile, &f, &[g]), 30);
    assert_eq!(cum_ovl(&profile, &of(&["f", "g"]), &[f]), 30);
    assert_eq!(cum_ovl(&profile, &of(&["main", "g"]), &[f]), 0);
    assert_eq!(cum_ovl(&profile, &g, &[main]), 69);
    assert_eq!(profile.total_base_of(&[g, of(&["f", "g"])]), 69);
    assert_eq!(
        profile.total_base_of(&[of(&["main", "g"]), of(&["f", "g"])]),
        69
    );
}

#[test]
fn longer_paths_are_refused_with_the_reason() {
    let profile = CallGraphProfile::new(&graph()).unwrap();
    let call = profile.summary_of(&["f", "g"]).unwrap();
    let refusal = profile.extend_top(&call, "main").unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "this profile has paths of up to 2 names, not of 3: a call graph keeps what each call cost, but not from \
         where its caller was called. Record call stacks to search longer paths."
    );
    assert_eq!(
        profile.summary_of(&["main", "f", "g"]).unwrap_err(),
        refusal
    );
    assert!(profile.top_extensions(&call).is_empty());
    assert_eq!(profile.limit_of(&call), Some(refusal));
    let f = profile.summary_of(&["f"]).unwrap();
    assert_eq!(profile.limit_of(&f), None);
    assert!(matches!(
        profile.extend_top(&f, "g"),
        Err(Refusal::Absent { .. })
    ));
    let mut search = Search::new(profile);
    assert!(search.select_path(&["f", "g"]).unwrap().limit.is_some());
}

#[test]
fn recursion_ends_and_counts_once() {
    let mut graph = graph();
    for (caller, callee) in [(1, 1), (2, 1), (2, 2)] {
        graph.calls.push(GraphCall {
            caller,
            callee,
            base: None,
            cum: 5,
        });
    }
    let profile = CallGraphProfile::new(&graph).unwrap();
    let all = profile.initial_summaries();
    assert_eq!(profile.total_base_of(&all), 100);
    assert_eq!(profile.total_cum_of(&all), 100);
    let f = profile.summary_of(&["f"]).unwrap();
    assert_eq!(profile.top_extensions(&f), ["f", "g", "main"]);
    assert_eq!(profile.bottom_extensions(&f), ["f", "g"]);
}

#[test]
fn a_dangling_call_is_refused() {
    let mut graph = graph();
    graph.calls[1].callee = 9;
    assert_eq!(
        CallGraphProfile::new(&graph).err(),
        Some(CallGraphError::UnknownFunction { call: 1 })
    );
}

/// As `cProfile` writes some statistics: `main` costs more with its calls than all functions cost themselves.
fn more_than_all() -> CallGraph {
    let mut graph = graph();
    graph.functions[0].cum = 285;
    graph
}

#[test]
fn what_the_profiler_counts_beyond_the_total_takes_nothing_from_the_others() {
    let profile = CallGraphProfile::new(&more_than_all()).unwrap();
    let all = profile.initial_summaries();
    let running = |order: [usize; 3]| {
        let of = order.map(|n| all[n]);
        profile.running_total_cum_of(&of)
    };
    // Sorted by name: f, g, main.
    assert_eq!(running([2, 0, 1]), [285, 285, 285]);
    assert_eq!(running([0, 1, 2]), [60, 99, 285]);
    let found = Search::new(profile).first(3);
    let adds: Vec<f64> = found.suggestions.iter().map(|it| it.marginal).collect();
    assert_eq!(adds, [2.85, 0.0, 0.0]);
    let why = &found.suggestions[0].why;
    let because = "more than 100 %, because the profiler counted more for it than all functions cost themselves";
    assert!(why.contains(because), "{why}");
    assert!(!found.suggestions[1].why.contains("100 %, because"));
}

#[test]
fn shares_above_100_percent_have_a_sentence() {
    let profile = CallGraphProfile::new(&more_than_all()).unwrap();
    let whole = Denominator::of(&profile);
    assert_eq!(
        unusual_shares_note(&profile, &whole).unwrap(),
        "1 function has more than 100 % of the total, which is what all functions cost themselves, `main` the most: the \
         profiler counted more for it than all functions cost themselves."
    );
    let main = profile.summary_of(&["main"]).unwrap();
    assert_eq!(
        paradox_of(&profile, &main, &whole).unwrap().to_string(),
        "It is more than 100 % of the total: the profiler counted more for it than all functions cost themselves."
    );
    let f = profile.summary_of(&["f"]).unwrap();
    assert_eq!(paradox_of(&profile, &f, &whole), None);
    let plain = CallGraphProfile::new(&graph()).unwrap();
    assert_eq!(unusual_shares_note(&plain, &Denominator::of(&plain)), None);
}

#[test]
fn costs_below_0_have_a_sentence() {
    let mut graph = graph();
    graph.functions[1].base = -50;
    graph.functions[1].cum = -20;
    let profile = CallGraphProfile::new(&graph).unwrap();
    let whole = Denominator::of(&profile);
    assert_eq!(whole.cost, 20);
    assert_eq!(
        unusual_shares_note(&profile, &whole).unwrap(),
        "2 functions have more than 100 % of the total, which is what all functions cost themselves, `main` the most: other \
         costs are negative."
    );
    let f = profile.summary_of(&["f"]).unwrap();
    assert!(paradox_of(&profile, &f, &whole).is_some());
}

#[test]
fn two_graphs_are_compared_function_by_function() {
    let mut before = graph();
    before.functions[2].name = "h".into();
    before.functions[1].base = 10;
    let [a, b] = [graph(), before].map(|it| CallGraphProfile::new(&it).unwrap());
    let profile = GraphComparison::new(a, b);
    let all = profile.initial_summaries();
    let rows: Vec<_> = all
        .iter()
        .map(|s| {
            let costs = (profile.base_of(s), profile.cum_of(s));
            (profile.path_of(s).concat(), costs)
        })
        .collect();
    let row = |name: &str, base, cum| (name.to_owned(), (base, cum));
    assert_eq!(
        rows,
        [
            row("f", 20, 0),
            row("g", 69, 69),
            row("h", -69, -69),
            row("main", 0, 0)
        ]
    );
    assert_eq!(profile.sides(), Some(Sides { a: 100, b: 80 }));
    assert_eq!(profile.total(), 20);
    assert_eq!(profile.total_base_of(&all), 20);
    let f = profile.summary_of(&["f"]).unwrap();
    assert_eq!(profile.bottom_extensions(&f), ["g", "h"]);
    assert_eq!(profile.top_extensions(&f), ["main"]);
    let h = profile.extend_bottom(&f, "h").unwrap();
    assert_eq!(profile.path_of(&h), ["f", "h"]);
    assert_eq!(profile.sides_of(&h).unwrap().cum, Sides { a: 0, b: 30 });
    assert_eq!(profile.trim_top(&h), profile.summary_of(&["h"]).ok());
    // The function that both have, by a call that one has.
    assert_eq!(profile.trim_bottom(&h), Some(f));
    assert_eq!(profile.trim_top(&f), None);
    assert!(matches!(
        profile.extend_top(&h, "main"),
        Err(Refusal::TooLong { .. })
    ));
    assert!(profile.limit_of(&h).is_some());
    assert!(matches!(
        profile.extend_bottom(&f, "main"),
        Err(Refusal::Absent { .. })
    ));
    assert!(profile.summary_of(&["x"]).is_err());
    let mut search = Search::new(profile);
    let details = search.select_path(&["main"]).unwrap();
    assert_eq!(details.sides.unwrap().cum, Sides { a: 100, b: 100 });
}
