//! `fulcrum/navigator/frame`: where a function of the profile is.

use crate::failure::Failure;
use crate::navigator::{SearchSnapshot, places};
use crate::protocol::{NavigatorFrameParams, NavigatorFrameResult, NavigatorGetFrame};
use crate::requests::Looking;
use crate::snapshot::Snapshot;

pub(crate) enum Frame {}

impl Looking for Frame {
    type Method = NavigatorGetFrame;

    fn navigator(params: &NavigatorFrameParams) -> u32 {
        params.id
    }

    fn run(
        look: &SearchSnapshot,
        snapshot: &Snapshot,
        params: NavigatorFrameParams,
    ) -> Result<NavigatorFrameResult, Failure> {
        places::frame(look, snapshot, &params)
    }
}
