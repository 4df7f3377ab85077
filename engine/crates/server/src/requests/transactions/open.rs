//! `fulcrum/transactions/open`: replays a run on a thread of its own.

use std::sync::Arc;

use fulcrum_answers::price::add_prices;
use fulcrum_answers::transactions::{crosstalk, shown, ways};
use fulcrum_model::Progress;
use lsp_server::RequestId;

use crate::failure::{Failure, response};
use crate::pool::{guarded, thread};
use crate::protocol::{Method, TransactionsOpen, TransactionsOpenParams, TransactionsOpened};
use crate::state::{State, Task};
use crate::transactions::OpenRuns;

/// Opens on a thread of its own.
pub(crate) fn open(
    state: &mut State,
    id: RequestId,
    params: TransactionsOpenParams,
    request: &Progress,
) -> Result<(), Failure> {
    let runs = Arc::clone(&state.transactions);
    let work = state.begin(&id, params.work_done_token, request);
    work.begin("Opening transactions");
    thread(move || {
        let opened = guarded(TransactionsOpen::NAME, || {
            opened(&runs, &params.run, &work.progress)
        });
        work.end();
        // The loop is gone only when the server is.
        let _ = work.tasks.send(Task::Respond(response(id, opened)));
    })
}

fn opened(runs: &OpenRuns, run: &str, progress: &Progress) -> Result<TransactionsOpened, Failure> {
    let open = runs.open(run, progress)?;
    let (ways, left_out) = ways(&open.run.stitched, &open.run.ways);
    let notes = open.notes.iter().cloned().chain(left_out).collect();
    let mut crosstalk = crosstalk(&open.run.stitched, Vec::new());
    add_prices(&mut crosstalk, &open.folder);
    Ok(TransactionsOpened {
        run: open.folder.to_string_lossy().into_owned(),
        shown: shown(&open.run.stitched, notes),
        crosstalk,
        ways,
    })
}
