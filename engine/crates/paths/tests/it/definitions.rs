//! Every metric against the paper's set definitions, evaluated by the letter, on random recursive trees with negative
//! costs (BOTTLENECKS §2.2).

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::support::{Naive, large_tree, random_tree};
use fulcrum_model::CallTree;
use fulcrum_paths::{
    CallTreeProfile, ComparativeProfile, End, Overlap, ProfileInterface, Refusal, base_ovl, cum_ovl,
};
use fulcrum_stats::Random;

/// The definitions for one tree, or for the difference of two.
struct Definitions<'a> {
    a: Naive<'a>,
    b: Option<Naive<'a>>,
}

impl Definitions<'_> {
    fn difference(&self, metric: impl Fn(&Naive<'_>) -> i64) -> i64 {
        metric(&self.a) - self.b.as_ref().map_or(0, &metric)
    }

    fn base(&self, set: &[Vec<&str>]) -> i64 {
        self.difference(|it| it.base(set))
    }

    fn cum(&self, set: &[Vec<&str>]) -> i64 {
        self.difference(|it| it.cum(set))
    }

    fn names<'s>(&'s self, of: impl Fn(&'s Naive<'s>) -> BTreeSet<&'s str>) -> Vec<&'s str> {
        let b = self.b.as_ref().map(&of).unwrap_or_default();
        of(&self.a).union(&b).copied().collect()
    }

    fn all(&self) -> Vec<Vec<&str>> {
        let b = self.b.as_ref().map(|it| it.all(4)).unwrap_or_default();
        self.a.all(4).union(&b).cloned().collect()
    }
}

/// Checks everything that the interface answers.
fn check<P: ProfileInterface>(profile: &P, definitions: &Definitions<'_>, random: &mut Random) {
    let paths = definitions.all();
    let summaries: Vec<_> = paths
        .iter()
        .map(|it| profile.summary_of(it).unwrap())
        .collect();

    let initial = profile.initial_summaries();
    let names: Vec<_> = initial.iter().map(|s| profile.path_of(s)).collect();
    let singles: Vec<_> = paths.iter().filter(|it| it.len() == 1).cloned().collect();
    assert_eq!(names, singles);
    assert_eq!(profile.total(), definitions.cum(&singles));
    let functions = profile.functions().into_iter();
    let costs: Vec<_> = functions
        .map(|it| (vec![it.name], it.base, it.cum, it.sides))
        .collect();
    let one_by_one = initial.iter().map(|s| {
        let (base, cum) = (profile.base_of(s), profile.cum_of(s));
        (profile.path_of(s), base, cum, profile.sides_of(s))
    });
    assert_eq!(costs, one_by_one.collect::<Vec<_>>());

    for (s, path) in summaries.iter().zip(&paths) {
        let one = std::slice::from_ref(path);
        assert_eq!(profile.path_of(s), *path);
        assert_eq!(
            profile.base_of(s),
            definitions.base(one),
            "base of {path:?}"
        );
        assert_eq!(profile.cum_of(s), definitions.cum(one), "cum of {path:?}");
        check_extensions(profile, definitions, s, path);
    }
    for _ in 0..20 {
        let count = random.index(5);
        let chosen: Vec<usize> = (0..count).map(|_| random.index(paths.len())).collect();
        let set: Vec<_> = chosen.iter().map(|&n| paths[n].clone()).collect();
        let all: Vec<_> = chosen.iter().map(|&n| summaries[n].clone()).collect();
        assert_eq!(
            profile.total_base_of(&all),
            definitions.base(&set),
            "{set:?}"
        );
        assert_eq!(profile.total_cum_of(&all), definitions.cum(&set), "{set:?}");
        let running: Vec<_> = (1..=set.len())
            .map(|n| definitions.cum(&set[..n]))
            .collect();
        assert_eq!(profile.running_total_cum_of(&all), running, "{set:?}");
        if let ([s, others @ ..], [path, rest @ ..]) = (&all[..], &set[..]) {
            let one = std::slice::from_ref(path);
            // What two sets share is what they have alone, less what they have together.
            let shared =
                |metric: &dyn Fn(&[Vec<&str>]) -> i64| metric(one) + metric(rest) - metric(&set);
            let expect = Overlap {
                base: shared(&|it| definitions.base(it)),
                cum: shared(&|it| definitions.cum(it)),
            };
            assert_eq!(base_ovl(profile, s, others), expect.base);
            assert_eq!(cum_ovl(profile, s, others), expect.cum);
            if let Some(others) = profile.prepare(others) {
                let fresh = profile.summary_of(path).unwrap();
                for s in [s, &fresh] {
                    assert_eq!(others.overlap(s), expect, "{path:?} {rest:?}");
                }
            }
        }
    }
}

