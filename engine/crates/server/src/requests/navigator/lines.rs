//! `fulcrum/navigator/lines`: the costs of a file's lines.

use crate::navigator::{SearchSnapshot, hot_lines};
use crate::protocol::failure::Failure;
use crate::protocol::{NavigatorGetLines, NavigatorId, NavigatorLines, NavigatorLinesParams};
use crate::requests::NavigatorReading;
use crate::snapshot::Snapshot;

pub(crate) enum Lines {}

impl NavigatorReading for Lines {
    type Method = NavigatorGetLines;

    fn navigator(params: &NavigatorLinesParams) -> NavigatorId {
        params.id
    }

    fn run(
        navigator: &SearchSnapshot,
        snapshot: &Snapshot,
        params: NavigatorLinesParams,
    ) -> Result<NavigatorLines, Failure> {
        hot_lines::lines(navigator, snapshot, &params)
    }
}
