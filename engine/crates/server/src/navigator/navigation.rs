//! What a navigator's thread owns: the search, the rows that are listed, and the view of both.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fulcrum_model::Progress;
use fulcrum_paths::{
    AnyProfile, Calls, Details, Hidden, ProfileInterface as _, Row, Search, SearchError,
};
use fulcrum_profiles::{Files, Kept, Lines};

use super::convert;
use super::naming::Naming;
use super::recorded::{Place, Recorded, recorded};
use super::search_snapshot::{Baselines, Drawing, Measured, SearchSnapshot};
use crate::protocol::failure::Failure;
use crate::protocol::{
    NavigatorAccepted, NavigatorCommand, NavigatorCurrent, NavigatorFrame, NavigatorHidden,
    NavigatorHistory, NavigatorId, NavigatorKind, NavigatorLabel, NavigatorListing,
    NavigatorOpened, NavigatorRow, NavigatorRowCount, NavigatorRows, NavigatorRowsParams,
    NavigatorStep, NavigatorValueType, NavigatorView,
};

/// Paths of the history that a view has on each side of the current one.
const HISTORY: usize = 50;

/// Rows in one answer.
const MOST_ROWS: u32 = 1_000;

/// The note about functions that are not listed because their difference may be noise.
fn noise_note(count: usize) -> Option<String> {
    let functions = match count {
        0 => return None,
        1 => "1 function whose difference may be noise is".to_owned(),
        count => format!("{count} functions whose differences may be noise are"),
    };
    Some(format!(
        "The sides cost about the same, so {functions} not listed."
    ))
}

/// An open profile, its search, and what is listed of it.
pub(crate) struct Navigation {
    pub open: fulcrum_profiles::OpenSearch,
    kept: Option<Kept>,
    recorded: Arc<Recorded>,
    title: Arc<str>,
    folders: Arc<Vec<PathBuf>>,
    /// Of the value type that is searched.
    drawing: Arc<Drawing>,
    measured: Arc<[Measured]>,
    ran: Arc<[(String, Vec<Lines>)]>,
    baselines: Arc<Baselines>,
    naming: Arc<Naming>,
    revision: u32,
    listing: NavigatorListing,
    hidden: [Hidden; 2],
    /// Notes on the last command: what went wrong besides, what another value type is.
    notes: Vec<String>,
}

impl Navigation {
    /// Opens files and the labels that are kept for them below `workspace`.
    pub(crate) fn open(
        files: &Files,
        workspace: Option<&Path>,
        progress: &Progress,
    ) -> Result<(Navigation, NavigatorOpened), Failure> {
        let mut open = fulcrum_profiles::OpenSearch::open(files, progress)?;
        let renamed = std::mem::take(&mut open.renamed);
        let all = files.files.iter().chain(&files.against);
        let folders = all.filter_map(|file| file.parent().map(Path::to_path_buf));
        let folders = folders.collect();
        let measured = Measured::of(files, &open);
        let (mut navigation, opened) = Navigation::of(open, folders, workspace);
        navigation.measured = measured;
        navigation.naming = Arc::new(Naming::new(&files.rules, renamed));
        Ok((navigation, opened))
    }

    /// A search of a profile that is open. `folders` are those that its names may start from.
    pub(crate) fn of(
        mut open: fulcrum_profiles::OpenSearch,
        mut folders: Vec<PathBuf>,
        workspace: Option<&Path>,
    ) -> (Navigation, NavigatorOpened) {
        let mut notes = std::mem::take(&mut open.notes);
        let kept = match workspace {
            Some(workspace) => {
                let (kept, said) = Kept::open(workspace, &mut open);
                notes.extend(said);
                kept
            }
            None => {
                notes.push("Labels are not saved: open a folder to save them.".into());
                None
            }
        };
        let recorded = Arc::new(recorded(&open));
        folders.dedup();
        let mut navigation = Navigation {
            open,
            kept,
            recorded,
            title: "".into(),
            folders: Arc::new(folders),
            drawing: Arc::default(),
            measured: Arc::default(),
            ran: Arc::default(),
            baselines: Arc::default(),
            naming: Arc::default(),
            revision: 1,
            listing: NavigatorListing::Suggestions,
            hidden: [Hidden::default(); 2],
            notes: Vec::new(),
        };
        navigation.suggest();
        let opened = navigation.opened(notes);
        (navigation, opened)
    }

