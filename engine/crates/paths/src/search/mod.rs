//! The search: current path, history, labels and zooming, changed by an analyst's commands (BOTTLENECKS §2.3).

pub(crate) mod details;
pub(crate) mod estimate;
pub(crate) mod explain;
pub(crate) mod labels;
pub(crate) mod paradox;
pub(crate) mod report;
pub(crate) mod rows;
pub(crate) mod suggester;
pub(crate) mod zoom;

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::profile::denominator::{Denominator, DenominatorKind, Metric, is_noise};
use crate::profile::end::End;
use crate::profile::interface::{ProfileInterface, Refusal};
use crate::search::details::Details;
use crate::search::estimate::{Estimate, estimate, estimate_of};
use crate::search::labels::{Labels, ProfileIdentity, SavedLabels};
use crate::search::report::{Covered, LabelReport, Report};
use crate::search::rows::{Numbered, Row, Rows, Step};
use crate::search::suggester::Suggester;
use crate::search::zoom::CUTOFF;

/// A search in one profile. It is cheap to clone if the profile is.
#[derive(Clone)]
pub struct Search<P: ProfileInterface> {
    profile: P,
    whole: Denominator,
    suggester: Suggester,
    zooming: bool,
    cutoff: f64,
    suggested: Arc<[OnceLock<Suggested<P::Summary>>; Suggester::ALL.len()]>,
    numbered: Numbered<P::Summary>,
    noise: usize,
    history: Vec<P::Summary>,
    /// The length of the history up to the current summary; 0 before the first one.
    at: usize,
    labels: Labels<P::Summary>,
    /// What the labels cover. Computed on first use after they have changed.
    report: OnceLock<Arc<Report>>,
}

/// A suggester's starting summaries. They stay the same, because the profile does.
struct Suggested<S> {
    summaries: Arc<[S]>,
    /// How many were left out because their difference may be noise.
    noise: usize,
}

/// Why a command cannot be executed.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchError {
    /// No summary has this number.
    NoSuchNumber {
        /// The number.
        number: usize,
        /// How many summaries have numbers.
        count: usize,
    },
    /// There is no current summary.
    NothingSelected,
    /// There is nothing to go back or forward to.
    EndOfHistory,
    /// The path has one name only.
    NothingToTrim,
    /// No summary has this label, or the current one does not.
    NoSuchLabel(String),
    /// The label has no name.
    EmptyLabel,
    /// The cutoff is not above 0 and at most 1.
    BadCutoff(f64),
    /// The labels have a newer format.
    NewerLabels(u32),
    /// The profile does not have the path.
    Refused(Refusal),
}

impl From<Refusal> for SearchError {
    fn from(refusal: Refusal) -> Self {
        SearchError::Refused(refusal)
    }
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SearchError::NoSuchNumber { count: 0, .. } => {
                write!(f, "nothing is numbered yet: `suggest` first")
            }
            SearchError::NoSuchNumber { number, count } => {
                write!(f, "expected a number from 0 to {}, got {number}", count - 1)
            }
            SearchError::NothingSelected => {
                write!(f, "nothing is selected: `select` a number first")
            }
            SearchError::EndOfHistory => write!(f, "there is nothing more in the history"),
            SearchError::NothingToTrim => write!(f, "a path of one name cannot be trimmed"),
            SearchError::NoSuchLabel(name) => write!(f, "nothing here is labelled {name:?}"),
            SearchError::EmptyLabel => write!(f, "a label needs a name"),
            SearchError::BadCutoff(cutoff) => write!(
                f,
                "expected a cutoff above 0 and at most 1, such as {CUTOFF}, got {cutoff}"
            ),
            SearchError::NewerLabels(version) => write!(
                f,
                "these labels have format {version}, this version reads up to {}: update Fulcrum",
                SavedLabels::VERSION
            ),
            SearchError::Refused(refusal) => refusal.fmt(f),
        }
    }
}

impl std::error::Error for SearchError {}

