//! `fulcrum/navigator/names`: what the rules for names unified.

use crate::failure::Failure;
use crate::navigator::SearchSnapshot;
use crate::protocol::{NavigatorGetNames, NavigatorNames, NavigatorNamesParams};
use crate::requests::Looking;
use crate::snapshot::Snapshot;

pub(crate) enum Names {}

impl Looking for Names {
    type Method = NavigatorGetNames;

    fn navigator(params: &NavigatorNamesParams) -> u32 {
        params.id
    }

    fn run(
        look: &SearchSnapshot,
        _: &Snapshot,
        params: NavigatorNamesParams,
    ) -> Result<NavigatorNames, Failure> {
        Ok(look.naming.answer(params.count))
    }
}
