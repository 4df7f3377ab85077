//! The paper's Figure 2: every number that its text gives (BOTTLENECKS §2.2 and §2.3).
//!
//! The text fixes the shape, the sums and `a` and `b`; how they are shared out between the two `c`, `d` and `e` is free.

use fulcrum_paths::{
    CUTOFF, CallTreeProfile, CallTreeSummary, Denominator, End, ProfileInterface, Suggester,
    cum_ovl, paradox_of, zoom,
};

fn figure2() -> CallTreeProfile {
    let stacks = [
        ("a", 1),
        ("a b", 2),
        ("a b c", 5),
        ("a b c d", 40),
        ("a c", 10),
        ("a c e", 42),
    ];
    CallTreeProfile::new(crate::support::tree(&stacks), 0)
}

fn summary(profile: &CallTreeProfile, path: &str) -> CallTreeSummary {
    let names: Vec<_> = path.split("").filter(|it| !it.is_empty()).collect();
    profile.summary_of(&names).unwrap()
}

fn paths(profile: &CallTreeProfile, summaries: &[CallTreeSummary]) -> Vec<String> {
    let each = summaries.iter();
    each.map(|s| profile.path_of(s).concat()).collect()
}

#[test]
fn there_is_an_initial_summary_for_each_method() {
    let profile = figure2();
    let all = profile.initial_summaries();
    assert_eq!(paths(&profile, &all), ["a", "b", "c", "d", "e"]);
}

#[test]
fn c_has_two_roots_and_cd_only_the_left_one() {
    let profile = figure2();
    // In preorder: a, b, c (left), d, c (right), e.
    assert_eq!(profile.roots_of(&summary(&profile, "c")), [2, 4]);
    assert_eq!(profile.roots_of(&summary(&profile, "cd")), [2]);
}

#[test]
fn c_is_extended_by_a_and_b_at_the_top_and_by_d_and_e_at_the_bottom() {
    let profile = figure2();
    let c = summary(&profile, "c");
    assert_eq!(profile.top_extensions(&c), ["a", "b"]);
    assert_eq!(profile.bottom_extensions(&c), ["d", "e"]);
    let bc = profile.extend_top(&c, "b").unwrap();
    assert_eq!(profile.path_of(&bc), ["b", "c"]);
    let bcd = profile.extend_bottom(&bc, "d").unwrap();
    assert_eq!(profile.path_of(&bcd), ["b", "c", "d"]);
    let cd = profile.trim_top(&bcd).unwrap();
    assert_eq!(profile.path_of(&cd), ["c", "d"]);
    let again = profile.trim_bottom(&cd).unwrap();
    assert_eq!(profile.roots_of(&again), [2, 4], "the trim's roots grow");
    assert!(profile.trim_top(&again).is_none());
}

#[test]
fn the_base_of_c_is_15_and_its_cum_97() {
    let profile = figure2();
    let c = summary(&profile, "c");
    assert_eq!(profile.base_of(&c), 15);
    assert_eq!(profile.cum_of(&c), 97);
}

#[test]
fn the_totals_of_a_and_c_are_16_and_100() {
    let profile = figure2();
    let both = [summary(&profile, "a"), summary(&profile, "c")];
    assert_eq!(profile.total_base_of(&both), 16);
    assert_eq!(profile.total_cum_of(&both), 100);
    assert_eq!(profile.total(), 100);
    assert_eq!(cum_ovl(&profile, &both[1], &both[..1]), 97);
}

#[test]
fn zooming_from_cd_goes_to_abcd() {
    let profile = figure2();
    let cd = summary(&profile, "cd");
    let plain = End::Top.extensions(&profile, &cd);
    assert_eq!(paths(&profile, &plain), ["bcd"]);
    let zoomed = zoom(&profile, &cd, CUTOFF, End::Top);
    assert_eq!(paths(&profile, &zoomed.shown), ["abcd"]);
    assert_eq!(zoomed.hidden, 0);
}

#[test]
fn the_suggesters_rank_methods_by_cum_and_by_base() {
    let profile = figure2();
    let ranking = |it: Suggester| paths(&profile, &it.suggest(&profile)).concat();
    assert_eq!(ranking(Suggester::HighCum), "acbed");
    assert_eq!(ranking(Suggester::HighBase), "edcba");
}

#[test]
fn a_path_that_costs_more_than_its_last_function_has_a_sentence() {
    let profile = figure2();
    let whole = Denominator::of(&profile);
    let (ce, e) = (summary(&profile, "ce"), summary(&profile, "e"));
    assert_eq!((profile.cum_of(&ce), profile.cum_of(&e)), (52, 42));
    assert_eq!(
        paradox_of(&profile, &ce, &whole).unwrap().to_string(),
        "The cum is more than that of its last function alone: the base of a path counts the own cost of every function on \
         it, also of those before the last."
    );
    assert_eq!(paradox_of(&profile, &e, &whole), None);
    // `c` costs as much elsewhere: nothing is surprising there.
    assert_eq!(paradox_of(&profile, &summary(&profile, "bc"), &whole), None);
}
