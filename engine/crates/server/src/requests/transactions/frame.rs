//! `fulcrum/transactions/frame`: where a function of a run is in the workspace.

use fulcrum_model::Progress;

use crate::navigator::{Place, places};
use crate::protocol::failure::Failure;
use crate::protocol::{NavigatorFrameResult, TransactionsFrameParams, TransactionsGetFrame};
use crate::requests::Pooled;
use crate::snapshot::Snapshot;

pub(crate) enum Frame {}

impl Pooled for Frame {
    type Method = TransactionsGetFrame;

    fn run(
        snapshot: &Snapshot,
        params: TransactionsFrameParams,
    ) -> Result<NavigatorFrameResult, Failure> {
        let open = snapshot
            .transactions
            .open(&params.run, &Progress::default())?;
        let recorded: Vec<Place> = open
            .run
            .functions
            .places(&params.name)
            .map(|it| Place {
                file: it.file.clone(),
                line: Some(it.line),
                declared: true,
            })
            .collect();
        let bases = [open.folder.clone()];
        Ok(places::find(snapshot, &bases, &params.name, &recorded))
    }
}
