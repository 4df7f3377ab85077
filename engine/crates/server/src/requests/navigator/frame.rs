//! `fulcrum/navigator/frame`: where a function of the profile is.

use crate::navigator::{SearchSnapshot, places};
use crate::protocol::failure::Failure;
use crate::protocol::{NavigatorFrameParams, NavigatorFrameResult, NavigatorGetFrame, NavigatorId};
use crate::requests::NavigatorReading;
use crate::snapshot::Snapshot;

pub(crate) enum Frame {}

impl NavigatorReading for Frame {
    type Method = NavigatorGetFrame;

    fn navigator(params: &NavigatorFrameParams) -> NavigatorId {
        params.id
    }

    fn run(
        navigator: &SearchSnapshot,
        snapshot: &Snapshot,
        params: NavigatorFrameParams,
    ) -> Result<NavigatorFrameResult, Failure> {
        places::frame(navigator, snapshot, &params)
    }
}
