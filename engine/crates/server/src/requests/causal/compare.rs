//! `fulcrum/causal/compare`: two runs lined up through the code changes between them.

use std::collections::HashMap;
use std::path::PathBuf;

use fulcrum_answers::causal;
use fulcrum_model::causal::Recording;
use fulcrum_model::comparison as model;
use fulcrum_runs::LoadedCausal;
use fulcrum_source::{LineMapping, RecordedFile};

use crate::causal::sources::{Placed, Sources};
use crate::protocol::convert;
use crate::protocol::failure::Failure;
use crate::protocol::{
    CausalCompare, CompareParams, ComparedPoint, ComparedRun, ComparedTarget, Comparison,
};
use crate::requests::Pooled;
use crate::snapshot::Snapshot;

pub(crate) enum Compare {}

impl Pooled for Compare {
    type Method = CausalCompare;

    fn run(snapshot: &Snapshot, params: CompareParams) -> Result<Comparison, Failure> {
        let before = Side::load(params.before, snapshot)?;
        let after = Side::load(params.after, snapshot)?;
        let mapping = LineMapping::new(&before.texts(), &after.texts());
        let compared = fulcrum_causal::compare(
            &before.loaded.recording,
            &after.loaded.recording,
            &|id| mapping.target(id),
            &fulcrum_causal::Options::default(),
        );
        let mut rows = Rows {
            snapshot,
            before: &before,
            after: &after,
            texts: HashMap::new(),
        };
        Ok(Comparison {
            progress_points: compared
                .progress_points
                .iter()
                .map(|point| rows.point(point))
                .collect(),
            notes: compared
                .notes
                .iter()
                .map(fulcrum_causal::wording::comparison_note)
                .collect(),
            before: before.run(),
            after: after.run(),
        })
    }
}

/// One of the two runs.
struct Side {
    path: PathBuf,
    loaded: LoadedCausal,
    sources: Sources,
}

impl Side {
    fn load(path: String, snapshot: &Snapshot) -> Result<Side, Failure> {
        let path = std::path::absolute(&path).unwrap_or_else(|_| path.into());
        let loaded = fulcrum_runs::load_causal(&path)?;
        let names = files_of(&loaded.recording);
        let sources = Sources::find(
            names,
            &path,
            &loaded,
            &snapshot.folders,
            &snapshot.documents,
        );
        Ok(Side {
            path,
            loaded,
            sources,
        })
    }

    fn run(self: &Side) -> ComparedRun {
        ComparedRun {
            path: self.path.to_string_lossy().into_owned(),
            title: self.loaded.title.clone(),
        }
    }

    fn texts(&self) -> Vec<RecordedFile<'_>> {
        let files = self.sources.files.iter();
        files
            .map(|file| (&*file.recorded, file.recorded_text()))
            .collect()
    }
}

/// Every file that was sampled or experimented on.
fn files_of(recording: &Recording) -> Vec<String> {
    let sampled = recording.samples.iter().map(|(id, _)| id);
    let selected = recording.experiments.iter().map(|it| &it.selected);
    let mut names: Vec<String> = sampled
        .chain(selected)
        .map(|id| id.location.file.clone())
        .collect();
    names.sort();
    names.dedup();
    names
}

struct Rows<'a> {
    snapshot: &'a Snapshot,
    before: &'a Side,
    after: &'a Side,
    /// The text of each workspace file as it is now.
    texts: HashMap<PathBuf, Option<String>>,
}

impl Rows<'_> {
    fn point(&mut self, point: &model::PointComparison) -> ComparedPoint {
        ComparedPoint {
            change: causal::point_change(point),
            targets: point.targets.iter().map(|it| self.target(it)).collect(),
        }
    }

    /// A row points into the code as it is now: from the later run when the target is still in it.
    fn target(&mut self, target: &model::TargetComparison) -> ComparedTarget {
        let (side, id) = match &target.after {
            Some(id) if self.after.sources.file(&id.location.file).is_some() => (self.after, id),
            _ => (self.before, &target.before),
        };
        let at = &id.location;
        let base = at.file.rsplit(['/', '\\']).next().unwrap_or(&at.file);
        let file = side.sources.file(&at.file);
        let path = file.and_then(|file| side.sources[file].resolution.path());
        let text = path.and_then(|path| {
            self.texts
                .entry(path.to_path_buf())
                .or_insert_with(|| self.snapshot.documents.current_text(path))
                .as_deref()
        });
        let placed = file.map_or_else(
            || Placed {
                line: at.line.saturating_sub(1),
                state: fulcrum_source::State::Exact,
            },
            |file| side.sources.place(file, at.line, text),
        );
        ComparedTarget {
            target: target.before.to_string(),
            change: causal::target_change(target),
            label: id.label(&format!("{base}:{}", placed.line + 1)),
            uri: path.map(|path| self.snapshot.uri(path)),
            line: placed.line,
            state: convert::state(placed.state),
        }
    }
}
