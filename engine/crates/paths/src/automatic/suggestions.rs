//! Suggested paths, from the automatic search or from a suggester, each with its contribution to the coverage and a reason.

use fulcrum_model::{Cancelled, Progress};

use crate::automatic::{Options, automatic};
use crate::profile::denominator::Denominator;
use crate::profile::interface::{ProfileInterface, SummarySides, SummarySpread};
use crate::search::explain::why;
use crate::search::{Search, SearchError};

/// Suggested paths, in addition to the labelled ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestions {
    /// The denominator of shares.
    pub whole: Denominator,
    /// The cum of labels and suggestions together, as a fraction of the denominator; 0 when that is 0.
    pub coverage: f64,
    /// The part of the coverage that is due to labels.
    pub labelled: f64,
    /// The suggestions.
    pub suggestions: Vec<Suggestion>,
}

/// One suggested path.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    /// A name for it that no other suggestion and no label has.
    pub label: String,
    /// The path, outermost name first.
    pub path: Vec<String>,
    /// Its base, in the profile's unit.
    pub base: i64,
    /// Its cum, in the profile's unit.
    pub cum: i64,
    /// The part of its cum that neither labels nor earlier suggestions cover, as a fraction of the denominator.
    pub marginal: f64,
    /// Both sides in a comparison.
    pub sides: Option<SummarySides>,
    /// How certain the difference is, in a comparison with several inputs on each side.
    pub spread: Option<SummarySpread>,
    /// Why it is suggested, in one sentence.
    pub why: String,
}

impl<P: ProfileInterface> Search<P> {
    /// What the automatic search finds in addition to the labels. Does not change the search.
    ///
    /// # Errors
    /// [`Cancelled`] when `progress` was cancelled.
    pub fn automatic(
        &self,
        options: &Options,
        progress: &Progress,
    ) -> Result<Suggestions, Cancelled> {
        let known = self.labels().summaries();
        let found = automatic(self.profile(), options, &known, self.whole(), progress)?.found;
        Ok(self.suggestions(found.into_iter().map(|it| it.summary).collect()))
    }

    /// The suggester's first `most` suggestions. Does not change the search.
    pub fn first(&self, most: usize) -> Suggestions {
        let all = self.starts();
        self.suggestions(all[..most.min(all.len())].to_vec())
    }

    fn suggestions(&self, all: Vec<P::Summary>) -> Suggestions {
        let (profile, whole) = (self.profile(), self.whole());
        let part = |cost| whole.part(cost);
        let known = self.labels().summaries();
        let mut covered = profile.total_cum_of(&known);
        let labelled = part(covered);
        let together = [known.as_slice(), &all].concat();
        let totals = profile.running_total_cum_of(&together);
        let mut suggestions: Vec<Suggestion> = Vec::new();
        for (s, &total) in all.iter().zip(&totals[known.len()..]) {
            let marginal = total - covered;
            covered = total;
            let path: Vec<String> = profile.path_of(s).into_iter().map(String::from).collect();
            let label = self.unused(&path, &suggestions);
            suggestions.push(Suggestion {
                label,
                path,
                base: profile.base_of(s),
                cum: profile.cum_of(s),
                marginal: part(marginal),
                sides: profile.sides_of(s),
                spread: profile.spread_of(s),
                why: why(profile, s, marginal, &whole),
            });
        }
        Suggestions {
            whole,
            coverage: part(covered),
            labelled,
            suggestions,
        }
    }

    /// The path's last name, with a number if that name is already in use.
    fn unused(&self, path: &[String], others: &[Suggestion]) -> String {
        let name = path.last().map_or("", String::as_str);
        let numbered = (2..).map(|n| format!("{name} {n}"));
        let used = |it: &String| {
            self.labels().get(it).is_some() || others.iter().any(|other| other.label == *it)
        };
        let mut names = [name.to_owned()].into_iter().chain(numbered);
        names
            .find(|it| !used(it))
            .expect("there are more numbers than labels")
    }

    /// Labels the suggested paths.
    ///
    /// # Errors
    /// When the profile does not have one of the paths.
    pub fn adopt(&mut self, suggestions: &[Suggestion]) -> Result<(), SearchError> {
        for it in suggestions {
            let path: Vec<&str> = it.path.iter().map(String::as_str).collect();
            self.label_path(&it.label, &path)?;
        }
        Ok(())
    }
}
