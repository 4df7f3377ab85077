//! The options of `fulcrum trace` and `fulcrum events`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    /// What to observe: a filter file [default: all methods except those of the Java platform and C++'s std, waits, garbage
    /// collections, class loading]
    #[arg(long, value_name = "FILE")]
    pub filter: Option<PathBuf>,
    /// Log the arguments and results of these methods, as numbers and short texts; * matches anything; may be given several
    /// times. The methods must be observed. Strings are cut after 64 bytes; other objects are logged as their classes
    #[arg(long, value_name = "CLASS.METHOD")]
    pub values: Vec<String>,
    /// Largest size of the log, such as 500M or 4G; later events are not recorded
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "1G")]
    pub limit: u64,
    /// The folder that holds .fulcrum/runs [default: the working folder]
    #[arg(long, short, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Write the run into this new folder instead of the workspace's store
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Print only errors
    #[arg(long, short)]
    pub quiet: bool,
    /// Attach to a running Java program, and trace it until it ends or this command is interrupted
    #[arg(long, value_name = "PID", conflicts_with = "program")]
    pub attach: Option<u32>,
    /// Stop the program after this time (with --attach, only the tracing): 30s, 5m
    #[arg(long = "for", value_name = "TIME", value_parser = crate::args::duration)]
    pub time: Option<Duration>,
    /// java, or a native program built with -finstrument-functions, and its arguments
    #[arg(
        required_unless_present = "attach",
        trailing_var_arg = true,
        value_name = "PROGRAM"
    )]
    pub program: Vec<OsString>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Events {
    /// List events in order of time
    List(ListArgs),
    /// Show what each thread called, as a tree
    Tree(TreeArgs),
    /// Sum up methods, threads, contention and garbage collections
    Stats(StatsArgs),
    /// Select calls, waits and other events by a condition, and aggregate them in groups
    Query(QueryArgs),
    /// Export a trace for other tools: tables, timelines, call trees
    Export(ExportArgs),
    /// Replay a queue: request numbers, lengths, times in the queue
    Queues(QueuesArgs),
    /// Compare two traces: what appeared, vanished, got slower or faster
    Compare(CompareArgs),
}

#[derive(Debug, Args)]
pub(crate) struct TraceSelection {
    /// A run folder or an events-*.log [default: the newest run here that has one]
    pub run: Option<PathBuf>,
    /// Only threads with this name or number; * matches anything
    #[arg(long, value_name = "NAME")]
    pub thread: Option<String>,
    /// Only events from this time on, measured from the start of the log: 1.5s, 200ms
    #[arg(long, value_name = "TIME", value_parser = crate::args::duration)]
    pub from: Option<Duration>,
    /// Only events up to this time
    #[arg(long, value_name = "TIME", value_parser = crate::args::duration)]
    pub to: Option<Duration>,
    /// Show only what this filter would have observed
    #[arg(long, value_name = "FILE")]
    pub filter: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_long_help = super::query_help::help())]
pub(crate) struct QueryArgs {
    // Not a documentation comment, in which rustdoc would look for links.
    #[arg(help = "[CONDITION] [group by …] [select …] [order by …] [limit N]; see --help")]
    pub query: String,
    #[command(flatten)]
    pub selection: TraceSelection,
    /// The output format
    #[arg(long, value_enum, default_value_t = QueryFormat::Table)]
    pub format: QueryFormat,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum QueryFormat {
    /// For people
    Table,
    /// Comma-separated
    Csv,
    /// Tab-separated, for gnuplot
    Tsv,
    /// One object on each line
    Json,
    /// An Arrow IPC file
    Arrow,
    /// A Parquet file
    Parquet,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub selection: TraceSelection,
    /// The format
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        required_unless_present = "json"
    )]
    pub format: Option<ExportFormat>,
    /// Only rows that satisfy this condition, as in a query; for tables only
    #[arg(long = "where", value_name = "CONDITION")]
    pub condition: Option<String>,
    /// The columns of a table, named as in a query [default: tid,thread,node,kind,what,depth,start,wall,cpu,self,selfcpu,
    /// ended,object]
    #[arg(long, value_name = "NAMES")]
    pub columns: Option<String>,
    /// What folded stacks and speedscope count: calls, wall or cpu
    #[arg(long, value_name = "TYPE", default_value = "wall")]
    pub value: String,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// A table, comma-separated
    Csv,
    /// A table, tab-separated, for gnuplot
    Tsv,
    /// A table, one object on each line
    Json,
    /// A table as an Arrow IPC file, for pandas, Polars, DuckDB
    Arrow,
    /// A table as a Parquet file, for the same tools and for databases; much smaller
    Parquet,
    /// A timeline for ui.perfetto.dev
    Perfetto,
    /// A timeline for chrome://tracing and others
    Chrome,
    /// A call tree as folded stacks
    Folded,
    /// A call tree as pprof, with calls, wall and CPU time
    Pprof,
    /// A call tree for speedscope
    Speedscope,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum QueueOrder {
    /// The oldest request is taken
    Fifo,
    /// The newest request is taken
    Lifo,
    /// The object that a take returns identifies the request; needs `identifymethod` in the filter
    Identity,
}

