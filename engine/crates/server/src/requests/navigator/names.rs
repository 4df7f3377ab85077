//! `fulcrum/navigator/names`: what the rules for names unified.

use crate::navigator::SearchSnapshot;
use crate::protocol::failure::Failure;
use crate::protocol::{NavigatorGetNames, NavigatorId, NavigatorNames, NavigatorNamesParams};
use crate::requests::NavigatorReading;
use crate::snapshot::Snapshot;

pub(crate) enum Names {}

impl NavigatorReading for Names {
    type Method = NavigatorGetNames;

    fn navigator(params: &NavigatorNamesParams) -> NavigatorId {
        params.id
    }

    fn run(
        navigator: &SearchSnapshot,
        _: &Snapshot,
        params: NavigatorNamesParams,
    ) -> Result<NavigatorNames, Failure> {
        Ok(navigator.naming.answer(params.count))
    }
}
