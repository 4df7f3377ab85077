//! `fulcrum/navigator/command`: does one command of a search.

use crate::navigator::Navigation;
use crate::protocol::failure::Failure;
use crate::protocol::{NavigatorCommandParams, NavigatorDo, NavigatorId, NavigatorView};
use crate::requests::Navigated;

pub(crate) enum Command {}

impl Navigated for Command {
    type Method = NavigatorDo;

    fn navigator(params: &NavigatorCommandParams) -> NavigatorId {
        params.id
    }

    fn run(
        navigation: &mut Navigation,
        params: NavigatorCommandParams,
    ) -> Result<NavigatorView, Failure> {
        navigation.command(params.command)
    }
}
