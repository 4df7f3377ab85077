//! `fulcrum/causal/ranking`: the open profile's lines, best first.

use std::collections::HashMap;

use fulcrum_answers::causal;
use fulcrum_model::causal::Target;

use crate::causal::profile::OpenCausalProfile;
use crate::causal::sources::{FileId, Placer};
use crate::causal::{call_wording, wording};
use crate::protocol::convert;
use crate::protocol::failure::Failure;
use crate::protocol::{CausalRanking, Ranking, RankingParams, RankingRow};
use crate::requests::Pooled;
use crate::snapshot::Snapshot;

pub(crate) enum RankingRequest {}

impl Pooled for RankingRequest {
    type Method = CausalRanking;

    fn run(snapshot: &Snapshot, params: RankingParams) -> Result<Ranking, Failure> {
        let Some(open) = &snapshot.profile else {
            let (progress_point, progress_points, rows, notes) = Default::default();
            return Ok(Ranking {
                progress_point,
                progress_points,
                rows,
                notes,
            });
        };
        let point = open.point(params.progress_point.as_deref());
        let mut placers = HashMap::new();
        let targets = point.map_or(&[][..], |point| &point.targets);
        Ok(Ranking {
            progress_point: point.map(|point| point.name.clone()),
            progress_points: open
                .profile
                .progress_points
                .iter()
                .map(causal::progress_point)
                .collect(),
            rows: targets
                .iter()
                .map(|target| row(snapshot, open, target, &mut placers))
                .collect(),
            notes: open.notes.clone(),
        })
    }
}

fn row(
    snapshot: &Snapshot,
    open: &OpenCausalProfile,
    target: &Target,
    placers: &mut HashMap<FileId, Placer>,
) -> RankingRow {
    let at = &target.id.location;
    let file = open
        .sources
        .file(&at.file)
        .expect("every target's file is in the profile's list");
    let path = open.sources[file].resolution.path();
    let placer = placers.entry(file).or_insert_with(|| {
        let text = path.and_then(|path| snapshot.documents.current_text(path));
        open.sources.placer(file, text.as_deref())
    });
    let placed = placer.place(at.line);
    let base = at.file.rsplit(['/', '\\']).next().unwrap_or(&at.file);
    RankingRow {
        target: target.id.to_string(),
        result: causal::result(target),
        label: target.id.label(&format!("{base}:{}", placed.line + 1)),
        uri: path.map(|path| snapshot.uri(path)),
        line: placed.line,
        state: convert::state(placed.state),
        experiments: target.experiments,
        text: wording::short(target),
        cautions: call_wording::meaning(target)
            .into_iter()
            .chain(wording::cautions(target))
            .collect(),
    }
}
