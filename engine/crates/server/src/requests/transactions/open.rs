//! `fulcrum/transactions/open`: replays a run on a thread of its own.

use std::sync::Arc;

use fulcrum_answers::price::add_prices;
use fulcrum_answers::transactions::{crosstalk, shown, ways};
use fulcrum_answers::what_if::add_gains;
use fulcrum_model::Progress;

use crate::protocol::failure::Failure;
use crate::protocol::{TransactionsOpen, TransactionsOpenParams, TransactionsOpened};
use crate::requests::{Deferred, background};
use crate::state::{Pending, State};
use crate::transactions::OpenRuns;

pub(crate) enum Open {}

impl Deferred for Open {
    type Method = TransactionsOpen;

    fn start(
        state: &mut State,
        pending: Pending,
        params: TransactionsOpenParams,
    ) -> Result<(), Failure> {
        let runs = Arc::clone(&state.transactions);
        let (token, title) = (params.work_done_token, "Opening transactions");
        background::answer::<TransactionsOpen>(state, pending, token, title, move |work| {
            open(&runs, &params.run, &work.progress)
        })
    }
}

fn open(runs: &OpenRuns, run: &str, progress: &Progress) -> Result<TransactionsOpened, Failure> {
    let open = runs.open(run, progress)?;
    let (ways, left_out) = ways(&open.run.stitched, &open.run.ways);
    let notes = open.notes.iter().cloned().chain(left_out).collect();
    let mut crosstalk = crosstalk(&open.run.stitched, Vec::new());
    add_prices(&mut crosstalk, &open.folder);
    add_gains(&mut crosstalk, open.gains.clone());
    Ok(TransactionsOpened {
        run: open.folder.to_string_lossy().into_owned(),
        shown: shown(&open.run.stitched, notes),
        crosstalk,
        ways,
    })
}