/// The result of loading labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// How many paths got their label back.
    pub restored: usize,
    /// The label and path of each path that this profile does not have.
    pub absent: Vec<(String, Vec<String>)>,
    /// How many paths were left out because their label has no name.
    pub nameless: usize,
    /// Whether the labels are from another profile.
    pub other_profile: bool,
}

impl<P: ProfileInterface> Search<P> {
    /// Starts a search with the suggester HighCum, without zooming, with the paper's cutoff.
    pub fn new(profile: P) -> Self {
        Search {
            whole: Denominator::of(&profile),
            profile,
            suggester: Suggester::default(),
            zooming: false,
            cutoff: CUTOFF,
            suggested: Arc::default(),
            numbered: Numbered::default(),
            noise: 0,
            history: Vec::new(),
            at: 0,
            labels: Labels::default(),
            report: OnceLock::new(),
        }
    }

    /// The profile.
    pub fn profile(&self) -> &P {
        &self.profile
    }

    /// The denominator of shares.
    pub fn whole(&self) -> Denominator {
        self.whole
    }

    /// The suggester that [`suggest`](Search::suggest) uses.
    pub fn suggester(&self) -> Suggester {
        self.suggester
    }

    /// `set suggester`.
    pub fn set_suggester(&mut self, suggester: Suggester) {
        self.suggester = suggester;
    }

    /// Whether nearby summaries are zoomed.
    pub fn zooming(&self) -> bool {
        self.zooming
    }

    /// `zoom on` and `zoom off`.
    pub fn set_zooming(&mut self, zooming: bool) {
        self.zooming = zooming;
    }

    /// The cutoff ratio of zooming.
    pub fn cutoff(&self) -> f64 {
        self.cutoff
    }

    /// `cutoff`.
    ///
    /// # Errors
    /// When it is not above 0 and at most 1.
    pub fn set_cutoff(&mut self, cutoff: f64) -> Result<(), SearchError> {
        if !(cutoff > 0.0 && cutoff <= 1.0) {
            return Err(SearchError::BadCutoff(cutoff));
        }
        self.cutoff = cutoff;
        Ok(())
    }

