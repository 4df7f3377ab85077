//! Another kind of profile needs the paper's functions and nothing else: the search works on it all the same.

use crate::support::{automatic, random_tree};
use fulcrum_model::Progress;
use fulcrum_paths::{
    AnyProfile, CallTreeProfile, CallTreeSummary, ComparativeProfile, End, Options,
    ProfileInterface, Refusal, Search, Suggester,
};
use fulcrum_stats::Random;

/// A call tree that has what Fig. 3 has.
struct Plain(CallTreeProfile);

impl ProfileInterface for Plain {
    type Summary = CallTreeSummary;

    fn path_of(&self, s: &CallTreeSummary) -> Vec<&str> {
        self.0.path_of(s)
    }

    fn initial_summaries(&self) -> Vec<CallTreeSummary> {
        self.0.initial_summaries()
    }

    fn top_extensions(&self, s: &CallTreeSummary) -> Vec<&str> {
        self.0.top_extensions(s)
    }

    fn bottom_extensions(&self, s: &CallTreeSummary) -> Vec<&str> {
        self.0.bottom_extensions(s)
    }

    fn extend_top(&self, s: &CallTreeSummary, name: &str) -> Result<CallTreeSummary, Refusal> {
        self.0.extend_top(s, name)
    }

    fn extend_bottom(&self, s: &CallTreeSummary, name: &str) -> Result<CallTreeSummary, Refusal> {
        self.0.extend_bottom(s, name)
    }

    fn trim_top(&self, s: &CallTreeSummary) -> Option<CallTreeSummary> {
        self.0.trim_top(s)
    }

    fn trim_bottom(&self, s: &CallTreeSummary) -> Option<CallTreeSummary> {
        self.0.trim_bottom(s)
    }

    fn base_of(&self, s: &CallTreeSummary) -> i64 {
        self.0.base_of(s)
    }

    fn cum_of(&self, s: &CallTreeSummary) -> i64 {
        self.0.cum_of(s)
    }

    fn total_base_of(&self, summaries: &[CallTreeSummary]) -> i64 {
        self.0.total_base_of(summaries)
    }

    fn total_cum_of(&self, summaries: &[CallTreeSummary]) -> i64 {
        self.0.total_cum_of(summaries)
    }
}

#[test]
fn the_same_commands_give_the_same_answers() {
    for seed in 0..40 {
        let tree = random_tree(&mut Random::new(seed), false);
        let mut plain = Search::new(Plain(CallTreeProfile::new(tree.clone(), 0)));
        let mut full = Search::new(CallTreeProfile::new(tree, 0));
        plain.set_suggester(Suggester::HighBase);
        full.set_suggester(Suggester::HighBase);
        assert_eq!(plain.suggest().all(), full.suggest().all());
        for step in 0..12 {
            plain.set_zooming(step % 2 == 1);
            full.set_zooming(step % 2 == 1);
            let (a, b) = (plain.select(step % 3), full.select(step % 3));
            assert_eq!(a, b);
            assert_eq!(plain.rows().all(), full.rows().all());
            if step % 4 == 0 && a.is_ok() {
                plain.label("seen").unwrap();
                full.label("seen").unwrap();
            }
        }
        assert_eq!(plain.report(), full.report());
        assert_eq!(
            plain.select_path(&["a", "b"]),
            full.select_path(&["a", "b"])
        );
        assert_eq!(plain.trim(End::Bottom), full.trim(End::Bottom));
    }
}

#[test]
fn the_automatic_search_works_by_the_papers_functions_alone() {
    let stacks = [
        ("main serve auth hash", 40),
        ("main batch auth hash", 35),
        ("main serve render", 20),
        ("main", 5),
    ];
    let profile = Plain(CallTreeProfile::new(crate::support::tree(&stacks), 0));
    let found = automatic(&profile, &Options::default(), &[]);
    assert!(found.coverage >= 0.85, "{}", found.coverage);
    let last: Vec<_> = found
        .found
        .iter()
        .map(|it| *profile.path_of(&it.summary).last().unwrap())
        .collect();
    assert!(last.contains(&"hash"), "{last:?}");
}

/// Everything that a search of a few commands answers.
fn session<P: ProfileInterface>(profile: P) -> String {
    let mut search = Search::new(profile);
    search.set_suggester(Suggester::HighBase);
    let mut said = format!("{:?}", search.suggest());
    for number in [0, 1, 0, 2, 1] {
        said += &format!("{:?} {:?}", search.select(number), search.rows());
        let _ = search.label(&number.to_string());
        search.set_zooming(number == 1);
    }
    said += &format!("{:?} {:?}", search.report(), search.estimate(&["0"]));
    said + &format!(
        "{:?}",
        search.automatic(&Options::default(), &Progress::default())
    )
}

#[test]
fn a_profile_of_any_kind_answers_as_itself() {
    for seed in 0..20 {
        let random = &mut Random::new(seed);
        let (a, b) = (random_tree(random, false), random_tree(random, false));
        let tree = || CallTreeProfile::new(a.clone(), 0);
        assert_eq!(session(AnyProfile::Tree(tree())), session(tree()));
        let both = || ComparativeProfile::new((a.clone(), 0), (b.clone(), 0)).unwrap();
        assert_eq!(session(AnyProfile::Comparison(both())), session(both()));
        assert_ne!(
            session(tree()),
            session(both()),
            "the sessions say something"
        );
    }
}