    /// Adds the lines that ran, by value type; of a comparison, those of both sides.
    pub(crate) fn with_lines(mut self, ran: Vec<(String, Vec<Lines>)>) -> Navigation {
        self.ran = ran.into();
        self
    }

    fn opened(&mut self, notes: Vec<String>) -> NavigatorOpened {
        let [a, b] = self.open.sources();
        let files = |side: &[fulcrum_paths::ProfileInput]| {
            let names: Vec<_> = side.iter().map(|it| it.identity.file.as_str()).collect();
            names.join(" + ")
        };
        let nodes = |source: &fulcrum_paths::ProfileInput| match &source.calls {
            Calls::Tree(tree) => u64::from(tree.len()),
            Calls::Graphs(graphs) => graphs.first().map_or(0, |it| it.functions.len() as u64),
        };
        let title = match b {
            [] => files(a),
            _ => format!("{} \u{2212} {}", files(a), files(b)),
        };
        self.title = title.as_str().into();
        let value_types = self.open.value_types.iter();
        NavigatorOpened {
            // The loop gives the id.
            id: NavigatorId::default(),
            title,
            kind: match **self.open.search.profile() {
                AnyProfile::Tree(_) => NavigatorKind::Tree,
                AnyProfile::Comparison(_) | AnyProfile::GraphComparison(_) => {
                    NavigatorKind::Comparison
                }
                AnyProfile::Graph(_) => NavigatorKind::Graph,
            },
            value_types: value_types
                .zip(self.open.value_names())
                .map(|(it, name)| NavigatorValueType {
                    name,
                    unit: it.unit.clone(),
                })
                .collect(),
            names: self.open.search.rows().len() as u32,
            nodes: a.iter().chain(b).map(nodes).sum(),
            notes,
            view: self.view(),
        }
    }

    /// The search as it is now, for work that takes long while commands go on.
    pub(crate) fn search(&self) -> Search<Arc<AnyProfile>> {
        self.open.search.clone()
    }

    /// The navigation as it is now, for requests that only read.
    pub(crate) fn snapshot(&self) -> SearchSnapshot {
        SearchSnapshot {
            search: self.search(),
            title: Arc::clone(&self.title),
            value: self.open.value_name(),
            unit: self.open.identity.unit.clone(),
            naming: Arc::clone(&self.naming),
            recorded: Arc::clone(&self.recorded),
            folders: Arc::clone(&self.folders),
            drawing: Arc::clone(&self.drawing),
            measured: Arc::clone(&self.measured),
            ran: Arc::clone(&self.ran),
            baselines: Arc::clone(&self.baselines),
        }
    }

    /// Does one command. What cannot be done changes nothing.
    pub(crate) fn command(&mut self, command: NavigatorCommand) -> Result<NavigatorView, Failure> {
        use NavigatorCommand as C;
        self.notes.clear();
        match command {
            C::SetSuggester { suggester } => {
                let suggester = convert::to_suggester(suggester);
                self.open.search.set_suggester(suggester);
                self.suggest();
            }
            C::Suggest => self.suggest(),
            C::Find { text } => {
                self.open.search.find(&text);
                self.listing = NavigatorListing::Found { text };
            }
            C::Select { number } => self.step(|search| search.select(number as usize))?,
            C::SelectPath { path } => {
                let path: Vec<&str> = path.iter().map(String::as_str).collect();
                self.step(|search| search.select_path(&path))?;
            }
            C::Trim { end } => self.step(|search| search.trim(convert::to_end(end)))?,
            C::Show => self.step(Search::details)?,
            C::Back => self.step(Search::back)?,
            C::Forward => self.step(Search::forward)?,
            C::GoTo { at } => self.step(|search| search.go_to(at as usize))?,
            C::Label { name } => self.relabel(|search| search.label(name.trim()))?,
            C::Unlabel { name } => self.relabel(|search| search.unlabel(&name))?,
            C::RemoveLabel { name } => self.relabel(|search| match search.remove_label(&name) {
                0 => Err(SearchError::NoSuchLabel(name)),
                _ => Ok(()),
            })?,
            C::Accept { suggestions } => self.accept(&suggestions)?,
            C::SetZoom { on } => {
                self.open.search.set_zooming(on);
                self.zoomed();
            }
            C::SetCutoff { cutoff } => {
                let set = self.open.search.set_cutoff(cutoff);
                set.map_err(|error| refusal(&error))?;
                self.zoomed();
            }
            C::Value { name } => self.set_value(&name)?,
        }
        self.revision += 1;
        Ok(self.view())
    }

