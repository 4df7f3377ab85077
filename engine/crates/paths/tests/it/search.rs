//! The search, command by command (BOTTLENECKS §2.3), and the estimates of Table 3.

use fulcrum_paths::{
    CallTreeProfile, ComparativeProfile, End, FileIdentity, Overlap, ProfileIdentity, Row,
    SavedLabels, Search, SearchError, Step, Suggester,
};

/// The tree of the paper's Figure 2.
fn search() -> Search<CallTreeProfile> {
    let stacks = [
        ("a", 1),
        ("a b", 2),
        ("a b c", 5),
        ("a b c d", 40),
        ("a c", 10),
        ("a c e", 42),
    ];
    Search::new(CallTreeProfile::new(crate::support::tree(&stacks), 0))
}

fn rows(rows: &[Row]) -> Vec<(usize, Step, String, i64)> {
    let row = |it: &Row| (it.number, it.step, it.path.concat(), it.cum);
    rows.iter().map(row).collect()
}

fn nearby(search: &Search<CallTreeProfile>) -> Vec<(usize, Step, String, i64)> {
    rows(&search.rows().all())
}

fn identity(digest: &str) -> ProfileIdentity {
    ProfileIdentity {
        sources: vec![FileIdentity {
            file: "a.pb.gz".into(),
            digest: digest.into(),
        }],
        against: Vec::new(),
        value: "cpu".into(),
        unit: "ns".into(),
    }
}

#[test]
fn a_search_from_the_bottom_goes_by_numbers() {
    let mut search = search();
    search.set_suggester(Suggester::HighBase);
    assert_eq!(
        rows(&search.suggest().all())[..2],
        [
            (0, Step::Suggestion, "e".into(), 42),
            (1, Step::Suggestion, "d".into(), 40)
        ]
    );
    let d = search.select(1).unwrap();
    assert_eq!((d.base, d.cum, d.whole.cost), (40, 40, 100));
    assert_eq!(nearby(&search), [(0, Step::ExtendTop, "cd".into(), 45)]);
    search.select(0).unwrap();
    assert_eq!(
        nearby(&search),
        [
            (0, Step::ExtendTop, "bcd".into(), 47),
            (1, Step::TrimTop, "d".into(), 40),
            (2, Step::TrimBottom, "c".into(), 97),
        ]
    );
    assert_eq!(
        search.select(3),
        Err(SearchError::NoSuchNumber {
            number: 3,
            count: 3
        })
    );
    assert_eq!(search.trim(End::Top).unwrap().path, ["d"]);
    assert_eq!(search.trim(End::Top), Err(SearchError::NothingToTrim));
}

#[test]
fn zooming_shows_what_concentrates_the_cost() {
    let mut search = search();
    search.set_zooming(true);
    search.select_path(&["d"]).unwrap();
    assert_eq!(nearby(&search), [(0, Step::ExtendTop, "abcd".into(), 48)]);
    search.select(0).unwrap();
    // Each trim to the first that costs something else: [cd] has less than 95 % of it, [a] far more.
    assert_eq!(
        nearby(&search),
        [
            (0, Step::TrimTop, "bcd".into(), 47),
            (1, Step::TrimBottom, "a".into(), 100),
        ]
    );
    // Neither [cd] nor [ce] keeps 95 % alone.
    search.select_path(&["c"]).unwrap();
    let below: Vec<_> = nearby(&search)
        .into_iter()
        .filter(|it| it.1 == Step::ExtendBottom)
        .collect();
    assert_eq!(
        below,
        [
            (2, Step::ExtendBottom, "ce".into(), 52),
            (3, Step::ExtendBottom, "cd".into(), 45)
        ]
    );
    search.set_cutoff(0.5).unwrap();
    let c = search.details().unwrap();
    assert_eq!(c.hidden[1].count, 1);
    assert!((c.hidden[1].share - 45.0 / 97.0).abs() < 1e-12);
    for wrong in [0.0, -0.5, 1.01, 2.0, f64::INFINITY] {
        assert_eq!(search.set_cutoff(wrong), Err(SearchError::BadCutoff(wrong)));
    }
    assert_eq!(search.set_cutoff(1.0), Ok(()));
}

