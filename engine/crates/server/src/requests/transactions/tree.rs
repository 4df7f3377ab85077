//! `fulcrum/transactions/tree`: opens a type, or two that are compared, on a thread that then does the navigator's commands.

use std::path::PathBuf;
use std::sync::Arc;

use fulcrum_answers::transactions::{TypeFacts, about_types};
use fulcrum_model::Progress;
use fulcrum_profiles::transactions::{OpenTypes, TypeError, TypeOf, compare_types, open_type};

use crate::navigator::Navigation;
use crate::protocol::failure::Failure;
use crate::protocol::{
    NavigatorOpened, TransactionsOpenTree, TransactionsTreeParams, TransactionsTypeOf,
};
use crate::requests::Deferred;
use crate::requests::navigator::serve::open_and_serve;
use crate::state::{Pending, State};
use crate::transactions::{OpenRun, OpenRuns};

pub(crate) enum Tree {}

impl Deferred for Tree {
    type Method = TransactionsOpenTree;

    fn start(
        state: &mut State,
        pending: Pending,
        params: TransactionsTreeParams,
    ) -> Result<(), Failure> {
        let runs = Arc::clone(&state.transactions);
        let folder = state.folders.first().cloned();
        let token = params.work_done_token.clone();
        let title = "Opening transactions";
        open_and_serve::<TransactionsOpenTree>(state, pending, token, title, move |work| {
            open(&runs, &params, folder, &work.progress)
        })
    }
}

fn open(
    runs: &OpenRuns,
    params: &TransactionsTreeParams,
    folder: Option<PathBuf>,
    progress: &Progress,
) -> Result<(Navigation, NavigatorOpened), Failure> {
    let half = match params.against {
        Some(_) => 0.5,
        None => 1.0,
    };
    let a = runs.open(&params.of.run, &progress.part(0.0, half))?;
    let b = match &params.against {
        Some(against) => Some((runs.open(&against.run, &progress.part(half, 1.0))?, against)),
        None => None,
    };
    let of_a = type_of(&a, &params.of);
    let of_b = b.as_ref().map(|(run, of)| type_of(run, of));
    let opened = match &of_b {
        Some(of_b) => compare_types(&of_a, of_b),
        None => open_type(&of_a),
    };
    let OpenTypes {
        mut search,
        lines,
        costs,
        difference,
    } = opened.map_err(|error| failure(&error))?;
    let names = [Some(of_a.name), of_b.map(|it| it.name)];
    let types: Vec<TypeFacts<'_>> = names.into_iter().flatten().zip(&costs).collect();
    // What is compared comes before what the shares are of.
    search.notes.splice(0..0, about_types(&types, &difference));
    progress.check()?;
    let bases = [Some(&a), b.as_ref().map(|it| &it.0)].into_iter().flatten();
    let bases = bases.map(|it| it.folder.clone()).collect();
    let (navigation, opened) = Navigation::of(search, bases, folder.as_deref());
    Ok((navigation.with_lines(lines), opened))
}

fn type_of<'a>(run: &'a OpenRun, of: &'a TransactionsTypeOf) -> TypeOf<'a> {
    TypeOf {
        run: &run.run,
        run_name: &run.name,
        name: &of.name,
    }
}

fn failure(error: &TypeError) -> Failure {
    Failure::user(error.to_string(), None)
}