#[derive(Debug, Args)]
pub(crate) struct QueuesArgs {
    #[command(flatten)]
    pub selection: TraceSelection,
    /// A method that puts a request into the queue; * matches anything; may be given several times
    #[arg(
        long,
        value_name = "CLASS.METHOD",
        value_delimiter = ',',
        required_unless_present = "queue",
        requires = "take"
    )]
    pub put: Vec<String>,
    /// A method that takes a request out of the queue; may be given several times
    #[arg(long, value_name = "CLASS.METHOD", value_delimiter = ',')]
    pub take: Vec<String>,
    /// The class of the queue, instead of --put and --take: uses all methods of java.util.concurrent's queues in the log,
    /// such as put, offer, take and poll
    #[arg(long, value_name = "CLASS", conflicts_with_all = ["put", "take"])]
    pub queue: Option<String>,
    /// How takes are matched to puts [default: identity where the log has objects, otherwise fifo]
    #[arg(long, value_enum, value_name = "ORDER")]
    pub order: Option<QueueOrder>,
    /// Only N requests in the table; 0 shows all [default: 20 in the table, all in JSON]
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Trace A, after the change: a run folder or an events-*.log
    pub run: PathBuf,
    /// Trace B, the base: the trace before the change
    pub before: PathBuf,
    /// Show only what this filter would have observed, in both
    #[arg(long, value_name = "FILE")]
    pub filter: Option<PathBuf>,
    /// Only N paths; 0 shows all [default: 20 in the table, all in JSON]
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub selection: TraceSelection,
    /// Stop after this many events; 0 lists all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub limit: u64,
}

#[derive(Debug, Args)]
pub(crate) struct TreeArgs {
    #[command(flatten)]
    pub selection: TraceSelection,
    /// Show only this many levels; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub depth: usize,
    /// Show only this many calls of each thread; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub limit: usize,
}

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub selection: TraceSelection,
    /// Only N methods; 0 shows all [default: 20 in the table, all in JSON]
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
}

/// `500M`, `4G`, `65536`: bytes.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let split = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let scale: u64 = match unit.trim_end_matches(['b', 'B', 'i']) {
        "" => 1,
        "k" | "K" => 1 << 10,
        "m" | "M" => 1 << 20,
        "g" | "G" => 1 << 30,
        _ => return Err("expected a size such as 500M or 4G".into()),
    };
    let bytes = number
        .parse::<u64>()
        .ok()
        .and_then(|it| it.checked_mul(scale));
    bytes
        .filter(|it| *it >= 1 << 20)
        .ok_or_else(|| "expected a size of at least 1M, such as 500M or 4G".into())
}

#[cfg(test)]
mod tests {
    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("1M", Some(1 << 20)),
            ("4GiB", Some(4 << 30)),
            ("2000000", Some(2_000_000)),
            ("64k", None),
            ("1T", None),
            ("", None),
            ("99999999999G", None),
        ] {
            assert_eq!(super::size(text).ok(), bytes, "{text}");
        }
    }
}
