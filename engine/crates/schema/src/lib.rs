//! Every answer that leaves the engine: what the language server's `fulcrum/…` methods take and give beyond standard LSP.
//!
//! `cargo run -p fulcrum-xtask -- codegen` writes the same types as TypeScript to
//! `extension/protocol.gen.ts`; `docs/protocol.md` explains them and carries a hash of these files.
//! Conventions: JSON in camelCase; `line` is 0-based in the document as it is now, `recordedLine` is
//! 1-based in the file as it was recorded; speedups are fractions (0.12 is 12 %).
//!
//! The crate knows nothing of the engine, and the engine's inner crates know nothing of JSON. What is asked derives
//! `Deserialize`, what is answered `Serialize`.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

mod causal;
mod events;
mod ids;
mod navigator;
mod refine;
mod run;
mod runs;
mod search;
#[cfg(test)]
mod tests;
mod trace;
mod transactions;
mod typescript;
mod what_if;

pub use causal::*;
pub use events::*;
pub use ids::*;
pub use navigator::*;
pub use refine::*;
pub use run::*;
pub use runs::*;
pub use search::*;
pub use trace::*;
pub use transactions::*;
pub use typescript::typescript;
pub use what_if::*;

/// The version that the server announces; raised when a field changes its meaning or goes.
pub const PROTOCOL_VERSION: u32 = 2;

/// Declares a custom method: its name and, at compile time, its parameters and result.
pub trait Method {
    /// The JSON-RPC method name.
    const NAME: &'static str;
    /// What the client sends.
    type Params: for<'de> Deserialize<'de> + Send + 'static;
    /// What the server answers.
    type Result: Serialize + Send + 'static;
}

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident = $text:literal ($params:ty) -> $result:ty;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub enum $name {}
            impl Method for $name {
                const NAME: &'static str = $text;
                type Params = $params;
                type Result = $result;
            }
        )*
        /// The names of all custom requests, in the order of this file.
        pub const REQUESTS: &[&str] = &[$($text),*];
        /// For code generation: (constant's name, method, parameters' type, result's type).
        pub(crate) fn request_rows(cfg: &ts_rs::Config) -> Vec<[String; 4]> {
            vec![$([
                stringify!($name).to_owned(),
                $text.to_owned(),
                <$params as TS>::name(cfg),
                <$result as TS>::name(cfg),
            ]),*]
        }
    };
}

