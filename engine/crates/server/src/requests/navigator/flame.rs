//! `fulcrum/navigator/flame`: the boxes of a flame graph that are in sight.

use crate::failure::Failure;
use crate::navigator::{SearchSnapshot, flame};
use crate::protocol::{NavigatorFlame, NavigatorFlameParams, NavigatorGetFlame};
use crate::requests::Looking;
use crate::snapshot::Snapshot;

pub(crate) enum Flame {}

impl Looking for Flame {
    type Method = NavigatorGetFlame;

    fn navigator(params: &NavigatorFlameParams) -> u32 {
        params.id
    }

    fn run(
        look: &SearchSnapshot,
        _: &Snapshot,
        params: NavigatorFlameParams,
    ) -> Result<NavigatorFlame, Failure> {
        flame::flame(look, &params)
    }
}
