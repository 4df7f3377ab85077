//! `fulcrum/navigator/rows`: the rows that are on screen.

use crate::navigator::Navigation;
use crate::protocol::failure::Failure;
use crate::protocol::{NavigatorGetRows, NavigatorId, NavigatorRows, NavigatorRowsParams};
use crate::requests::Navigated;

pub(crate) enum Rows {}

impl Navigated for Rows {
    type Method = NavigatorGetRows;

    fn navigator(params: &NavigatorRowsParams) -> NavigatorId {
        params.id
    }

    fn run(
        navigation: &mut Navigation,
        params: NavigatorRowsParams,
    ) -> Result<NavigatorRows, Failure> {
        navigation.rows(&params)
    }
}