    /// Goes to another path and lists what is nearby.
    fn step(
        &mut self,
        step: impl FnOnce(&mut Search<Arc<AnyProfile>>) -> Result<Details, SearchError>,
    ) -> Result<(), Failure> {
        let details = step(&mut self.open.search).map_err(|error| refusal(&error))?;
        self.show(&details);
        Ok(())
    }

    /// Changes the labels and writes them.
    fn relabel(
        &mut self,
        change: impl FnOnce(&mut Search<Arc<AnyProfile>>) -> Result<(), SearchError>,
    ) -> Result<(), Failure> {
        change(&mut self.open.search).map_err(|error| refusal(&error))?;
        self.save_labels();
        Ok(())
    }

    /// Searches another value type.
    fn set_value(&mut self, name: &str) -> Result<(), Failure> {
        self.notes = self.open.set_value(name)?;
        self.drawing = Arc::default();
        match self.open.search.details() {
            Ok(details) => self.show(&details),
            Err(_) => self.suggest(),
        }
        Ok(())
    }

    fn suggest(&mut self) {
        self.open.search.suggest();
        self.notes.extend(noise_note(self.open.search.noise()));
        self.listing = NavigatorListing::Suggestions;
    }

    fn show(&mut self, details: &Details) {
        self.hidden = details.hidden;
        self.listing = NavigatorListing::Nearby;
    }

    /// Lists what is nearby again, because zooming has changed.
    fn zoomed(&mut self) {
        if self.listing == NavigatorListing::Nearby
            && let Ok(details) = self.open.search.details()
        {
            self.show(&details);
        }
    }

    /// Labels all of these or none.
    fn accept(&mut self, suggestions: &[NavigatorAccepted]) -> Result<(), Failure> {
        let mut search = self.open.search.clone();
        for it in suggestions {
            let path: Vec<&str> = it.path.iter().map(String::as_str).collect();
            let labelled = search.label_path(it.label.trim(), &path);
            labelled.map_err(|error| refusal(&error))?;
        }
        self.open.search = search;
        self.save_labels();
        Ok(())
    }

    /// Writes the labels, which have changed.
    fn save_labels(&mut self) {
        if let Some(kept) = &self.kept
            && let Err(error) = kept.save(&self.open)
        {
            self.notes
                .push(format!("Labels could not be saved: {error}."));
        }
    }

    fn view(&self) -> NavigatorView {
        let (search, profile) = (&self.open.search, self.open.search.profile());
        let estimate = search.estimate(&[]).expect("all labels are there");
        NavigatorView {
            revision: self.revision,
            value: self.open.value_name(),
            unit: self.open.identity.unit.clone(),
            total: search.whole().cost,
            of: convert::whole(search.whole().of),
            sides: profile.sides().map(convert::sides),
            suggester: convert::suggester(search.suggester()),
            zoom: search.zooming(),
            cutoff: search.cutoff(),
            current: search.about().map(|details| self.current(details)),
            listing: self.listing.clone(),
            rows: self.row_counts(),
            labels: self.labels(),
            coverage: convert::coverage(search.covered().base, &estimate),
            history: self.history(),
            notes: self.notes.clone(),
        }
    }