    /// `suggest`: numbers and returns the suggester's starting summaries.
    pub fn suggest(&mut self) -> Rows<'_, P> {
        let suggested = self.suggested(self.suggester);
        let noise = suggested.noise;
        self.numbered = Numbered::suggestions(Arc::clone(&suggested.summaries));
        self.noise = noise;
        self.rows()
    }

    /// The suggester's starting summaries.
    pub(crate) fn starts(&self) -> &[P::Summary] {
        &self.suggested(self.suggester).summaries
    }

    /// A suggester's starting summaries. In a comparison with nearly even sides, summaries whose difference may be noise are left
    /// out.
    fn suggested(&self, suggester: Suggester) -> &Suggested<P::Summary> {
        self.suggested[suggester as usize].get_or_init(|| {
            let mut all = suggester.suggest(&self.profile);
            let before = all.len();
            if self.whole.of == DenominatorKind::Costlier {
                let metric = match suggester {
                    Suggester::HighCum => Metric::Cum,
                    Suggester::HighBase => Metric::Base,
                };
                all.retain(|s| !is_noise(&self.profile, s, metric));
            }
            Suggested {
                noise: before - all.len(),
                summaries: all.into(),
            }
        })
    }

    /// How many functions the last [`suggest`](Search::suggest) left out because their difference may be noise.
    pub fn noise(&self) -> usize {
        self.noise
    }

    /// `find`: numbers and returns the functions whose names contain a text, ignoring case, by descending cost.
    pub fn find(&mut self, text: &str) -> Rows<'_, P> {
        let wanted = text.to_lowercase();
        let all = Suggester::HighCum.suggest(&self.profile).into_iter();
        let named = |s: &P::Summary| {
            let path = self.profile.path_of(s);
            path[0].to_lowercase().contains(&wanted)
        };
        self.numbered = Numbered::suggestions(all.filter(named).collect());
        self.rows()
    }

    /// The numbered summaries: the last suggestions, or those one step away from the current one.
    pub fn rows(&self) -> Rows<'_, P> {
        Rows::new(&self.profile, &self.numbered)
    }

    /// Numbers paths in the given order. Paths that the profile does not have get no number.
    pub fn number(&mut self, paths: &[Vec<String>]) {
        let summary = |path: &Vec<String>| {
            let names: Vec<&str> = path.iter().map(String::as_str).collect();
            self.profile.summary_of(&names).ok()
        };
        self.numbered = Numbered::suggestions(paths.iter().filter_map(summary).collect());
    }

    /// The current summary.
    pub fn current(&self) -> Option<&P::Summary> {
        self.at.checked_sub(1).map(|at| &self.history[at])
    }

    /// The summaries that were current, the oldest first, and the length of the history up to the current one.
    pub fn history(&self) -> (&[P::Summary], usize) {
        (&self.history, self.at)
    }

    /// `history`: the summaries in the history with their costs, numbered by position.
    pub fn history_rows(&self) -> Vec<Row> {
        let all = self.history.iter().enumerate();
        all.map(|(at, s)| rows::row(&self.profile, at, Step::Suggestion, s))
            .collect()
    }

    /// `select n`: makes the summary numbered `n` current.
    ///
    /// # Errors
    /// When no summary has this number.
    pub fn select(&mut self, number: usize) -> Result<Details, SearchError> {
        let count = self.numbered.len();
        let found = self.numbered.get(number).cloned();
        let s = found.ok_or(SearchError::NoSuchNumber { number, count })?;
        Ok(self.go(s))
    }

    /// Makes the summary of a path current.
    ///
    /// # Errors
    /// When the profile does not have the path.
    pub fn select_path(&mut self, path: &[&str]) -> Result<Details, SearchError> {
        let s = self.profile.summary_of(path)?;
        Ok(self.go(s))
    }

    /// Trims the current summary's path by one name and makes the result current.
    ///
    /// # Errors
    /// When there is no current summary, or its path has one name.
    pub fn trim(&mut self, end: End) -> Result<Details, SearchError> {
        let current = self.current().ok_or(SearchError::NothingSelected)?;
        let trimmed = end.trim(&self.profile, current);
        let s = trimmed.ok_or(SearchError::NothingToTrim)?;
        Ok(self.go(s))
    }

    fn go(&mut self, s: P::Summary) -> Details {
        self.history.truncate(self.at);
        self.history.push(s);
        self.at = self.history.len();
        self.show()
    }

    /// `back`: makes the previous summary current.
    ///
    /// # Errors
    /// When there is none.
    pub fn back(&mut self) -> Result<Details, SearchError> {
        if self.at < 2 {
            return Err(SearchError::EndOfHistory);
        }
        self.at -= 1;
        Ok(self.show())
    }

    /// `forward`: undoes `back`.
    ///
    /// # Errors
    /// When there is nothing to undo.
    pub fn forward(&mut self) -> Result<Details, SearchError> {
        if self.at == self.history.len() {
            return Err(SearchError::EndOfHistory);
        }
        self.at += 1;
        Ok(self.show())
    }

    /// Makes a summary of the history current, by its position.
    ///
    /// # Errors
    /// When the history is shorter.
    pub fn go_to(&mut self, at: usize) -> Result<Details, SearchError> {
        if at >= self.history.len() {
            return Err(SearchError::EndOfHistory);
        }
        self.at = at + 1;
        Ok(self.show())
    }

    /// The current summary without nearby ones. Keeps the numbers. `None` without a current summary.
    pub fn about(&self) -> Option<Details> {
        let s = self.current()?;
        Some(details::about(&self.profile, s, &self.labels, &self.whole))
    }

    /// The current summary again, after labels or zooming have changed. Numbers the nearby summaries anew.
    ///
    /// # Errors
    /// When there is no current summary.
    pub fn details(&mut self) -> Result<Details, SearchError> {
        self.current().ok_or(SearchError::NothingSelected)?;
        Ok(self.show())
    }

    /// Requires a current summary.
    fn show(&mut self) -> Details {
        let s = &self.history[self.at - 1];
        let cutoff = self.zooming.then_some(self.cutoff);
        let (details, numbered) = details::of(&self.profile, s, &self.labels, cutoff, &self.whole);
        self.numbered = numbered;
        details
    }

    /// `label name`: gives the current summary a label.
    ///
    /// # Errors
    /// When there is no current summary, or the name is empty.
    pub fn label(&mut self, name: &str) -> Result<(), SearchError> {
        if name.is_empty() {
            return Err(SearchError::EmptyLabel);
        }
        let s = self.current().ok_or(SearchError::NothingSelected)?.clone();
        self.labels.add(&self.profile, name, s);
        self.report = OnceLock::new();
        Ok(())
    }

    /// `unlabel name`: removes a label from the current summary.
    ///
    /// # Errors
    /// When there is no current summary, or it has no such label.
    pub fn unlabel(&mut self, name: &str) -> Result<(), SearchError> {
        let s = self.current().ok_or(SearchError::NothingSelected)?.clone();
        self.report = OnceLock::new();
        match self.labels.remove(&self.profile, name, Some(&s)) {
            0 => Err(SearchError::NoSuchLabel(name.into())),
            _ => Ok(()),
        }
    }

    /// Removes a label from all summaries. Returns how many had it.
    pub fn remove_label(&mut self, name: &str) -> usize {
        self.report = OnceLock::new();
        self.labels.remove(&self.profile, name, None)
    }

    /// The labels.
    pub fn labels(&self) -> &Labels<P::Summary> {
        &self.labels
    }

    /// Labels a path without making it current, as the automatic search does.
    ///
    /// # Errors
    /// When the profile does not have the path, or the name is empty.
    pub fn label_path(&mut self, name: &str, path: &[&str]) -> Result<(), SearchError> {
        if name.is_empty() {
            return Err(SearchError::EmptyLabel);
        }
        let s = self.profile.summary_of(path)?;
        self.labels.add(&self.profile, name, s);
        self.report = OnceLock::new();
        Ok(())
    }

    /// `labels`: what each label covers, in the order of their first use.
    pub fn report(&self) -> &[LabelReport] {
        &self.whole_report().labels
    }

    /// What everything with a label covers.
    pub fn covered(&self) -> Covered {
        self.whole_report().together
    }

    fn whole_report(&self) -> &Report {
        self.report
            .get_or_init(|| Arc::new(Report::of(&self.profile, &self.labels)))
    }

    /// What optimising everything with one of these labels could gain. Without names, everything with any label.
    ///
    /// # Errors
    /// When there is no such label.
    pub fn estimate(&self, names: &[&str]) -> Result<Estimate, SearchError> {
        if names.is_empty() {
            let Covered { cum, .. } = self.covered();
            return Ok(estimate_of(&self.profile, cum, &self.whole));
        }
        let mut all = Vec::new();
        for &name in names {
            let label = self.labels.get(name);
            let label = label.ok_or_else(|| SearchError::NoSuchLabel(name.into()))?;
            all.extend(label.summaries.iter().cloned());
        }
        Ok(estimate(&self.profile, &all, &self.whole))
    }

    /// `save`: what to write to a file.
    pub fn save(&self, identity: ProfileIdentity) -> SavedLabels {
        self.labels.save(&self.profile, identity)
    }

    /// `load`: adds saved labels to the existing ones.
    ///
    /// # Errors
    /// When this version does not know their format yet.
    pub fn load(
        &mut self,
        saved: &SavedLabels,
        identity: &ProfileIdentity,
    ) -> Result<Loaded, SearchError> {
        if saved.version > SavedLabels::VERSION {
            return Err(SearchError::NewerLabels(saved.version));
        }
        let mut loaded = Loaded {
            other_profile: !saved.profile.same_data(identity),
            ..Loaded::default()
        };
        for label in &saved.labels {
            for path in &label.paths {
                let names: Vec<&str> = path.iter().map(String::as_str).collect();
                match self.label_path(&label.name, &names) {
                    Ok(()) => loaded.restored += 1,
                    Err(SearchError::EmptyLabel) => loaded.nameless += 1,
                    Err(_) => loaded.absent.push((label.name.clone(), path.clone())),
                }
            }
        }
        Ok(loaded)
    }
}
