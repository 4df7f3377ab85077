//! From the search's types to the protocol's, and back.

pub(crate) use fulcrum_answers::search::*;
use fulcrum_paths::{End, Normalisation, Row, Step};

use crate::protocol::failure::Failure;
use crate::protocol::{NavigatorEnd, NavigatorNormalisation};

pub(crate) fn to_end(end: NavigatorEnd) -> End {
    match end {
        NavigatorEnd::Top => End::Top,
        NavigatorEnd::Bottom => End::Bottom,
    }
}

pub(crate) fn to_normalisation(
    normalisation: Option<NavigatorNormalisation>,
) -> Result<Normalisation, Failure> {
    match normalisation {
        None => Ok(Normalisation::None),
        Some(NavigatorNormalisation::Totals) => Ok(Normalisation::Totals),
        Some(NavigatorNormalisation::Factor(factor)) if factor.is_finite() && factor > 0.0 => {
            Ok(Normalisation::Factor(factor))
        }
        Some(NavigatorNormalisation::Factor(factor)) => Err(Failure::user(
            format!("costs cannot be multiplied by {factor}: give a factor above 0, such as 1.5"),
            None,
        )),
    }
}

/// The names by which a row differs from the current path; of a suggestion, all of them.
pub(crate) fn names(row: &Row, current: usize, path: &[String]) -> Vec<String> {
    let all = row.path.len();
    let names = match row.step {
        Step::Suggestion => &row.path[..],
        Step::ExtendTop => &row.path[..all - current],
        Step::ExtendBottom => &row.path[current..],
        Step::TrimTop => &path[..current - all],
        Step::TrimBottom => &path[all..],
    };
    names.to_vec()
}
