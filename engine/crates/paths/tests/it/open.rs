//! From files to a profile: which value types are searched and compared, and in which unit.

use std::sync::Arc;

use fulcrum_model::call_graph::GraphFunction;
use fulcrum_model::call_tree::{Frame, ValueType};
use fulcrum_model::{CallGraph, CallTreeBuilder};
use fulcrum_paths::{
    AnyProfile, Calls, Denominator, DenominatorKind, FileIdentity, Normalisation, OpenError,
    Opened, ProfileInput, ProfileInterface as _, Sides, open,
};

/// One function with a cost of each type, of which the last is the file's own choice.
fn source(file: &str, values: &[(&str, &str, i64)]) -> ProfileInput {
    let types = values
        .iter()
        .map(|(name, unit, _)| ValueType::new(*name, *unit));
    let mut builder = CallTreeBuilder::new(types.collect()).unwrap();
    let f = builder.intern(Frame::function("f")).unwrap();
    let costs: Vec<i64> = values.iter().map(|it| it.2).collect();
    builder.add(&[f], &costs).unwrap();
    ProfileInput {
        identity: FileIdentity {
            file: file.into(),
            digest: file.into(),
        },
        calls: Calls::Tree(Arc::new(builder.finish().unwrap())),
        default_value: values.len() - 1,
        observations: None,
    }
}

fn compared(a: &ProfileInput, b: &ProfileInput, value: Option<&str>) -> Result<Opened, OpenError> {
    open(vec![a.clone()], vec![b.clone()], value, Normalisation::None)
}

fn difference(opened: &Opened) -> (i64, &str) {
    (opened.profile.total(), &opened.identity.unit)
}

#[test]
fn a_comparison_counts_in_the_finer_unit_of_either_side() {
    let whole = source("whole", &[("samples", "", 15)]);
    let fine = source("fine", &[("samples", "0.01 count", 175)]);
    let opened = compared(&whole, &fine, None).unwrap();
    assert_eq!(difference(&opened), (1325, "0.01 count"));
    let opened = compared(&fine, &whole, None).unwrap();
    assert_eq!(difference(&opened), (-1325, "0.01 count"));
}

#[test]
fn types_of_one_name_are_told_apart_by_their_units_and_numbers() {
    let both = source("both", &[("time", "count", 7), ("time", "ns", 9000)]);
    for (asked, expected) in [
        (None, (9000, "ns")),
        (Some("1"), (7, "count")),
        (Some("2"), (9000, "ns")),
        (Some("time (ns)"), (9000, "ns")),
        (Some("time"), (7, "count")),
    ] {
        let opened = open(vec![both.clone()], Vec::new(), asked, Normalisation::None).unwrap();
        assert_eq!(difference(&opened), expected, "{asked:?}");
    }
    let error = open(
        vec![both.clone()],
        Vec::new(),
        Some("3"),
        Normalisation::None,
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "both has no value type \"3\"; choose one of time (count), time (ns)"
    );
    // The same by its unit, wherever it stands in the other file.
    let other = source("other", &[("time", "ns", 1000), ("time", "count", 3)]);
    for (asked, expected) in [(Some("1"), (4, "count")), (None, (8000, "ns"))] {
        let opened = compared(&both, &other, asked).unwrap();
        assert_eq!(difference(&opened), expected, "{asked:?}");
    }
}

#[test]
fn each_run_is_looked_at_for_what_the_first_chose() {
    let a = source("a", &[("space", "bytes", 30), ("in use", "bytes", 4)]);
    let b = source("b", &[("in use", "bytes", 4), ("space", "bytes", 20)]);
    let opened = compared(&a, &b, None).unwrap();
    assert_eq!((opened.value, difference(&opened)), (1, (0, "bytes")));
    assert_eq!(opened.notes, [""; 0]);
    let opened = compared(&a, &b, Some("1")).unwrap();
    assert_eq!(difference(&opened), (10, "bytes"));

    // Who asked for nothing hears what it is compared with; who asked for it, that it is not there.
    let c = source("c", &[("cycles", "bytes", 1)]);
    let opened = compared(&a, &c, None).unwrap();
    assert_eq!(difference(&opened), (3, "bytes"));
    assert_eq!(
        opened.notes,
        ["in use of a is compared with cycles of c, which has no in use."]
    );
    assert_eq!(
        compared(&a, &c, Some("in use")).unwrap_err().to_string(),
        "c has no value type \"in use\"; choose one of cycles"
    );
}