    fn current(&self, details: Details) -> NavigatorCurrent {
        let [top, bottom] = self.hidden.map(convert::hidden);
        let overlaps = convert::overlaps(&details);
        let frames = details.path.into_iter().map(|name| NavigatorFrame {
            recorded: self
                .recorded
                .get(&name)
                .and_then(|places| places.first().map(Place::to_string)),
            name,
        });
        NavigatorCurrent {
            frames: frames.collect(),
            base: details.base,
            cum: details.cum,
            sides: details.sides.map(convert::path_sides),
            spread: details.spread.map(convert::path_spread),
            paradox: details.paradox.map(|it| it.to_string()),
            labels: details.labels,
            overlaps,
            overlap: convert::overlap(details.overlap),
            hidden: NavigatorHidden { top, bottom },
            limit: details.limit.map(|it| sentence(&it)),
        }
    }

    fn row_counts(&self) -> Vec<NavigatorRowCount> {
        let steps: &[NavigatorStep] = match self.listing {
            NavigatorListing::Nearby => &[
                NavigatorStep::ExtendTop,
                NavigatorStep::ExtendBottom,
                NavigatorStep::TrimTop,
                NavigatorStep::TrimBottom,
            ],
            _ => &[NavigatorStep::Suggestion],
        };
        let rows = self.open.search.rows();
        let count = |&step: &NavigatorStep| NavigatorRowCount {
            step,
            count: rows.count(convert::to_step(step)) as u32,
        };
        steps.iter().map(count).collect()
    }

    /// The rows that are on screen.
    pub(crate) fn rows(&self, params: &NavigatorRowsParams) -> Result<NavigatorRows, Failure> {
        if params.revision != self.revision {
            return Err(Failure::modified(format!(
                "these are the rows of revision {}, and the view is at {}",
                params.revision, self.revision
            )));
        }
        let mut labels: HashMap<Vec<String>, Vec<String>> = HashMap::new();
        for label in self.labels() {
            for path in label.paths {
                labels.entry(path).or_default().push(label.name.clone());
            }
        }
        let path: Vec<String> = match self.listing {
            NavigatorListing::Nearby => self.current_path(),
            _ => Vec::new(),
        };
        let rows = self.open.search.rows().page(
            convert::to_step(params.step),
            params.from as usize,
            params.count.min(MOST_ROWS) as usize,
        );
        let row = |row: &Row| NavigatorRow {
            number: row.number as u32,
            names: convert::names(row, path.len(), &path),
            base: row.base,
            cum: row.cum,
            sides: row.sides.map(convert::path_sides),
            spread: row.spread.map(convert::path_spread),
            labels: labels.get(&row.path).cloned().unwrap_or_default(),
        };
        Ok(NavigatorRows {
            rows: rows.iter().map(row).collect(),
        })
    }

    fn current_path(&self) -> Vec<String> {
        let current = self.open.search.current();
        current.map_or(Vec::new(), |s| owned(self.open.search.profile().path_of(s)))
    }

    fn labels(&self) -> Vec<NavigatorLabel> {
        let (search, profile) = (&self.open.search, self.open.search.profile());
        let reports = search.report().iter().zip(search.labels().all());
        reports
            .map(|(report, label)| {
                let paths = label.summaries.iter().map(|s| owned(profile.path_of(s)));
                convert::label(report.clone(), paths.collect())
            })
            .collect()
    }

    fn history(&self) -> NavigatorHistory {
        let (search, profile) = (&self.open.search, self.open.search.profile());
        let (all, at) = search.history();
        let at = at.checked_sub(1);
        let first = at.unwrap_or(0).saturating_sub(HISTORY);
        let last = (at.unwrap_or(0) + HISTORY).min(all.len());
        let paths = all[first..last].iter();
        NavigatorHistory {
            first: first as u32,
            paths: paths.map(|s| owned(profile.path_of(s))).collect(),
            at: at.map(|it| it as u32),
            count: all.len() as u32,
        }
    }
}

/// The failure of a command that the search refuses.
fn refusal(error: &SearchError) -> Failure {
    Failure::user(error.to_string(), None)
}

fn owned(path: Vec<&str>) -> Vec<String> {
    path.into_iter().map(String::from).collect()
}

/// An error as a sentence of its own.
fn sentence(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    match text.ends_with(['.', '!', '?']) {
        true => text,
        false => text + ".",
    }
}
