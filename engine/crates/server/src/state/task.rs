//! What other threads send to the loop.

use std::path::PathBuf;
use std::sync::{Arc, Weak};

use fulcrum_model::causal::CausalProfile;
use gen_lsp_types as lsp;
use lsp_server::{RequestId, Response};

use super::running::Finished;
use crate::diagnostics::Published;
use crate::events::OpenTrace;
use crate::failure::Failure;
use crate::navigator::Navigator;
use crate::profile::OpenCausalProfile;
use crate::protocol::{EventsOpened, LiveParams, NavigatorOpened};

/// What other threads send to the loop.
#[derive(Debug)]
pub(crate) enum Task {
    /// A request is done.
    Respond(Response),
    /// `fulcrum/causal/open` is done.
    Opened {
        id: RequestId,
        order: u64,
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
        finished: Result<Box<Finished>, Failure>,
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
    Checked {
        uri: String,
        version: i32,
        diagnostics: Vec<lsp::Diagnostic>,
    },
    /// Diagnostics were computed for the profile that was open then.
    Diagnostics {
        of: Weak<OpenCausalProfile>,
        all: bool,
        published: Vec<Published>,
    },
}
