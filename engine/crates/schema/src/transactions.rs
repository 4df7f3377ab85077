//! Transactional profiles: the types of `fulcrum/transactions/start` and `open`, and what `fulcrum transactions` tells scripts.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{ProgressToken, SearchRow};

/// Parameters of `fulcrum/transactions/start`.
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TransactionsStartParams {
    /// A server, or what starts one: a path, or a name looked up in `PATH`.
    pub program: String,
    /// Its arguments, without the program itself.
    #[serde(default)]
    pub args: Vec<String>,
    /// Its working folder, absolute.
    pub cwd: String,
    /// The folder that holds `.fulcrum/runs`, absolute.
    pub workspace: String,
    /// Requests are named by the first bytes of messages, which are kept in the run for that; absent: they are.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub names: Option<bool>,
    /// How much recording may slow the program down in the long run, as a fraction above 0 and below 1: a busy program for which it
    /// costs more is recorded in windows. Absent: 0.03.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub max_overhead: Option<f64>,
    /// Whether recording pauses to keep `maxOverhead`; absent: it does. Without pauses everything is recorded, whatever it costs.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub pauses: Option<bool>,
    /// All its processes are stopped after this long; absent: they run to their ends.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub duration_seconds: Option<f64>,
    /// Progress is reported on this token (`$/progress`) and can be cancelled by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub work_done_token: Option<ProgressToken>,
}

/// Parameters of `fulcrum/transactions/live`.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TransactionsLiveParams {
    /// The recording's `workDoneToken`.
    pub token: Option<ProgressToken>,
    /// The run folder: `fulcrum/transactions/open` shows what it has so far.
    pub run: String,
    /// Since the program started.
    pub elapsed_seconds: f64,
    /// Processes that were recorded so far.
    pub processes: u64,
    /// Of those, how many have not ended.
    pub running: u64,
    /// CPU samples so far.
    pub samples: u64,
    /// Bytes of all logs.
    pub bytes: u64,
    /// All of this in a few words: `12 s · 5 processes, 4 running · 1,234 samples · 3.40 MB`.
    pub message: String,
}

/// Answer to `fulcrum/transactions/start`: how the recording ended.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TransactionsOutcome {
    /// The run folder, for `fulcrum/transactions/open`.
    pub run: String,
    /// How the program ended, as a sentence.
    pub exit: String,
    /// Whether it ended by itself and with status 0.
    pub ended_normally: bool,
    /// Whole sentences on why there is less than there could be.
    pub notes: Vec<String>,
}

/// Parameters of `fulcrum/transactions/open`.
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TransactionsOpenParams {
    /// The run's folder, its `run.json` or one of its logs, absolute.
    pub run: String,
    /// Progress is reported on this token (`$/progress`) and can be cancelled by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub work_done_token: Option<ProgressToken>,
}

/// A type of a run.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TransactionsTypeOf {
    /// The run, as for `fulcrum/transactions/open`.
    pub run: String,
    /// The type's name.
    #[serde(rename = "type")]
    pub name: String,
}

/// Parameters of `fulcrum/transactions/tree`.
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TransactionsTreeParams {
    /// What is looked at.
    pub of: TransactionsTypeOf,
    /// What it is compared with: another type, or the same in another run. Costs are then those of one transaction, where both
    /// have several.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub against: Option<TransactionsTypeOf>,
    /// Progress is reported on this token (`$/progress`) and can be cancelled by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub work_done_token: Option<ProgressToken>,
}

/// Parameters of `fulcrum/transactions/compare`.
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TransactionsCompareParams {
    /// A, the run that is looked at, as for `fulcrum/transactions/open`.
    pub run: String,
    /// B, the run that it is compared with.
    pub against: String,
    /// Progress is reported on this token (`$/progress`) and can be cancelled by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub work_done_token: Option<ProgressToken>,
}