/// Functions by name with their own costs.
fn tree(file: &str, costs: &[(&str, i64)]) -> ProfileInput {
    let mut builder = CallTreeBuilder::new(vec![ValueType::new("space", "bytes")]).unwrap();
    for (name, cost) in costs {
        let frame = builder.intern(Frame::function(*name)).unwrap();
        builder.add(&[frame], &[*cost]).unwrap();
    }
    let calls = Calls::Tree(Arc::new(builder.finish().unwrap()));
    ProfileInput {
        calls,
        ..source(file, &[("space", "bytes", 1)])
    }
}

/// The same as a call graph.
fn graph(file: &str, unit: &str, costs: &[(&str, i64)]) -> ProfileInput {
    let function = |(name, base): &(&str, i64)| GraphFunction {
        name: (*name).into(),
        base: *base,
        cum: *base,
    };
    let graph = CallGraph {
        value_type: ValueType::new("space", unit),
        functions: costs.iter().map(function).collect(),
        calls: Vec::new(),
    };
    ProfileInput {
        calls: Calls::Graphs(vec![graph]),
        ..source(file, &[("space", unit, 1)])
    }
}

#[test]
fn a_difference_is_searched_as_a_comparison() {
    let file = tree("heap", &[("grew", 70), ("shrank", -50), ("same", 0)]);
    let opened = open(vec![file], Vec::new(), None, Normalisation::None).unwrap();
    assert_eq!(opened.profile.sides(), Some(Sides { a: 70, b: 50 }));
    assert_eq!(difference(&opened), (20, "bytes"));
    let whole = Denominator::of(&opened.profile);
    assert_eq!((whole.cost, whole.of), (70, DenominatorKind::Costlier));
    assert_eq!(
        opened.notes,
        [
            "space of heap has values below 0, so it is read as a comparison: A is what is above 0, B what is below. What the \
             two compared profiles had in common is not in the file.",
            "Shares are parts of what became costlier: what became cheaper has less than 0 %."
        ]
    );
    let shrank = opened.profile.summary_of(&["shrank"]).unwrap();
    assert_eq!(opened.profile.cum_of(&shrank), -50);
    // A type without values below 0 is what it always was.
    let file = tree("heap", &[("grew", 70)]);
    let opened = open(vec![file], Vec::new(), None, Normalisation::None).unwrap();
    assert!(matches!(opened.profile, AnyProfile::Tree(_)));
    assert_eq!(opened.notes, [""; 0]);
}

#[test]
fn call_graphs_are_compared_one_with_one() {
    let (a, b) = (
        graph("a", "bytes", &[("f", 9), ("g", 1)]),
        graph("b", "bytes", &[("f", 4)]),
    );
    let opened = compared(&a, &b, None).unwrap();
    assert_eq!(opened.profile.sides(), Some(Sides { a: 10, b: 4 }));
    let refused =
        |a: Vec<ProfileInput>, b: Vec<ProfileInput>, how| open(a, b, None, how).unwrap_err();
    let several = refused(
        vec![a.clone(), a.clone()],
        vec![b.clone()],
        Normalisation::None,
    );
    assert_eq!(
        several.to_string(),
        "a holds a call graph, and call graphs can be compared only one with one, without normalisation: give one file on \
         each side"
    );
    let scaled = refused(vec![a.clone()], vec![b], Normalisation::Totals);
    assert!(matches!(scaled, OpenError::GraphsAveraged { .. }));
    let other = graph("c", "ns", &[("f", 4)]);
    let units = refused(vec![a.clone()], vec![other], Normalisation::None);
    assert!(matches!(units, OpenError::DifferentUnits(_)));
    let mixed = refused(vec![a], vec![tree("t", &[("f", 1)])], Normalisation::None);
    assert_eq!(
        mixed.to_string(),
        "a holds a call graph, which can only be compared with another call graph; record call stacks on both sides"
    );
}
