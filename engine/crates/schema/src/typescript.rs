//! Writes the protocol's types as TypeScript.

use ts_rs::{Config, TS};

use crate::*;

/// The whole text of `extension/protocol.gen.ts`.
pub fn typescript() -> String {
    // JSON numbers: visit counts and nanoseconds of a run stay far below 2^53.
    let cfg = Config::new().with_large_int("number");
    let mut out = String::from(
        "// Generated from engine/crates/schema/ by\n\
         // `cargo run -p fulcrum-xtask -- codegen`. Do not edit: a test compares.\n\n",
    );
    out.push_str(&format!(
        "export const PROTOCOL_VERSION = {PROTOCOL_VERSION};\n\n"
    ));

    methods(&cfg, &mut out);
    notifications(&mut out);
    macro_rules! declare {
        ($($ty:ty),* $(,)?) => { $( declare::<$ty>(&cfg, &mut out); )* };
    }
    declare!(
        FulcrumServerCapabilities,
        FulcrumClientCapabilities,
        NavigatorId,
        TraceId,
        ThreadId,
        NodeId,
        MethodId,
        OpenParams,
        ClearParams,
        ProfileSummary,
        ProfileKind,
        ProgressPoint,
        ProgressPointKind,
        ProfileFile,
        RunParams,
        EndToEnd,
        Aim,
        AimTarget,
        ControlParams,
        ControlAction,
        ControlResult,
        LiveParams,
        LiveBest,
        ProgressToken,
        RunOutcome,
        CompareParams,
        Comparison,
        ComparedRun,
        ComparedPoint,
        ComparedTarget,
        PointChange,
        TargetChange,
        Estimate,
        RankingParams,
        Ranking,
        RankingRow,
        TargetName,
        TargetKind,
        TargetResult,
        LineSpeedupsParams,
        LineSpeedupsResult,
        LineSpeedup,
        LineState,
        LineShape,
        InCall,
        CallDoes,
        SpeedupPoint,
        ProgressPointEditParams,
        ProgressPointEditKind,
        ProgressPointEditResult,
        DocumentPosition,
        DocumentRange,
        FileEdit,
        FileEdits,
        RunsListParams,
        RunsListResult,
        RunEntry,
        RunKind,
        RunEnded,
        RunIteration,
        RunsRemoveParams,
        NavigatorOpenParams,
        NavigatorNormalisation,
        NavigatorOpened,
        NavigatorKind,
        NavigatorValueType,
        NavigatorCommandParams,
        NavigatorCommand,
        NavigatorSuggester,
        NavigatorEnd,
        NavigatorAccepted,
        NavigatorView,
        NavigatorWhole,
        NavigatorSides,
        NavigatorPathSides,
        NavigatorPathSpread,
        NavigatorSpread,
        NavigatorListing,
        NavigatorCurrent,
        NavigatorFrame,
        NavigatorLabelOverlap,
        NavigatorOverlap,
        NavigatorHidden,
        NavigatorHiddenEnd,
        NavigatorRowCount,
        NavigatorStep,
        NavigatorLabel,
        NavigatorCoverage,
        NavigatorHistory,
        NavigatorRowsParams,
        NavigatorRows,
        NavigatorRow,
        NavigatorAutomaticParams,
        NavigatorAutomatic,
        NavigatorSuggestion,
        NavigatorFlameParams,
        NavigatorFlameWhat,
        NavigatorFlameSide,
        NavigatorFlameWidth,
        NavigatorFlame,
        NavigatorFlameSearchParams,
        NavigatorFlameSearchResult,
        NavigatorFrameParams,
        NavigatorFrameResult,
        NavigatorLocation,
        NavigatorLocationHow,
        NavigatorLinesParams,
        NavigatorLines,
        NavigatorLine,
        NavigatorLineKind,
        NavigatorHeat,
        NavigatorNamesParams,
        NavigatorNames,
        NavigatorNameRule,
        NavigatorRenamed,
        NavigatorReportParams,
        NavigatorReport,
        NavigatorCloseParams,
        TraceParams,
        TraceLiveParams,
        TraceOutcome,
        RefineParams,
        RefineFrom,
        RefineIteration,
        RefineLiveParams,
        RefineOpenParams,
        RefineFrameParams,
        RefineOutcome,
        EventsOpenParams,
        EventsOpened,
        EventsThread,
        EventsPart,
        EventsTreeParams,
        EventsFilterParams,
        EventsFilter,
        EventsFrameParams,
        EventsCloseParams,
        EventsQueueNames,
        EventsQueueOrder,
        EventsQueuesParams,
        EventsQueues,
        EventsQueueObject,
        EventsRequest,
        EventsQueueSummary,
        EventsChildrenParams,
        EventsOrder,
        EventsRows,
        EventsRow,
        EventsCallValues,
        EventsValue,
        EventsValueKind,
        EventsKind,
        EventsEnd,
        EventsQueueCell,
        EventsSearchParams,
        EventsPlace,
        EventsFound,
        EventsHit,
        EventsStep,
        EventsQueryParams,
        EventsTable,
        EventsColumn,
        EventsTimelineParams,
        EventsTimeline,
        EventsTimelineThread,
        EventsIntervals,
        EventsStates,
        EventsState,
        EventsCalls,
        EventsCompareParams,
        EventsComparison,
        EventsRole,
        EventsDifference,
        EventsPathSums,
        EventsChange,
        EventsChangeCounts,
        TransactionsStartParams,
        TransactionsLiveParams,
        TransactionsOutcome,
        TransactionsOpenParams,
        TransactionsTypeOf,
        TransactionsTreeParams,
        TransactionsCompareParams,
        TransactionsFrameParams,
        TransactionsPriceParams,
        TransactionsCompared,
        TransactionsComparedType,
        TransactionsTypeCost,
        TransactionsDifference,
        TransactionsOpened,
        TransactionWay,
        TransactionStay,
        TransactionsShown,
        TransactionType,
        TransactionStage,
        TransactionFlow,
        TransactionFlowKind,
        TransactionsCrosstalk,
        CrosstalkPair,
        CrosstalkPaths,
        CrosstalkPrice,
        CrosstalkGain,
        NavigatorSample,
        NavigatorEstimate,
        RefineTable,
        EventsStats,
        EventsThreadSums,
        EventsMethodSums,
        EventsClassSums,
        EventsSums,
        EventsProbeCosts,
        EventsTrees,
        EventsThreadTree,
        EventsTreeCall,
        EventsEvent,
        SearchAnswer,
        SearchBody,
        SearchRows,
        SearchRow,
        SearchDetails,
        SearchOverlaps,
        SearchSettings,
        SearchPathLabels,
        SearchLabels,
        SearchLabel,
        SearchEstimate,
        SearchHistory,
        SearchCosts,
        SearchSaved,
        SearchLoaded,
        SearchHelp,
        SearchCommand,
        SearchRefused,
        SearchSuggestions,
        ProfileTop,
        ProfileFunction,
        ProfileInfo,
        ProfileCalls,
        ProfileValueType,
        ProfileSize,
        ProfileNames,
        CausalProfile,
        CausalPoint,
        CausalTarget,
        TargetFlag,
        CausalComparison,
        CausalComparisonPoint,
        DidChangeResultsParams,
        ErrorData,
        Blame,
    );
    out
}