/// Parameters of `fulcrum/transactions/frame`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TransactionsFrameParams {
    /// The run, as for `fulcrum/transactions/open`.
    pub run: String,
    /// The name of a function.
    pub name: String,
}

/// The types of two runs: answer to `fulcrum/transactions/compare` and of `fulcrum transactions compare --json`.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TransactionsCompared {
    /// The types of both, those that cost the most CPU time in either first.
    pub types: Vec<TransactionsComparedType>,
    /// What a reader should know. Whole sentences.
    pub notes: Vec<String>,
}

/// A type in A and in B.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TransactionsComparedType {
    /// Its name.
    pub name: String,
    /// In A; null when A has none of that name.
    pub a: Option<TransactionsTypeCost>,
    /// In B; null when B has none of that name.
    pub b: Option<TransactionsTypeCost>,
    /// CPU time of a transaction, A less B; null unless both have several.
    pub cpu: Option<TransactionsDifference>,
    /// Wall time of a transaction, A less B; null unless both have several.
    pub wall: Option<TransactionsDifference>,
}

/// What the transactions of a type cost.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TransactionsTypeCost {
    /// Transactions that threads worked for under its name, in any process.
    pub transactions: u64,
    /// CPU time, nanoseconds.
    pub cpu_ns: u64,
    /// The part of that which is known of no single transaction, nanoseconds.
    pub left_out_ns: u64,
    /// Mean CPU time of a transaction, nanoseconds; null of fewer than two.
    pub cpu_mean_ns: Option<f64>,
    /// Mean wall time of those that began under its name, nanoseconds; null when none did.
    pub wall_mean_ns: Option<f64>,
    /// Their median wall time, nanoseconds.
    pub wall_p50_ns: Option<u64>,
    /// Wall time that 99 % of them do not exceed, nanoseconds.
    pub wall_p99_ns: Option<u64>,
}

/// A difference of means, each transaction being an observation, by Welch's t-test.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TransactionsDifference {
    /// A less B, nanoseconds.
    pub ns: f64,
    /// The lower end of its 95 % interval.
    pub low_ns: f64,
    /// The upper end.
    pub high_ns: f64,
    /// How probable a difference so great is when there is none.
    pub p: f64,
    /// Whether it is significant: p is below 0.01.
    pub significant: bool,
}

/// Two types: answer of `fulcrum transactions compare --only A --against B --json`.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TransactionsTypesCompared {
    /// The types. Its name is `A − B` where they have different ones.
    #[serde(rename = "type")]
    pub of: TransactionsComparedType,
    /// The unit of `functions`: CPU time of one transaction, or of all where one side has fewer than two.
    pub unit: String,
    /// Functions, the greatest differences first.
    pub functions: Vec<SearchRow>,
    /// What a reader should know. Whole sentences.
    pub notes: Vec<String>,
}

/// Answer to `fulcrum/transactions/open`.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TransactionsOpened {
    /// The run's folder.
    pub run: String,
    /// What `fulcrum transactions show` tells.
    pub shown: TransactionsShown,
    /// What `fulcrum transactions crosstalk` tells. It has no notes of its own here.
    pub crosstalk: TransactionsCrosstalk,
    /// How single transactions went through threads and processes: of each type the slowest, and others drawn by chance; those
    /// of one type stand together, the slowest first.
    pub ways: Vec<TransactionWay>,
}

/// How one transaction went through threads and processes.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TransactionWay {
    /// Its type's name.
    #[serde(rename = "type")]
    pub of: String,
    /// When it began, nanoseconds after the first of all transactions that are shown.
    pub began_ns: u64,
    /// How long it took until its last answer, or until the last that was done for it, nanoseconds.
    pub wall_ns: u64,
    /// It was answered.
    pub replied: bool,
    /// What the first of its requests that told of a trace told, as the header `traceparent` has it (W3C Trace Context).
    pub trace_parent: Option<String>,
    /// Who worked for it when, by their beginnings.
    pub stays: Vec<TransactionStay>,
    /// How many stays came after these and are not told.
    pub left_out: u64,
}

