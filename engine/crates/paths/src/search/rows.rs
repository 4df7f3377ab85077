//! Numbered summaries. Only those that are shown become rows: a large profile has tens of thousands of functions, a screen has
//! fifty lines.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::profile::interface::{ProfileInterface, SummarySides, SummarySpread};

/// Where a numbered summary comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The suggester.
    Suggestion,
    /// The current path extended by callers.
    ExtendTop,
    /// The current path extended by callees.
    ExtendBottom,
    /// The current path without its first names.
    TrimTop,
    /// The current path without its last names.
    TrimBottom,
}

/// A numbered summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The number for `select`.
    pub number: usize,
    /// Where it comes from.
    pub step: Step,
    /// Its path, outermost name first.
    pub path: Vec<String>,
    /// Its base, in the profile's unit.
    pub base: i64,
    /// Its cum, in the profile's unit.
    pub cum: i64,
    /// Both sides in a comparison.
    pub sides: Option<SummarySides>,
    /// How certain the difference is, in a comparison with several inputs on each side.
    pub spread: Option<SummarySpread>,
}

/// The row of a summary.
pub(crate) fn row<P: ProfileInterface>(
    profile: &P,
    number: usize,
    step: Step,
    s: &P::Summary,
) -> Row {
    let path = profile.path_of(s).into_iter();
    Row {
        number,
        step,
        path: path.map(String::from).collect(),
        base: profile.base_of(s),
        cum: profile.cum_of(s),
        sides: profile.sides_of(s),
        spread: profile.spread_of(s),
    }
}

/// Summaries by number. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Numbered<S> {
    summaries: Arc<[S]>,
    /// Where they come from: for each step with summaries, the number after its last one.
    steps: Vec<(Step, usize)>,
}

impl<S> Numbered<S> {
    /// The starting summaries of a search.
    pub(crate) fn suggestions(summaries: Arc<[S]>) -> Self {
        Numbered {
            steps: vec![(Step::Suggestion, summaries.len())],
            summaries,
        }
    }

    /// The summaries of several steps.
    pub(crate) fn of_steps(steps: impl IntoIterator<Item = (Step, Vec<S>)>) -> Self {
        let (mut all, mut ends) = (Vec::new(), Vec::new());
        for (step, summaries) in steps {
            all.extend(summaries);
            ends.push((step, all.len()));
        }
        Numbered {
            summaries: all.into(),
            steps: ends,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.summaries.len()
    }

    pub(crate) fn get(&self, number: usize) -> Option<&S> {
        self.summaries.get(number)
    }

    /// The numbers of each step's summaries.
    fn ranges(&self) -> impl Iterator<Item = (Step, Range<usize>)> {
        let mut start = 0;
        self.steps.iter().map(move |&(step, end)| {
            let range = start..end;
            start = end;
            (step, range)
        })
    }
}

impl<S> Default for Numbered<S> {
    fn default() -> Self {
        Numbered {
            summaries: Arc::new([]),
            steps: Vec::new(),
        }
    }
}

/// The numbered summaries of a search as rows, each made when it is asked for.
pub struct Rows<'s, P: ProfileInterface> {
    profile: &'s P,
    numbered: &'s Numbered<P::Summary>,
}

impl<'s, P: ProfileInterface> Rows<'s, P> {
    pub(crate) fn new(profile: &'s P, numbered: &'s Numbered<P::Summary>) -> Self {
        Rows { profile, numbered }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.numbered.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All rows.
    pub fn all(&self) -> Vec<Row> {
        let each = self.numbered.ranges();
        each.flat_map(|(step, range)| self.of(step, range))
            .collect()
    }

    /// The number of a step's rows.
    pub fn count(&self, step: Step) -> usize {
        self.range(step).len()
    }

    /// Some of a step's rows: at most `count` after the first `from`.
    pub fn page(&self, step: Step, from: usize, count: usize) -> Vec<Row> {
        let range = self.range(step);
        let start = range.start.saturating_add(from).min(range.end);
        let end = start.saturating_add(count).min(range.end);
        self.of(step, start..end).collect()
    }

    /// The first rows of each step that has some: at most `most` of each, or all without a limit.
    pub fn first(&self, most: Option<usize>) -> Vec<FirstRows> {
        let each = self.numbered.ranges().filter(|(_, all)| !all.is_empty());
        each.map(|(step, all)| {
            let shown = most.unwrap_or(all.len()).min(all.len());
            FirstRows {
                step,
                more: all.len() - shown,
                rows: self.of(step, all.start..all.start + shown).collect(),
            }
        })
        .collect()
    }

    fn range(&self, step: Step) -> Range<usize> {
        let mut ranges = self.numbered.ranges();
        let found = ranges.find(|(it, _)| *it == step);
        found.map_or(0..0, |(_, range)| range)
    }

    fn of(&self, step: Step, range: Range<usize>) -> impl Iterator<Item = Row> {
        range.map(move |number| {
            let s = &self.numbered.summaries[number];
            row(self.profile, number, step, s)
        })
    }
}

impl<P: ProfileInterface> fmt::Debug for Rows<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all()).finish()
    }
}

/// The first rows of one step.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstRows {
    /// Where they come from.
    pub step: Step,
    /// The rows.
    pub rows: Vec<Row>,
    /// How many more there are.
    pub more: usize,
}
