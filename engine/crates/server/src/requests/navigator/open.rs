//! `fulcrum/navigator/open`: opens profiles on a thread that then does the navigator's commands.

use std::path::PathBuf;

use fulcrum_profiles::{Files, named_rules};

use super::serve::open_and_serve;
use crate::navigator::{Navigation, convert};
use crate::protocol::failure::Failure;
use crate::protocol::{NavigatorOpen, NavigatorOpenParams};
use crate::requests::Deferred;
use crate::state::{Pending, State};

pub(crate) enum Open {}

impl Deferred for Open {
    type Method = NavigatorOpen;

    fn start(
        state: &mut State,
        pending: Pending,
        params: NavigatorOpenParams,
    ) -> Result<(), Failure> {
        open(state, pending, params)
    }
}

fn open(state: &mut State, pending: Pending, params: NavigatorOpenParams) -> Result<(), Failure> {
    let paths = |all: &[String]| all.iter().map(PathBuf::from).collect::<Vec<_>>();
    let rules = params.names.as_deref().unwrap_or("default");
    let files = Files {
        files: paths(&params.files),
        against: paths(&params.against),
        value: params.value,
        normalisation: convert::to_normalisation(params.normalisation)?,
        rules: named_rules(rules).map_err(|error| Failure::user(error, None))?,
        ..Files::default()
    };
    if files
        .files
        .iter()
        .chain(&files.against)
        .any(|path| path == "-")
    {
        return Err(Failure::user(
            "the server cannot read a profile from standard input: name a file",
            None,
        ));
    }
    let folder = params.workspace.map(PathBuf::from);
    let folder = folder.or_else(|| state.folders.first().cloned());
    let (token, title) = (params.work_done_token, "Opening profile");
    open_and_serve::<NavigatorOpen>(state, pending, token, title, move |work| {
        Navigation::open(&files, folder.as_deref(), &work.progress)
    })
}
