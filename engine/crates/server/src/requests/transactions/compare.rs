//! `fulcrum/transactions/compare`: the types of two runs beside each other.

use std::sync::Arc;

use fulcrum_answers::transactions::compared;
use fulcrum_model::Progress;
use lsp_server::RequestId;

use crate::failure::{Failure, response};
use crate::pool::{guarded, thread};
use crate::protocol::{
    Method, TransactionsCompare, TransactionsCompareParams, TransactionsCompared,
};
use crate::state::{State, Task};
use crate::transactions::OpenRuns;

/// Opens both on a thread of its own.
pub(crate) fn compare(
    state: &mut State,
    id: RequestId,
    params: TransactionsCompareParams,
    request: &Progress,
) -> Result<(), Failure> {
    let runs = Arc::clone(&state.transactions);
    let work = state.begin(&id, params.work_done_token.clone(), request);
    work.begin("Comparing transactions");
    thread(move || {
        let found = guarded(TransactionsCompare::NAME, || {
            found(&runs, &params, &work.progress)
        });
        work.end();
        // The loop is gone only when the server is.
        let _ = work.tasks.send(Task::Respond(response(id, found)));
    })
}

fn found(
    runs: &OpenRuns,
    params: &TransactionsCompareParams,
    progress: &Progress,
) -> Result<TransactionsCompared, Failure> {
    let a = runs.open(&params.run, &progress.part(0.0, 0.5))?;
    let b = runs.open(&params.against, &progress.part(0.5, 1.0))?;
    progress.check()?;
    let notes = |side: &str, notes: &[String]| -> Vec<String> {
        notes.iter().map(|it| format!("{side}: {it}")).collect()
    };
    let notes = [notes("A", &a.notes), notes("B", &b.notes)].concat();
    Ok(compared(&a.run.stitched, &b.run.stitched, notes))
}
