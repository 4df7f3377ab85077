//! `fulcrum/navigator/flameSearch`: where in a flame graph a text is found.

use crate::failure::Failure;
use crate::navigator::{SearchSnapshot, flame};
use crate::protocol::{
    NavigatorFlameSearch, NavigatorFlameSearchParams, NavigatorFlameSearchResult,
};
use crate::requests::Looking;
use crate::snapshot::Snapshot;

pub(crate) enum FlameSearch {}

impl Looking for FlameSearch {
    type Method = NavigatorFlameSearch;

    fn navigator(params: &NavigatorFlameSearchParams) -> u32 {
        params.id
    }

    fn run(
        look: &SearchSnapshot,
        _: &Snapshot,
        params: NavigatorFlameSearchParams,
    ) -> Result<NavigatorFlameSearchResult, Failure> {
        flame::search(look, &params)
    }
}
