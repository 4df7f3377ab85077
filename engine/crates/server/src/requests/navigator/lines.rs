//! `fulcrum/navigator/lines`: the costs of a file's lines.

use crate::failure::Failure;
use crate::navigator::{SearchSnapshot, hot_lines};
use crate::protocol::{NavigatorGetLines, NavigatorLines, NavigatorLinesParams};
use crate::requests::Looking;
use crate::snapshot::Snapshot;

pub(crate) enum Lines {}

impl Looking for Lines {
    type Method = NavigatorGetLines;

    fn navigator(params: &NavigatorLinesParams) -> u32 {
        params.id
    }

    fn run(
        look: &SearchSnapshot,
        snapshot: &Snapshot,
        params: NavigatorLinesParams,
    ) -> Result<NavigatorLines, Failure> {
        hot_lines::lines(look, snapshot, &params)
    }
}