methods! {
    /// Opens a causal profile and shows it in place of the one that was open.
    CausalOpen = "fulcrum/causal/open" (OpenParams) -> ProfileSummary;
    /// Profiles a program until it ends, its time is over, or the request is cancelled; then opens the run.
    CausalRun = "fulcrum/causal/run" (RunParams) -> RunOutcome;
    /// Pauses, resumes, stops or aims a run that is going on.
    CausalControl = "fulcrum/causal/control" (ControlParams) -> ControlResult;
    /// Lines up two runs: what was predicted, and what happened.
    CausalCompare = "fulcrum/causal/compare" (CompareParams) -> Comparison;
    /// Closes the open profile.
    CausalClear = "fulcrum/causal/clear" (ClearParams) -> ();
    /// Ranks the open profile's lines for one progress point.
    CausalRanking = "fulcrum/causal/ranking" (RankingParams) -> Ranking;
    /// The open profile's results for one document, at the lines where they are now.
    LineSpeedups = "fulcrum/lineSpeedups" (LineSpeedupsParams) -> LineSpeedupsResult;
    /// The edit that inserts or removes a progress point at a position.
    ProgressPointEdit = "fulcrum/progressPoint/edit" (ProgressPointEditParams) -> ProgressPointEditResult;
    /// The runs recorded in a workspace, newest first.
    RunsList = "fulcrum/runs/list" (RunsListParams) -> RunsListResult;
    /// Deletes runs of a workspace's store.
    RunsRemove = "fulcrum/runs/remove" (RunsRemoveParams) -> ();
    /// Opens profiles for bottleneck search, alone or compared.
    NavigatorOpen = "fulcrum/navigator/open" (NavigatorOpenParams) -> NavigatorOpened;
    /// Does one command of the search.
    NavigatorDo = "fulcrum/navigator/command" (NavigatorCommandParams) -> NavigatorView;
    /// The rows that are on screen.
    NavigatorGetRows = "fulcrum/navigator/rows" (NavigatorRowsParams) -> NavigatorRows;
    /// Searches automatically, beside what is labelled.
    NavigatorSearch = "fulcrum/navigator/automatic" (NavigatorAutomaticParams) -> NavigatorAutomatic;
    /// The boxes of a flame graph that can be seen.
    NavigatorGetFlame = "fulcrum/navigator/flame" (NavigatorFlameParams) -> NavigatorFlame;
    /// What a text matches in the call tree.
    NavigatorFlameSearch = "fulcrum/navigator/flameSearch" (NavigatorFlameSearchParams) -> NavigatorFlameSearchResult;
    /// Where a name of the profile is in the workspace.
    NavigatorGetFrame = "fulcrum/navigator/frame" (NavigatorFrameParams) -> NavigatorFrameResult;
    /// What the functions of a document cost, for the gutter.
    NavigatorGetLines = "fulcrum/navigator/lines" (NavigatorLinesParams) -> NavigatorLines;
    /// The rules for names, and the names that they changed.
    NavigatorGetNames = "fulcrum/navigator/names" (NavigatorNamesParams) -> NavigatorNames;
    /// The labels as Markdown.
    NavigatorGetReport = "fulcrum/navigator/report" (NavigatorReportParams) -> NavigatorReport;
    /// Closes a navigator.
    NavigatorClose = "fulcrum/navigator/close" (NavigatorCloseParams) -> ();
    /// Records the events of a Java program until it ends, its time is over, or the request is cancelled.
    TraceStart = "fulcrum/trace/start" (TraceParams) -> TraceOutcome;
    /// Instruments, measures and refines until the set of methods is stable, or the request is cancelled.
    RefineStart = "fulcrum/refine/start" (RefineParams) -> RefineOutcome;
    /// The table of a refine loop that is over, from one of its runs.
    RefineOpen = "fulcrum/refine/open" (RefineOpenParams) -> RefineOutcome;
    /// Where a hotspot is in the workspace.
    RefineGetFrame = "fulcrum/refine/frame" (RefineFrameParams) -> NavigatorFrameResult;
    /// Opens an event trace.
    EventsOpen = "fulcrum/events/open" (EventsOpenParams) -> EventsOpened;
    /// Rows of the event tree, as they are expanded and scrolled to.
    EventsGetChildren = "fulcrum/events/children" (EventsChildrenParams) -> EventsRows;
    /// What threads did over time, as far as it can be seen.
    EventsGetTimeline = "fulcrum/events/timeline" (EventsTimelineParams) -> EventsTimeline;
    /// Nodes that a text or a condition matches.
    EventsSearch = "fulcrum/events/search" (EventsSearchParams) -> EventsFound;
    /// A query's table.
    EventsQuery = "fulcrum/events/query" (EventsQueryParams) -> EventsTable;
    /// Where a method is in the workspace.
    EventsGetFrame = "fulcrum/events/frame" (EventsFrameParams) -> NavigatorFrameResult;
    /// Folds a part of a trace into a call tree and opens a navigator on it.
    EventsOpenTree = "fulcrum/events/tree" (EventsTreeParams) -> NavigatorOpened;
    /// Replays a queue.
    EventsGetQueues = "fulcrum/events/queues" (EventsQueuesParams) -> EventsQueues;
    /// What changed between two traces.
    EventsCompare = "fulcrum/events/compare" (EventsCompareParams) -> EventsComparison;
    /// A filter that observes less, from what this trace shows.
    EventsGetFilter = "fulcrum/events/filter" (EventsFilterParams) -> EventsFilter;
    /// Closes a trace.
    EventsClose = "fulcrum/events/close" (EventsCloseParams) -> ();
    /// Records the transactions of a program and of all that it starts, until the last of them ends, its time is over, or the
    /// request is cancelled.
    TransactionsStart = "fulcrum/transactions/start" (TransactionsStartParams) -> TransactionsOutcome;
    /// Opens a transactional profile.
    TransactionsOpen = "fulcrum/transactions/open" (TransactionsOpenParams) -> TransactionsOpened;
    /// Opens a navigator on the call tree of a type, alone or compared with another.
    TransactionsOpenTree = "fulcrum/transactions/tree" (TransactionsTreeParams) -> NavigatorOpened;
    /// The types of two runs beside each other.
    TransactionsCompare = "fulcrum/transactions/compare" (TransactionsCompareParams) -> TransactionsCompared;
    /// Starts a run's program again and measures what a critical section is worth to those who wait for it.
    TransactionsGetPrice = "fulcrum/transactions/price" (TransactionsPriceParams) -> CrosstalkPrice;
    /// Where a function of a run is in the workspace.
    TransactionsGetFrame = "fulcrum/transactions/frame" (TransactionsFrameParams) -> NavigatorFrameResult;
}

