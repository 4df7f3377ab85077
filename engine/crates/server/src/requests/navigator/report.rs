//! `fulcrum/navigator/report`: the labels as Markdown, for a pull request.

use crate::navigator::{SearchSnapshot, report};
use crate::protocol::failure::Failure;
use crate::protocol::{NavigatorGetReport, NavigatorId, NavigatorReport, NavigatorReportParams};
use crate::requests::NavigatorReading;
use crate::snapshot::Snapshot;

pub(crate) enum Report {}

impl NavigatorReading for Report {
    type Method = NavigatorGetReport;

    fn navigator(params: &NavigatorReportParams) -> NavigatorId {
        params.id
    }

    fn run(
        navigator: &SearchSnapshot,
        _: &Snapshot,
        _: NavigatorReportParams,
    ) -> Result<NavigatorReport, Failure> {
        Ok(report::report(navigator))
    }
}