#[test]
fn pages_and_first_rows_are_parts_of_all_rows() {
    let mut search = search();
    search.suggest();
    for step in 0..4 {
        let all = search.rows().all();
        assert_eq!(all.len(), search.rows().len());
        let of = |step: Step| -> Vec<Row> {
            let these = all.iter().filter(|row| row.step == step);
            these.cloned().collect()
        };
        let first = search.rows().first(Some(1));
        for kind in [
            Step::Suggestion,
            Step::ExtendTop,
            Step::ExtendBottom,
            Step::TrimTop,
            Step::TrimBottom,
        ] {
            let rows = of(kind);
            assert_eq!(search.rows().count(kind), rows.len());
            for from in 0..4 {
                let page: Vec<_> = rows.iter().skip(from).take(2).cloned().collect();
                assert_eq!(search.rows().page(kind, from, 2), page);
            }
            let shown = first.iter().find(|it| it.step == kind);
            assert_eq!(shown.is_some(), !rows.is_empty(), "no step without rows");
            if let Some(shown) = shown {
                assert_eq!(shown.rows, rows[..1]);
                assert_eq!(shown.more, rows.len() - 1);
            }
        }
        let in_full = search.rows().first(None).into_iter();
        assert_eq!(in_full.flat_map(|it| it.rows).collect::<Vec<_>>(), all);
        search.select(step % 2).unwrap();
    }
}

#[test]
fn overlap_is_told_for_each_label_and_for_all() {
    let mut search = search();
    search.select_path(&["a", "b", "c", "d"]).unwrap();
    search.label("left").unwrap();
    search.select_path(&["c", "e"]).unwrap();
    search.label("right").unwrap();
    search.label("right").unwrap();
    let c = search.select_path(&["c"]).unwrap();
    let overlaps: Vec<_> = c
        .overlaps
        .iter()
        .map(|it| (it.label.as_str(), it.shared))
        .collect();
    assert_eq!(
        overlaps,
        [
            ("left", Overlap { base: 5, cum: 45 }),
            ("right", Overlap { base: 10, cum: 52 }),
        ]
    );
    assert_eq!(c.overlap, Overlap { base: 15, cum: 97 });
    search.label("left").unwrap();
    let report: Vec<_> = search
        .report()
        .iter()
        .map(|it| (it.name.clone(), it.summaries, it.base, it.cum, it.marginal))
        .collect();
    assert_eq!(
        report,
        [
            ("left".into(), 2, 58, 100, 100),
            ("right".into(), 1, 52, 52, 0),
        ]
    );
    assert_eq!(search.details().unwrap().labels, ["left"]);
    search.unlabel("left").unwrap();
    assert_eq!(
        search.unlabel("left"),
        Err(SearchError::NoSuchLabel("left".into()))
    );
    assert_eq!(search.remove_label("left"), 1);
    assert_eq!(search.labels().all().len(), 1);
}

#[test]
fn the_history_goes_back_and_forward() {
    let mut search = search();
    assert_eq!(search.details(), Err(SearchError::NothingSelected));
    assert_eq!(search.label("x"), Err(SearchError::NothingSelected));
    for name in ["a", "b", "c"] {
        search.select_path(&[name]).unwrap();
    }
    assert_eq!(search.back().unwrap().path, ["b"]);
    assert_eq!(search.back().unwrap().path, ["a"]);
    assert_eq!(search.back(), Err(SearchError::EndOfHistory));
    assert_eq!(search.forward().unwrap().path, ["b"]);
    search.select_path(&["e"]).unwrap();
    assert_eq!(search.forward(), Err(SearchError::EndOfHistory));
    assert_eq!(search.history().0.len(), 3);
    assert_eq!(search.back().unwrap().path, ["b"]);
}

#[test]
fn labels_are_saved_with_the_profile_and_loaded_again() {
    let mut first = search();
    first.select_path(&["c", "d"]).unwrap();
    first.label("hot").unwrap();
    first.select_path(&["e"]).unwrap();
    first.label("hot").unwrap();
    let text = serde_json::to_string(&first.save(identity("1"))).unwrap();
    assert_eq!(
        text,
        r#"{"version":1,"profile":{"sources":[{"file":"a.pb.gz","digest":"1"}],"value":"cpu","unit":"ns"},"labels":[{"name":"hot","paths":[["c","d"],["e"]]}]}"#
    );
    let mut saved: SavedLabels = serde_json::from_str(&text).unwrap();
    let mut second = search();
    let loaded = second.load(&saved, &identity("1")).unwrap();
    assert_eq!((loaded.restored, loaded.other_profile), (2, false));
    assert_eq!(second.report(), first.report());

    saved.labels[0].paths.push(vec!["gone".into()]);
    let loaded = search().load(&saved, &identity("2")).unwrap();
    assert_eq!((loaded.restored, loaded.other_profile), (2, true));
    assert_eq!(loaded.absent, [("hot".into(), vec!["gone".into()])]);
    saved.version = 2;
    assert_eq!(
        search().load(&saved, &identity("1")),
        Err(SearchError::NewerLabels(2))
    );
}

