//! One file a request. The trait that a handler implements says how it runs.
//!
//! A folder has the requests of one subject, named as the methods are: `fulcrum/navigator/open` is `navigator/open.rs`.

pub(crate) mod background;
pub(crate) mod causal;
pub(crate) mod document;
pub(crate) mod events;
pub(crate) mod navigator;
pub(crate) mod programs;
pub(crate) mod refine;
pub(crate) mod runs;
pub(crate) mod trace;
pub(crate) mod transactions;

use fulcrum_model::Progress;

use crate::events::OpenTrace;
use crate::navigator::{Navigation, SearchSnapshot};
use crate::protocol::failure::Failure;
use crate::protocol::{Method, NavigatorId, TraceId};
use crate::snapshot::Snapshot;
use crate::state::{Pending, State};

/// Changes the state. Runs on the loop and must be quick.
pub(crate) trait Mutating {
    /// The method that it handles.
    type Method: Method;
    fn run(
        state: &mut State,
        params: <Self::Method as Method>::Params,
    ) -> Result<<Self::Method as Method>::Result, Failure>;
}

/// Reads a snapshot on the loop, because the user waits for it while typing. Must be quick.
pub(crate) trait Immediate {
    /// The method that it handles.
    type Method: Method;
    fn run(
        snapshot: &Snapshot,
        params: <Self::Method as Method>::Params,
    ) -> Result<<Self::Method as Method>::Result, Failure>;
}

/// Reads a snapshot on the pool.
pub(crate) trait Pooled {
    /// The method that it handles.
    type Method: Method;
    fn run(
        snapshot: &Snapshot,
        params: <Self::Method as Method>::Params,
    ) -> Result<<Self::Method as Method>::Result, Failure>;
}

/// Starts work on the loop and returns at once; the work answers the request when it is done, with a [`crate::state::Work`]
/// or a [`crate::state::Task`]. An error is the answer when the work cannot start.
pub(crate) trait Deferred {
    /// The method that it handles.
    type Method: Method;
    fn start(
        state: &mut State,
        pending: Pending,
        params: <Self::Method as Method>::Params,
    ) -> Result<(), Failure>;
}

/// Runs on a navigator's thread, in the order in which requests come.
pub(crate) trait Navigated {
    /// The method that it handles.
    type Method: Method;
    /// Which navigator.
    fn navigator(params: &<Self::Method as Method>::Params) -> NavigatorId;
    fn run(
        navigation: &mut Navigation,
        params: <Self::Method as Method>::Params,
    ) -> Result<<Self::Method as Method>::Result, Failure>;
}

/// Reads a navigator on the pool, as it is after the commands that came before.
pub(crate) trait NavigatorReading {
    /// The method that it handles.
    type Method: Method;
    /// Which navigator.
    fn navigator(params: &<Self::Method as Method>::Params) -> NavigatorId;
    fn run(
        navigator: &SearchSnapshot,
        snapshot: &Snapshot,
        params: <Self::Method as Method>::Params,
    ) -> Result<<Self::Method as Method>::Result, Failure>;
}

/// Reads an open event trace on the traces' pool. Stops early once the request is cancelled or the trace is closed.
pub(crate) trait TraceReading {
    /// The method that it handles.
    type Method: Method;
    /// Which trace.
    fn trace(params: &<Self::Method as Method>::Params) -> TraceId;
    fn run(
        open: &OpenTrace,
        snapshot: &Snapshot,
        params: <Self::Method as Method>::Params,
        progress: &Progress,
    ) -> Result<<Self::Method as Method>::Result, Failure>;
}
