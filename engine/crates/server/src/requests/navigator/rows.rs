//! `fulcrum/navigator/rows`: the rows that are on screen.

use crate::failure::Failure;
use crate::navigator::Session;
use crate::protocol::{NavigatorGetRows, NavigatorRows, NavigatorRowsParams};
use crate::requests::Navigated;

pub(crate) enum Rows {}

impl Navigated for Rows {
    type Method = NavigatorGetRows;

    fn navigator(params: &NavigatorRowsParams) -> u32 {
        params.id
    }

    fn run(session: &mut Session, params: NavigatorRowsParams) -> Result<NavigatorRows, Failure> {
        session.rows(&params)
    }
}