fn check_extensions<'a, P: ProfileInterface>(
    profile: &P,
    definitions: &'a Definitions<'_>,
    s: &P::Summary,
    path: &[&'a str],
) {
    let above = definitions.names(|it| it.above(path));
    let below = definitions.names(|it| it.below(path));
    assert_eq!(profile.top_extensions(s), above, "above {path:?}");
    assert_eq!(profile.bottom_extensions(s), below, "below {path:?}");
    let mut reached = Vec::new();
    for (top, names, all) in [
        (true, &above, profile.top_summaries(s)),
        (false, &below, profile.bottom_summaries(s)),
    ] {
        assert_eq!(all.len(), names.len());
        for (name, grouped) in names.iter().zip(all) {
            let alone = match top {
                true => profile.extend_top(s, name),
                false => profile.extend_bottom(s, name),
            };
            reached.push((alone.unwrap(), longer(path, name, top)));
            reached.push((grouped, longer(path, name, top)));
        }
    }
    for (end, names) in [(End::Top, &above), (End::Bottom, &below)] {
        let costed = check_costed(profile, definitions, (s, path), end);
        assert_eq!(costed.len(), names.len());
        for (name, costed) in names.iter().zip(costed) {
            reached.push((costed, longer(path, name, end == End::Top)));
        }
    }
    let trims = [profile.trim_top(s), profile.trim_bottom(s)];
    for (trim, rest) in trims.into_iter().zip([&path[1..], &path[..path.len() - 1]]) {
        assert_eq!(trim.is_some(), !rest.is_empty());
        reached.extend(trim.map(|it| (it, rest.to_vec())));
    }
    for (s, path) in reached {
        assert_eq!(profile.path_of(&s), path);
        let one = std::slice::from_ref(&path);
        assert_eq!(
            profile.base_of(&s),
            definitions.base(one),
            "base of {path:?}"
        );
        assert_eq!(profile.cum_of(&s), definitions.cum(one), "cum of {path:?}");
    }
    let absent = profile.extend_top(s, "nowhere").err();
    assert!(matches!(absent, Some(Refusal::Absent { .. })));
}

/// What extensions cover together, in one order and its reverse: what is within another comes first and last.
fn check_costed<P: ProfileInterface>(
    profile: &P,
    definitions: &Definitions<'_>,
    (s, path): (&P::Summary, &[&str]),
    end: End,
) -> Vec<P::Summary> {
    let costed = profile.costed_summaries(s, end);
    let mut extensions = costed.clone();
    for _ in 0..2 {
        extensions.reverse();
        let paths: Vec<_> = extensions.iter().map(|it| profile.path_of(it)).collect();
        let running: Vec<i64> = (1..=paths.len())
            .map(|n| definitions.cum(&paths[..n]))
            .collect();
        let found = profile.running_total_cum_of_extensions(s, end, &extensions);
        assert_eq!(found, running, "{end:?} of {path:?}: {paths:?}");
    }
    costed
}

