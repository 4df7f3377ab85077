//! From files to a profile: which value types are searched and compared, and in which unit.

use std::sync::Arc;

use fulcrum_model::CallTreeBuilder;
use fulcrum_model::call_tree::{Frame, ValueType};
use fulcrum_paths::{
    Calls, Normalisation, OpenError, Opened, ProfileInterface as _, Source, SourceIdentity, open,
};

/// One function with a cost of each type, of which the last is the file's own choice.
fn source(file: &str, values: &[(&str, &str, i64)]) -> Source {
    let types = values
        .iter()
        .map(|(name, unit, _)| ValueType::new(*name, *unit));
    let mut builder = CallTreeBuilder::new(types.collect()).unwrap();
    let f = builder.intern(Frame::function("f")).unwrap();
    let costs: Vec<i64> = values.iter().map(|it| it.2).collect();
    builder.add(&[f], &costs).unwrap();
    Source {
        identity: SourceIdentity {
            file: file.into(),
            digest: file.into(),
        },
        calls: Calls::Tree(Arc::new(builder.finish().unwrap())),
        default_value: values.len() - 1,
    }
}

fn compared(a: &Source, b: &Source, value: Option<&str>) -> Result<Opened, OpenError> {
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
