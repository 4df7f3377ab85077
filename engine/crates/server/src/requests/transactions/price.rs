//! `fulcrum/transactions/price`: starts a run's program again and measures what a critical section is worth.

use std::path::Path;
use std::sync::Arc;

use fulcrum_answers::price::{SPEEDUP, next_folder, price as measured};
use fulcrum_answers::section::{Completion, Question, section};
use fulcrum_answers::transactions::crosstalk;
use fulcrum_recorder::{Options, RunStatus, Stdio};
use fulcrum_runs::{PricedSection, RunFolder};

use crate::protocol::failure::Failure;
use crate::protocol::{TransactionsGetPrice, TransactionsPriceParams};
use crate::requests::Deferred;
use crate::requests::programs::{self, check_program, duration};
use crate::state::{Pending, State};
use crate::transactions::OpenRun;

pub(crate) enum Price {}

impl Deferred for Price {
    type Method = TransactionsGetPrice;

    fn start(
        state: &mut State,
        pending: Pending,
        params: TransactionsPriceParams,
    ) -> Result<(), Failure> {
        price(state, pending, params)
    }
}

/// Starts the program on a thread.
fn price(
    state: &mut State,
    pending: Pending,
    params: TransactionsPriceParams,
) -> Result<(), Failure> {
    let duration = duration(Some(params.duration_seconds))?;
    let runs = Arc::clone(&state.transactions);
    let recorder = Arc::clone(&state.recorder);
    let title = format!("Measuring {}", params.lock);
    let token = params.work_done_token.clone();
    programs::start::<TransactionsGetPrice>(state, pending, token, &title, move |remote, work| {
        let open = runs.open(&params.run, &work.progress)?;
        let options = Options {
            duration,
            ..options(&open.folder, section_of(&open, &params)?)?
        };
        let mut report = |progress: &RunStatus| {
            work.report(&message(progress), progress.fraction.unwrap_or(0.0));
        };
        let recorded = recorder
            .record(&options, remote, &mut report)
            .map_err(programs::failure)?;
        measured(&recorded.run).map_err(|why| Failure::user(why, None))
    })
}

/// The critical section behind a pair of the run's crosstalk.
fn section_of(open: &OpenRun, params: &TransactionsPriceParams) -> Result<PricedSection, Failure> {
    let question = Question {
        waits: &params.waiter,
        holds: &params.holder,
        at: Some(&params.lock),
        function: None,
        completes: Completion::of_requests(&open.run, &params.waiter),
    };
    let found = crosstalk(&open.run.stitched, Vec::new());
    section(&found.pairs, &question).map_err(|why| {
        let advice = "fulcrum transactions price, on the command line, has options for what is not found by itself.";
        Failure::user(why, Some(advice))
    })
}

/// The program of a run, started as it was.
fn options(folder: &Path, section: PricedSection) -> Result<Options, Failure> {
    let manifest = RunFolder::open(folder).and_then(|it| it.read_manifest());
    let manifest = manifest.map_err(|error| Failure::user(error.to_string(), None))?;
    check_program(&manifest.command)?;
    Ok(Options {
        program: manifest.command.into(),
        args: manifest.arguments.into_iter().map(Into::into).collect(),
        cwd: Some(manifest.cwd.into()),
        output: Some(next_folder(folder)),
        stdio: Stdio::Files,
        ..Options::for_section(section, SPEEDUP)
    })
}

/// `12 s · 23 experiments`.
fn message(progress: &RunStatus) -> String {
    let experiments = match progress.experiments {
        1 => "1 experiment".to_owned(),
        count => format!("{count} experiments"),
    };
    format!("{} s · {experiments}", progress.elapsed.as_secs())
}
