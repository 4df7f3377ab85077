//! What other threads send to the loop.

use std::path::PathBuf;
use std::sync::{Arc, Weak};

use fulcrum_model::causal::CausalProfile;
use gen_lsp_types::Diagnostic;
use lsp_server::RequestId;

use super::diagnostics::{Checked, Published};
use super::running::FinishedRun;
use crate::causal::profile::OpenCausalProfile;
use crate::events::OpenTrace;
use crate::navigator::Navigator;
use crate::protocol::failure::Failure;
use crate::protocol::transport::Answered;
use crate::protocol::{EventsOpened, LiveParams, NavigatorOpened};

/// The place of a request to open among all of them: of two, the one that came last is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OpenOrder(u64);

impl OpenOrder {
    /// That of the request after this one.
    pub(crate) fn next(self) -> OpenOrder {
        OpenOrder(self.0 + 1)
    }
}

/// What other threads send to the loop.
#[derive(Debug)]
pub(crate) enum Task {
    /// A request is done.
    Respond(Answered),
    /// `fulcrum/causal/open` is done.
    Opened {
        id: RequestId,
        order: OpenOrder,
        profile: Result<Box<OpenCausalProfile>, Failure>,
    },
    /// The profile was read again because the workspace changed.
    Reopened {
        was: Weak<OpenCausalProfile>,
        profile: Box<OpenCausalProfile>,
    },
    /// A run goes on.
    Progress {
        id: RequestId,
        live: Box<LiveParams>,
    },
    /// The recorder analysed a run that goes on.
    Analysed {
        id: RequestId,
        run: PathBuf,
        profile: Arc<CausalProfile>,
    },
    /// That analysis is ready to be shown; `None` when the run cannot be read.
    Live {
        id: RequestId,
        profile: Option<Box<OpenCausalProfile>>,
    },
    /// A run ended.
    RunDone {
        id: RequestId,
        finished: Result<Box<FinishedRun>, Failure>,
    },
    /// A notification of a thread that works.
    Notify {
        method: &'static str,
        params: serde_json::Value,
    },
    /// `fulcrum/navigator/open` is done.
    NavigatorOpened {
        id: RequestId,
        opened: Result<(Navigator, Box<NavigatorOpened>), Failure>,
    },
    /// `fulcrum/events/open` is done.
    EventsOpened {
        id: RequestId,
        opened: Result<(Arc<OpenTrace>, Box<EventsOpened>), Failure>,
    },
    /// A filter's text was checked.
    FilterChecked {
        uri: String,
        version: i32,
        diagnostics: Vec<Diagnostic>,
    },
    /// Diagnostics were computed for the profile that was open then.
    Diagnostics {
        of: Weak<OpenCausalProfile>,
        checked: Checked,
        published: Vec<Published>,
    },
}
