//! Call graphs answer paths of length 1 and 2 and refuse longer ones.

use fulcrum_model::CallGraph;
use fulcrum_model::call_graph::{CallGraphError, GraphCall, GraphFunction};
use fulcrum_model::call_tree::ValueType;
use fulcrum_paths::{CallGraphProfile, ProfileInterface, Refusal, Search, cum_ovl};

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
        "this profile answers paths of up to 2 names, not of 3: a call graph keeps what each call cost, but not from \
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