/// A thread works for a transaction, or waits for others on its behalf.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TransactionStay {
    /// The process's number.
    pub pid: u32,
    /// Its program.
    pub process: String,
    /// The kernel's number of the thread.
    pub tid: u32,
    /// The thread's name.
    pub thread: String,
    /// What it does there: the handler, the stage, or where the transaction was handed on.
    pub stage: String,
    /// The innermost function on the transaction's way to there that the source is known of, for `fulcrum/transactions/frame`.
    pub source: Option<String>,
    /// From when, nanoseconds after the transaction's beginning; negative where clocks differ.
    pub from_ns: i64,
    /// Until when.
    pub to_ns: i64,
}

/// Answer of `fulcrum transactions show --json`.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TransactionsShown {
    /// CPU time of all samples, nanoseconds.
    pub total_cpu_ns: u64,
    /// All types, those that cost the most CPU time first.
    pub types: Vec<TransactionType>,
    /// What all types together cost by program and thread, the most expensive first.
    pub stages: Vec<TransactionStage>,
    /// How transactions came from one stage to another, the most frequent first.
    pub flows: Vec<TransactionFlow>,
    /// What a reader should know. Whole sentences.
    pub notes: Vec<String>,
}

/// A type of transaction.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TransactionType {
    /// Its name: the request, or the path that it took.
    pub name: String,
    /// What all its contexts begin with, a stage each: `listener_thread > ap_queue_push`.
    pub context: Vec<String>,
    /// The functions, handlers and stages in that, for `fulcrum/transactions/frame`.
    pub functions: Vec<String>,
    /// Transactions that began in a recorded process.
    pub count: u64,
    /// Of these, how many got no reply.
    pub unreplied: u64,
    /// CPU time in all processes, nanoseconds.
    pub cpu_ns: u64,
    /// Of all CPU time, 0 to 1.
    pub cpu_share: f64,
    /// Mean wall time of a transaction, nanoseconds; null without transactions.
    pub wall_mean_ns: Option<f64>,
    /// Median wall time, nanoseconds.
    pub wall_p50_ns: Option<u64>,
    /// Wall time that 95 % do not exceed, nanoseconds.
    pub wall_p95_ns: Option<u64>,
    /// Wall time that 99 % do not exceed, nanoseconds.
    pub wall_p99_ns: Option<u64>,
    /// How long its transactions waited for others at locks, together, nanoseconds.
    pub wait_ns: u64,
    /// Where its CPU time went, the most expensive first.
    pub stages: Vec<TransactionStage>,
}

/// CPU time in the threads of one name in the processes of one program.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TransactionStage {
    /// The program.
    pub process: String,
    /// The thread's name.
    pub thread: String,
    /// CPU time, nanoseconds.
    pub cpu_ns: u64,
    /// Of all CPU time, 0 to 1.
    pub cpu_share: f64,
}

/// By what a transaction went from one stage to another.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum TransactionFlowKind {
    /// Shared memory.
    Memory,
    /// An event.
    Event,
    /// A new thread or process, or the queue of a stage.
    Stage,
    /// A message.
    Message,
}

/// Transactions that went from one stage to another.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TransactionFlow {
    /// By what.
    pub kind: TransactionFlowKind,
    /// The program in which they were produced.
    pub from_process: String,
    /// Where: the function, the handler, the stage.
    pub from: String,
    /// The program in which they were consumed.
    pub to_process: String,
    /// Where.
    pub to: String,
    /// How often.
    pub count: u64,
}

/// Answer of `fulcrum transactions crosstalk --json`: who waits for whom.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TransactionsCrosstalk {
    /// All waits, nanoseconds.
    pub wait_ns: u64,
    /// Waits by pair and lock, the longest first.
    pub pairs: Vec<CrosstalkPair>,
    /// What a reader should know. Whole sentences.
    pub notes: Vec<String>,
}

