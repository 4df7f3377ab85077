//! `fulcrum/navigator/flameSearch`: where in a flame graph a text is found.

use crate::navigator::{SearchSnapshot, flame};
use crate::protocol::failure::Failure;
use crate::protocol::{
    NavigatorFlameSearch, NavigatorFlameSearchParams, NavigatorFlameSearchResult, NavigatorId,
};
use crate::requests::NavigatorReading;
use crate::snapshot::Snapshot;

pub(crate) enum FlameSearch {}

impl NavigatorReading for FlameSearch {
    type Method = NavigatorFlameSearch;

    fn navigator(params: &NavigatorFlameSearchParams) -> NavigatorId {
        params.id
    }

    fn run(
        navigator: &SearchSnapshot,
        _: &Snapshot,
        params: NavigatorFlameSearchParams,
    ) -> Result<NavigatorFlameSearchResult, Failure> {
        flame::search(navigator, &params)
    }
}
