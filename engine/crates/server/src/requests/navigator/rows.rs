//! `fulcrum/navigator/rows`: the rows that are on screen.

use crate::failure::Failure;
use crate::navigator::Navigation;
use crate::protocol::{NavigatorGetRows, NavigatorRows, NavigatorRowsParams};
use crate::requests::Navigated;

pub(crate) enum Rows {}

impl Navigated for Rows {
    type Method = NavigatorGetRows;

    fn navigator(params: &NavigatorRowsParams) -> u32 {
        params.id
    }

    fn run(
        navigation: &mut Navigation,
        params: NavigatorRowsParams,
    ) -> Result<NavigatorRows, Failure> {
        navigation.rows(&params)
    }
}