/// Waits of one type for another at one lock.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct CrosstalkPair {
    /// Who waited.
    pub waiter: String,
    /// For whom: a type, `no transaction`, or `unknown`.
    pub holder: String,
    /// The lock's name or address.
    pub lock: String,
    /// `mutex`, `rwlock`, `condition`, `futex`, `monitor`.
    pub kind: String,
    /// How often.
    pub count: u64,
    /// How long together, nanoseconds.
    pub wait_ns: u64,
    /// The mean wait, nanoseconds.
    pub mean_ns: f64,
    /// Where both were, the longest waits first; of very many, some are missing.
    pub paths: Vec<CrosstalkPaths>,
    /// What the holder's section is worth, as it was measured last; null when it was not.
    pub price: Option<CrosstalkPrice>,
    /// What the waiter would gain without these waits; null where the holder is no transaction, and of all but the longest waits.
    pub gain: Option<CrosstalkGain>,
}

/// What a type would gain without some of its waits, as `fulcrum transactions what-if` predicts it from the run.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct CrosstalkGain {
    /// By how much it would be faster on average, a fraction: 0.11, 11 % less time.
    pub gain: f64,
    /// The lower end of its 95 % interval; null of a single transaction.
    pub gain_low: Option<f64>,
    /// The upper end.
    pub gain_high: Option<f64>,
    /// All of it in a sentence.
    pub sentence: String,
}

/// What a critical section is worth, by experiments in which it took half the time: answer to `fulcrum/transactions/price` and of
/// `fulcrum transactions price --json`.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct CrosstalkPrice {
    /// Who waits.
    pub waiter: String,
    /// For whom.
    pub holder: String,
    /// The lock, as `CrosstalkPair` names it.
    pub lock: String,
    /// The function whose sections were sped up, with everything that it calls while it holds the lock.
    pub function: String,
    /// What was measured: the name of the waiter's type, or a line.
    pub progress_point: String,
    /// By how much the section was sped up: 0.5, half the time.
    pub speedup: f64,
    /// By how much the waiter would be faster, a fraction: 0.11, 11 % less time. Null when it is not known.
    pub gain: Option<f64>,
    /// The lower end of its 95 % interval.
    pub gain_low: Option<f64>,
    /// The upper end.
    pub gain_high: Option<f64>,
    /// How many experiments that rests on.
    pub experiments: u64,
    /// All of it in a sentence, or why nothing is known.
    pub sentence: String,
    /// What a reader should know. Whole sentences.
    pub notes: Vec<String>,
    /// The folder of the causal profile: `fulcrum causal show` tells more.
    pub run: String,
}

/// Parameters of `fulcrum/transactions/price`.
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TransactionsPriceParams {
    /// The run, as for `fulcrum/transactions/open`. Its program is started again, in the same folder with the same arguments.
    pub run: String,
    /// Who waits: the name of a type.
    pub waiter: String,
    /// For whom.
    pub holder: String,
    /// At which lock, as `CrosstalkPair` names it.
    pub lock: String,
    /// How long the program runs at most.
    pub duration_seconds: f64,
    /// Progress is reported on this token (`$/progress`) and can be cancelled by it: the program is stopped, and what was measured
    /// so far is the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub work_done_token: Option<ProgressToken>,
}

/// Where a waiter and a holder were.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct CrosstalkPaths {
    /// The call path at which the waiter waited.
    pub waiter: String,
    /// Its functions, outermost first, for `fulcrum/transactions/frame`.
    pub waiter_functions: Vec<String>,
    /// The call path at which the holder took or gave back the lock, or signalled; null when it is not known.
    pub holder: Option<String>,
    /// Its functions, outermost first.
    pub holder_functions: Vec<String>,
    /// How long together, nanoseconds.
    pub wait_ns: u64,
}