/// The names of the requests, and what each takes and gives.
fn methods(cfg: &Config, out: &mut String) {
    let rows = request_rows(cfg);
    out.push_str("/** The names of the custom requests. */\nexport const Method = {\n");
    for [name, text, ..] in &rows {
        out.push_str(&format!("  {name}: \"{text}\",\n"));
    }
    out.push_str("} as const;\n\n");
    out.push_str("/** What each custom request takes and gives. */\nexport interface Requests {\n");
    for [_, text, params, result] in &rows {
        out.push_str(&format!(
            "  \"{text}\": {{ params: {params}; result: {result} }};\n"
        ));
    }
    out.push_str("}\n");
}

/// The names of the notifications.
fn notifications(out: &mut String) {
    out.push_str("\n/** Server to client: the open profile changed. */\n");
    out.push_str(&format!(
        "export const DID_CHANGE_RESULTS = \"{DID_CHANGE_RESULTS}\";\n"
    ));
    out.push_str("\n/** Server to client, about twice a second: how a run stands. */\n");
    out.push_str(&format!("export const LIVE = \"{LIVE}\";\n"));
    out.push_str(
        "\n/** Server to client: how a recording of events or of transactions, or the refine loop, stands. */\n",
    );
    out.push_str(&format!("export const TRACE_LIVE = \"{TRACE_LIVE}\";\n"));
    out.push_str(&format!(
        "export const TRANSACTIONS_LIVE = \"{TRANSACTIONS_LIVE}\";\n"
    ));
    out.push_str(&format!("export const REFINE_LIVE = \"{REFINE_LIVE}\";\n"));
}

/// ts-rs writes a type on few lines without indentation; this lays it out for reading.
fn declare<T: TS>(cfg: &Config, out: &mut String) {
    out.push('\n');
    let docs = T::docs().unwrap_or_default();
    let text = format!("{}\nexport {}", docs.trim_end(), T::decl(cfg));
    let text = text
        .replace("{ \n", "{\n")
        .replace(", };", ";\n};")
        .replace(", \n/**", ";\n/**")
        // One member of a union a line.
        .replace(" = { \"kind\"", " =\n| { kind")
        .replace(" | { \"kind\"", "\n| { kind")
        .replace(", }", " }");
    let mut depth = 0;
    let mut comment = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if line == "};" {
            depth = 0;
        }
        if line.starts_with("| {") {
            depth = 1;
        }
        let indent = "  ".repeat(depth);
        match line {
            "/**" => {}
            "*/" => {
                if let [only] = comment.as_slice() {
                    out.push_str(&format!("{indent}/** {only} */\n"));
                } else {
                    out.push_str(&format!("{indent}/**\n"));
                    for line in &comment {
                        out.push_str(&format!("{indent} * {line}\n"));
                    }
                    out.push_str(&format!("{indent} */\n"));
                }
                comment.clear();
            }
            _ if line.starts_with("* ") => comment.push(line[2..].to_owned()),
            _ => out.push_str(&format!("{indent}{line}\n")),
        }
        if line.ends_with('{') {
            depth = 1;
        } else if line.starts_with("| {") {
            depth = 2;
        }
    }
}