/// The path with a name before or behind it.
fn longer<'a>(path: &[&'a str], name: &'a str, top: bool) -> Vec<&'a str> {
    match top {
        true => [&[name][..], path].concat(),
        false => [path, &[name]].concat(),
    }
}

fn comparison(a: &Arc<CallTree>, b: &Arc<CallTree>) -> ComparativeProfile {
    ComparativeProfile::new((a.clone(), 0), (b.clone(), 0)).unwrap()
}

/// Frequent paths are visited in blocks: those of the other trees fit into one.
#[test]
fn frequent_paths_have_the_papers_metrics() {
    for seed in 0..2 {
        let random = &mut Random::new(seed);
        let tree = large_tree(random, 150, seed == 1);
        let definitions = Definitions {
            a: Naive(&tree),
            b: None,
        };
        let profile = CallTreeProfile::new(tree.clone(), 0);
        let paths = [
            vec!["a"],
            vec!["b"],
            vec!["a", "b"],
            vec!["b", "b"],
            vec!["c", "a", "b"],
        ];
        for _ in 0..2 {
            for path in &paths {
                let s = profile.summary_of(path).unwrap();
                let one = std::slice::from_ref(path);
                assert_eq!(profile.base_of(&s), definitions.base(one), "{path:?}");
                assert_eq!(profile.cum_of(&s), definitions.cum(one), "{path:?}");
                check_extensions(&profile, &definitions, &s, path);
            }
            profile.prepare_steps();
        }
    }
}

#[test]
fn one_tree_has_the_papers_metrics() {
    for seed in 0..150 {
        let random = &mut Random::new(seed);
        let tree = random_tree(random, seed % 3 == 0);
        let definitions = Definitions {
            a: Naive(&tree),
            b: None,
        };
        let profile = CallTreeProfile::new(tree.clone(), 0);
        check(&profile, &definitions, random);
        profile.prepare_steps();
        check(&profile, &definitions, random);
    }
}

#[test]
fn two_trees_have_the_papers_metrics() {
    for seed in 0..150 {
        let random = &mut Random::new(1000 + seed);
        let (a, b) = (
            random_tree(random, seed % 3 == 0),
            random_tree(random, seed % 4 == 0),
        );
        let definitions = Definitions {
            a: Naive(&a),
            b: Some(Naive(&b)),
        };
        check(&comparison(&a, &b), &definitions, random);
    }
}

#[test]
fn both_sides_are_those_of_the_trees() {
    for seed in 0..50 {
        let random = &mut Random::new(2000 + seed);
        let (a, b) = (random_tree(random, false), random_tree(random, false));
        let both = comparison(&a, &b);
        for s in both.initial_summaries() {
            let path = [both.path_of(&s)];
            let sides = both.sides_of(&s).unwrap();
            assert_eq!(sides.base.a, Naive(&a).base(&path));
            assert_eq!(sides.base.b, Naive(&b).base(&path));
            assert_eq!(sides.cum.a, Naive(&a).cum(&path));
            assert_eq!(sides.cum.b, Naive(&b).cum(&path));
            assert_eq!(sides.cum.delta(), both.cum_of(&s));
        }
    }
}

#[test]
fn deep_recursion_counts_each_node_once() {
    let deep = vec!["f"; 150].join(" ");
    let stacks = [
        (deep.clone(), 3),
        (format!("{deep} g f f"), 5),
        ("f f g".into(), 7),
    ];
    let tree = crate::support::tree(&stacks);
    let profile = CallTreeProfile::new(tree.clone(), 0);
    let naive = Naive(&tree);
    for length in [2, 63, 64, 65, 100, 150] {
        let path = vec!["f"; length];
        let s = profile.summary_of(&path).unwrap();
        let set = [path];
        assert_eq!(profile.base_of(&s), naive.base(&set), "{length}");
        assert_eq!(profile.cum_of(&s), naive.cum(&set), "{length}");
    }
}
