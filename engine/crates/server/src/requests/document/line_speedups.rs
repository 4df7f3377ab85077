//! `fulcrum/lineSpeedups`: the results for one document, for the gutter.

use fulcrum_answers::causal;

use crate::causal::profile::Placement;
use crate::causal::wording;
use crate::protocol::convert;
use crate::protocol::failure::Failure;
use crate::protocol::{LineSpeedup, LineSpeedups, LineSpeedupsParams, LineSpeedupsResult};
use crate::requests::Pooled;
use crate::snapshot::Snapshot;

pub(crate) enum LineSpeedupsRequest {}

impl Pooled for LineSpeedupsRequest {
    type Method = LineSpeedups;

    fn run(snapshot: &Snapshot, params: LineSpeedupsParams) -> Result<LineSpeedupsResult, Failure> {
        let point = snapshot.profile.as_ref().and_then(|open| {
            let point = open.point(params.progress_point.as_deref())?;
            Some((open, point))
        });
        let Some((open, point)) = point else {
            return Ok(LineSpeedupsResult {
                progress_point: None,
                lines: Vec::new(),
            });
        };
        let document = snapshot.document(&params.uri);
        let lines = document.as_ref().and_then(|document| {
            let path = document.path.as_ref()?;
            Some(
                open.placements(point, path, &document.text)
                    .iter()
                    .map(line)
                    .collect(),
            )
        });
        Ok(LineSpeedupsResult {
            progress_point: Some(point.name.clone()),
            lines: lines.unwrap_or_default(),
        })
    }
}

fn line(placement: &Placement<'_>) -> LineSpeedup {
    let target = placement.target;
    LineSpeedup {
        line: placement.placed.line,
        recorded_line: target.id.location.line,
        state: convert::state(placement.placed.state),
        result: causal::result(target),
        text: wording::beside_code(target),
        rank: placement.rank,
        points: causal::points(target),
    }
}