/// Server to client: the open profile changed; `summary` is null when none is open any more.
pub const DID_CHANGE_RESULTS: &str = "fulcrum/didChangeResults";

/// Server to client, about twice a second while a run goes on: how it stands.
pub const LIVE: &str = "fulcrum/causal/live";

/// Server to client, about twice a second while events are recorded: how it stands.
pub const TRACE_LIVE: &str = "fulcrum/trace/live";

/// Server to client, about twice a second while transactions are recorded: how it stands.
pub const TRANSACTIONS_LIVE: &str = "fulcrum/transactions/live";

/// Server to client, whenever something changed while the refine loop goes on: its iterations so far.
pub const REFINE_LIVE: &str = "fulcrum/refine/live";

/// Stands under `capabilities.experimental.fulcrum` in the answer to `initialize`.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct FulcrumServerCapabilities {
    /// `PROTOCOL_VERSION`.
    pub version: u32,
    /// The custom requests that this server answers.
    pub requests: Vec<String>,
}

/// May stand under `capabilities.experimental.fulcrum` in the client's `initialize`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct FulcrumClientCapabilities {
    /// Hovers may hold `data:` images and `command:` links. When absent, true for clients whose
    /// Markdown parser is `marked` (VS Code and its relatives).
    #[ts(optional = nullable)]
    pub rich_hover: Option<bool>,
}

/// LSP's progress token.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, Hash, TS)]
#[serde(untagged)]
pub enum ProgressToken {
    /// A number.
    Number(i32),
    /// A text.
    Text(String),
}

/// Whether a line is still what was recorded.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum LineState {
    /// Same text, same line.
    Exact,
    /// Same text, another line.
    Moved,
    /// The line was changed or deleted since; the result stands where it would be.
    Stale,
}

/// LSP's `Position`: 0-based, `character` in the negotiated encoding (UTF-16 unless both sides know UTF-8).
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
pub struct DocumentPosition {
    /// 0-based line.
    pub line: u32,
    /// 0-based code units in the line.
    pub character: u32,
}

/// LSP's `Range`.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
pub struct DocumentRange {
    /// First position.
    pub start: DocumentPosition,
    /// Past the last position.
    pub end: DocumentPosition,
}

/// LSP's `TextEdit`.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct FileEdit {
    /// What is replaced; empty for an insertion.
    pub range: DocumentRange,
    /// By what.
    pub new_text: String,
}

/// LSP's `WorkspaceEdit` in its simplest form.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
pub struct FileEdits {
    /// URI → edits that do not overlap.
    #[ts(type = "Record<string, FileEdit[]>")]
    pub changes: BTreeMap<String, Vec<FileEdit>>,
}

/// `data` of every error that the server answers.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct ErrorData {
    /// Who can do something about it.
    pub blame: Blame,
    /// What to do next, as a sentence; null when the message says it all.
    pub advice: Option<String>,
}

/// Who can do something about an error.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum Blame {
    /// The input: show the advice.
    User,
    /// The machine or its settings: show the advice.
    Environment,
    /// Fulcrum itself: show a link to report it.
    Fulcrum,
}
