//! One file a request. The trait that a handler implements says how it runs.

pub(crate) mod clear;
pub(crate) mod code_action;
pub(crate) mod compare;
pub(crate) mod completion;
pub(crate) mod control;
pub(crate) mod edit;
pub(crate) mod events;
pub(crate) mod hover;
pub(crate) mod inlay_hint;
pub(crate) mod line_speedups;
pub(crate) mod live;
pub(crate) mod navigator;
pub(crate) mod open;
pub(crate) mod programs;
pub(crate) mod ranking;
pub(crate) mod refine;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod trace;
pub(crate) mod transactions;

use fulcrum_model::Progress;

use crate::events::OpenTrace;
use crate::failure::Failure;
use crate::navigator::{Navigation, SearchSnapshot};
use crate::protocol::Method;
use crate::snapshot::Snapshot;
use crate::state::State;

/// Changes the state: runs on the loop and must be quick.
pub(crate) trait Mutating {
    /// What it answers.
    type Method: Method;
    fn run(
        state: &mut State,
        params: <Self::Method as Method>::Params,
    ) -> Result<<Self::Method as Method>::Result, Failure>;
}

/// Reads a snapshot on the loop, because the user waits for it while typing; must be quick.
pub(crate) trait Immediate {
    /// What it answers.
    type Method: Method;
    fn run(
        snapshot: &Snapshot,
        params: <Self::Method as Method>::Params,
    ) -> Result<<Self::Method as Method>::Result, Failure>;
}

/// Reads a snapshot on the pool.
pub(crate) trait Pooled {
    /// What it answers.
    type Method: Method;
    fn run(
        snapshot: &Snapshot,
        params: <Self::Method as Method>::Params,
    ) -> Result<<Self::Method as Method>::Result, Failure>;
}

/// Belongs to a navigator: done on its thread, in the order in which requests come.
pub(crate) trait Navigated {
    /// What it answers.
    type Method: Method;
    /// Which navigator.
    fn navigator(params: &<Self::Method as Method>::Params) -> u32;
    fn run(
        navigation: &mut Navigation,
        params: <Self::Method as Method>::Params,
    ) -> Result<<Self::Method as Method>::Result, Failure>;
}

/// Reads a navigator on the pool, as it is after the commands that came before.
pub(crate) trait Looking {
    /// What it answers.
    type Method: Method;
    /// Which navigator.
    fn navigator(params: &<Self::Method as Method>::Params) -> u32;
    fn run(
        look: &SearchSnapshot,
        snapshot: &Snapshot,
        params: <Self::Method as Method>::Params,
    ) -> Result<<Self::Method as Method>::Result, Failure>;
}

/// Reads an open event trace on the pool, and stops early when nobody waits for it any more.
pub(crate) trait Traced {
    /// What it answers.
    type Method: Method;
    /// Which trace.
    fn trace(params: &<Self::Method as Method>::Params) -> u32;
    fn run(
        open: &OpenTrace,
        snapshot: &Snapshot,
        params: <Self::Method as Method>::Params,
        progress: &Progress,
    ) -> Result<<Self::Method as Method>::Result, Failure>;
}

macro_rules! standard {
    ($($name:ident = $text:literal: $request:ident;)*) => {
        $(
            /// The standard request, as a method of ours.
            #[derive(Clone, Copy, Debug)]
            pub(crate) enum $name {}
            impl Method for $name {
                const NAME: &'static str = $text;
                type Params = <gen_lsp_types::$request as gen_lsp_types::Request>::Params;
                type Result = <gen_lsp_types::$request as gen_lsp_types::Request>::Result;
            }
        )*
    };
}

standard! {
    HoverMethod = "textDocument/hover": HoverRequest;
    InlayHintMethod = "textDocument/inlayHint": InlayHintRequest;
    CompletionMethod = "textDocument/completion": CompletionRequest;
    CodeActionMethod = "textDocument/codeAction": CodeActionRequest;
}
