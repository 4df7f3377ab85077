//! `fulcrum/navigator/flame`: the boxes of a flame graph that are in sight.

use crate::navigator::{SearchSnapshot, flame};
use crate::protocol::failure::Failure;
use crate::protocol::{NavigatorFlame, NavigatorFlameParams, NavigatorGetFlame, NavigatorId};
use crate::requests::NavigatorReading;
use crate::snapshot::Snapshot;

pub(crate) enum Flame {}

impl NavigatorReading for Flame {
    type Method = NavigatorGetFlame;

    fn navigator(params: &NavigatorFlameParams) -> NavigatorId {
        params.id
    }

    fn run(
        navigator: &SearchSnapshot,
        _: &Snapshot,
        params: NavigatorFlameParams,
    ) -> Result<NavigatorFlame, Failure> {
        flame::flame(navigator, &params)
    }
}