#[test]
fn the_estimates_are_those_of_table_3() {
    // Security costs 30 % of the throughput; the shares of the overhead are those of the text.
    let shares = [
        ("serve CheckRole", 480, 0.07),
        ("serve DBReuse", 300, 0.04),
        ("serve GetCredentials", 390, 0.06),
        ("serve Reflection", 750, 0.11),
    ];
    let mut a: Vec<_> = shares.iter().map(|it| (it.0, it.1)).collect();
    a.extend([("serve", 7000), ("serve other", 1080)]);
    let (a, b) = (
        crate::support::tree(&a),
        crate::support::tree(&[("serve", 7000)]),
    );
    let mut search = Search::new(ComparativeProfile::new((a, 0), (b, 0)).unwrap());
    for (path, cost, expected) in shares {
        let name = path.split(' ').next_back().unwrap();
        search.label_path(name, &[name]).unwrap();
        let estimate = search.estimate(&[name]).unwrap();
        assert_eq!(estimate.removable, cost);
        let table3 = estimate.table3.unwrap();
        assert_eq!((table3 * 100.0).round() / 100.0, expected, "{name}");
    }
    let reflection = search.estimate(&["Reflection"]).unwrap();
    assert_eq!(reflection.of_whole, Some(0.25));
    assert!((reflection.gain.unwrap() - (1.0 / 0.925 - 1.0)).abs() < 1e-12);
    // A second label on the same cost adds nothing.
    search.label_path("again", &["Reflection"]).unwrap();
    let both = search.estimate(&["Reflection", "again"]).unwrap();
    assert_eq!(both, reflection);
    assert!(search.estimate(&["nobody"]).is_err());
}

#[test]
fn removing_everything_has_no_estimate() {
    let mut search = search();
    search.label_path("all", &["a"]).unwrap();
    let estimate = search.estimate(&["all"]).unwrap();
    assert_eq!((estimate.removable, estimate.gain), (100, None));
    assert_eq!(estimate.table3, None);
}

#[test]
fn functions_are_found_by_a_part_of_their_name() {
    let stacks = [("main", 1), ("main Parse", 5), ("main reparse", 9)];
    let mut search = Search::new(CallTreeProfile::new(crate::support::tree(&stacks), 0));
    let found = rows(&search.find("parse").all());
    assert_eq!(
        found,
        [
            (0, Step::Suggestion, "reparse".into(), 9),
            (1, Step::Suggestion, "Parse".into(), 5),
        ]
    );
    assert_eq!(search.select(1).unwrap().path, ["Parse"]);
    assert!(search.find("nothing").is_empty());
}

#[test]
fn suggestions_say_what_they_add_to_the_labels() {
    let stacks = [("main parse", 50), ("main hash", 30), ("main print", 20)];
    let mut search = Search::new(CallTreeProfile::new(crate::support::tree(&stacks), 0));
    search.label_path("hash", &["parse"]).unwrap();
    let found = search
        .automatic(
            &fulcrum_paths::Options::default(),
            &fulcrum_model::Progress::default(),
        )
        .expect("nobody cancels it");
    assert_eq!(
        (found.whole.cost, found.labelled, found.coverage),
        (100, 0.5, 1.0)
    );
    let each: Vec<_> = found
        .suggestions
        .iter()
        .map(|it| (it.label.as_str(), it.marginal))
        .collect();
    // The name of the label is taken.
    assert_eq!(each, [("hash 2", 0.3), ("print", 0.2)]);
    search.adopt(&found.suggestions).unwrap();
    assert_eq!(search.labels().all().len(), 3);
    assert!(
        search
            .automatic(
                &fulcrum_paths::Options::default(),
                &fulcrum_model::Progress::default()
            )
            .expect("nobody cancels it")
            .suggestions
            .is_empty()
    );
    search.set_suggester(Suggester::HighBase);
    let first = search.first(1);
    assert_eq!(first.suggestions[0].path, ["parse"]);
    assert_eq!(first.suggestions[0].marginal, 0.0);
}
