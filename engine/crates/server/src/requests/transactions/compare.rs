//! `fulcrum/transactions/compare`: the types of two runs beside each other.

use std::sync::Arc;

use fulcrum_answers::transactions::compared;
use fulcrum_model::Progress;

use crate::protocol::failure::Failure;
use crate::protocol::{TransactionsCompare, TransactionsCompareParams, TransactionsCompared};
use crate::requests::{Deferred, background};
use crate::state::{Pending, State};
use crate::transactions::OpenRuns;

pub(crate) enum Compare {}

impl Deferred for Compare {
    type Method = TransactionsCompare;

    fn start(
        state: &mut State,
        pending: Pending,
        params: TransactionsCompareParams,
    ) -> Result<(), Failure> {
        let runs = Arc::clone(&state.transactions);
        let token = params.work_done_token.clone();
        let title = "Comparing transactions";
        background::answer::<TransactionsCompare>(state, pending, token, title, move |work| {
            compare(&runs, &params, &work.progress)
        })
    }
}

fn compare(
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
