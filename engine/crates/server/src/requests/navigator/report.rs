//! `fulcrum/navigator/report`: the labels as Markdown, for a pull request.

use crate::failure::Failure;
use crate::navigator::{SearchSnapshot, report};
use crate::protocol::{NavigatorGetReport, NavigatorReport, NavigatorReportParams};
use crate::requests::Looking;
use crate::snapshot::Snapshot;

pub(crate) enum Report {}

impl Looking for Report {
    type Method = NavigatorGetReport;

    fn navigator(params: &NavigatorReportParams) -> u32 {
        params.id
    }

    fn run(
        look: &SearchSnapshot,
        _: &Snapshot,
        _: NavigatorReportParams,
    ) -> Result<NavigatorReport, Failure> {
        Ok(report::report(look))
    }
}
