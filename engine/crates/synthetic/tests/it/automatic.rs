//! The automatic search names what was planted. Its constants were chosen on the pair's seeds 1 to 3; these are others.

use std::collections::HashSet;
use std::sync::Arc;

use fulcrum_model::Progress;
use fulcrum_paths::{
    CallTreeProfile, ComparativeProfile, Denominator, Options, ProfileInterface, automatic, why,
};
use fulcrum_synthetic::{Pair, Planted, Shape, pair, single};

/// What a search found, in numbers.
struct Quality {
    coverage: f64,
    sequences: usize,
    /// Names in each, on average.
    length: f64,
    /// What they cost more one by one than together.
    overlap: f64,
    /// How many of the fourteen greatest planted sequences it names.
    named: usize,
}

fn quality<P: ProfileInterface>(profile: &P, planted: &[Planted]) -> Quality {
    let found = automatic(
        profile,
        &Options::default(),
        &[],
        Denominator::of(profile),
        &Progress::default(),
    )
    .expect("nobody cancels it");
    let each = found.found.iter();
    let paths: Vec<HashSet<&str>> = each
        .clone()
        .map(|it| profile.path_of(&it.summary).into_iter().collect())
        .collect();
    let names: usize = each
        .clone()
        .map(|it| profile.path_of(&it.summary).len())
        .sum();
    let cum: i64 = each.clone().map(|it| profile.cum_of(&it.summary)).sum();
    for it in each {
        let sentence = why(profile, &it.summary, it.marginal, &found.whole);
        assert!(sentence.ends_with('.'), "{sentence}");
    }
    let is_named = |n: &usize| {
        let others = planted.iter().enumerate().filter(|it| it.0 != *n);
        let others: HashSet<&String> = others.flat_map(|it| &it.1.path).collect();
        let own = planted[*n].path.iter();
        own.filter(|it| !others.contains(it))
            .any(|name| paths.iter().any(|path| path.contains(name.as_str())))
    };
    Quality {
        coverage: found.coverage,
        sequences: paths.len(),
        length: names as f64 / paths.len() as f64,
        overlap: cum as f64 / found.covered as f64 - 1.0,
        named: (0..14).filter(is_named).count(),
    }
}

#[test]
fn fourteen_sequences_cover_what_the_papers_expert_covered_and_say_why() {
    for seed in [21, 22] {
        let Pair {
            with,
            without,
            planted,
        } = pair(0.1, seed);
        let sides = (Arc::new(with), Arc::new(without));
        let profile = ComparativeProfile::new((sides.0, 0), (sides.1, 0)).expect("one unit");
        let it = quality(&profile, &planted);
        assert!(it.sequences <= 14, "seed {seed}: {}", it.sequences);
        assert!(it.coverage >= 0.827, "seed {seed}: {}", it.coverage);
        // Table 2: fourteen names on average.
        assert!(it.length >= 10.0, "seed {seed}: {}", it.length);
        assert!(it.overlap < 0.05, "seed {seed}: {}", it.overlap);
        assert!(it.named >= 13, "seed {seed}: {}", it.named);
    }
}

#[test]
fn one_profile_is_searched_as_well_as_a_pair() {
    for seed in [21, 22] {
        let made = single(&Shape::XML, seed);
        let profile = CallTreeProfile::new(Arc::new(made.tree), 0);
        let it = quality(&profile, &made.planted);
        assert!(it.sequences <= 14);
        assert!(it.coverage >= 0.85, "seed {seed}: {}", it.coverage);
        // Table 6: 6.2 names on average.
        assert!(it.length >= 6.0, "seed {seed}: {}", it.length);
        assert!(it.overlap < 0.05, "seed {seed}: {}", it.overlap);
        assert!(it.named >= 11, "seed {seed}: {}", it.named);
    }
}
