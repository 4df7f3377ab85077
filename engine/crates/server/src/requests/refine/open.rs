//! `fulcrum/refine/open`: the table of a refine loop that is over.

use std::path::Path;

use crate::protocol::failure::Failure;
use crate::protocol::{RefineOpen, RefineOpenParams, RefineOutcome};
use crate::recording::refine::outcome_of;
use crate::requests::Pooled;
use crate::snapshot::Snapshot;

pub(crate) enum Open {}

impl Pooled for Open {
    type Method = RefineOpen;

    /// An iteration that was not finished has no table, but the one before it does.
    fn run(_: &Snapshot, params: RefineOpenParams) -> Result<RefineOutcome, Failure> {
        outcome_of(Path::new(&params.run))
    }
}
