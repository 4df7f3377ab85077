//! `fulcrum/navigator/command`: does one command of a search.

use crate::failure::Failure;
use crate::navigator::Session;
use crate::protocol::{NavigatorCommandParams, NavigatorDo, NavigatorView};
use crate::requests::Navigated;

pub(crate) enum Command {}

impl Navigated for Command {
    type Method = NavigatorDo;

    fn navigator(params: &NavigatorCommandParams) -> u32 {
        params.id
    }

    fn run(
        session: &mut Session,
        params: NavigatorCommandParams,
    ) -> Result<NavigatorView, Failure> {
        session.command(params.command)
    }
}
