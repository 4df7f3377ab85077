//! The options of `fulcrum transactions`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use crate::args::StdioArg;
use crate::search::args::Dialogue;

#[derive(Debug, Subcommand)]
pub(crate) enum Transactions {
    /// Run a server, or a script that starts several, and record its transactions in all its processes
    Run(Box<RunArgs>),
    /// Show which kinds of request spend the CPU time, where, and how long they take
    Show(ShowArgs),
    /// Show which kinds of request wait for which others, at which locks
    Crosstalk(CrosstalkArgs),
    /// Start the program of a run again, and measure what a critical section costs those who wait for it
    Price(Box<PriceArgs>),
    /// Predict from a run how long transactions would take without some waits, or without some work
    WhatIf(WhatIfArgs),
    /// Compare the transactions of two runs, or of two types: what a transaction costs, and whether the difference is noise
    Compare(CompareArgs),
    /// Search the call tree of a type, alone or in comparison, as fulcrum navigate does
    Navigate(NavigateArgs),
    /// Write the call tree of a type, or of all of them, for other tools or for fulcrum navigate
    Export(ExportArgs),
    /// Combine several runs into one that were recorded at the same time, on one host or on several
    Stitch(StitchArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Stop all processes after this long: 30, 30s, 500ms, 2m
    #[arg(long, short, value_name = "TIME", value_parser = crate::args::duration)]
    pub duration: Option<Duration>,
    /// Do not read messages to name requests (GET /cart, SELECT item); types are then named by their call paths
    #[arg(long)]
    pub no_names: bool,
    /// Do not watch critical sections; transactions that threads pass to each other through memory are then not followed
    #[arg(long)]
    pub no_shared_memory: bool,
    /// How much recording may slow the program down in the long run: a busy program for which it costs more is recorded in windows
    /// of a few seconds
    #[arg(long, value_name = "FRACTION", value_parser = crate::args::overhead, default_value = "3%")]
    pub max_overhead: f64,
    /// Record everything, whatever it costs
    #[arg(long, conflicts_with = "max_overhead")]
    pub no_pauses: bool,
    /// Largest size of a process's log, such as 500M or 4G; later events are not recorded
    #[arg(long, value_name = "SIZE", value_parser = crate::events::size, default_value = "1G")]
    pub limit: u64,
    /// The folder that holds .fulcrum/runs [default: the working folder]
    #[arg(long, short, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Write the run into this new folder instead of the workspace's store
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Start the program in this folder
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Where the program's standard streams go
    #[arg(long, value_enum, default_value_t = StdioArg::Inherit)]
    pub stdio: StdioArg,
    /// Show no progress line
    #[arg(long, short)]
    pub quiet: bool,
    /// Rows in the table; 0 shows all
    #[arg(long, default_value_t = 20)]
    pub top: usize,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// Which run, and how its types are named.
#[derive(Debug, Args)]
pub(crate) struct RunSelection {
    /// Run folders; several that were recorded at the same time, on one host or on several, count as one [default: the newest run
    /// of transactions here]
    pub runs: Vec<PathBuf>,
    #[command(flatten)]
    pub naming: Naming,
}

/// How types are named.
#[derive(Debug, Args)]
pub(crate) struct Naming {
    /// Name the transactions that pass these functions, handlers or requests, in this order: "checkout=main > pay"; may be
    /// given several times; the first match counts
    #[arg(long = "type", value_name = "NAME=A > B", value_parser = rule)]
    pub types: Vec<fulcrum_transactions::NamingRule>,
    /// Do not name types by what their requests say
    #[arg(long)]
    pub no_names: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub selection: RunSelection,
    /// Print JSON: nanoseconds, fractions, stable keys
    #[arg(long)]
    pub json: bool,
    /// Rows in each table; 0 shows all
    #[arg(long, default_value_t = 20)]
    pub top: usize,
}

#[derive(Debug, Args)]
pub(crate) struct CrosstalkArgs {
    #[command(flatten)]
    pub selection: RunSelection,
    /// Print JSON: nanoseconds, stable keys
    #[arg(long)]
    pub json: bool,
    /// Rows in the table; 0 shows all
    #[arg(long, default_value_t = 20)]
    pub top: usize,
    /// Also show the call paths of each pair
    #[arg(long)]
    pub paths: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PriceArgs {
    /// The run that shows which type waits for which [default: the newest run of transactions here]
    pub run: Option<PathBuf>,
    /// The type that waits, as crosstalk names it
    #[arg(long, value_name = "TYPE")]
    pub waits: String,
    /// The type that it waits for
    #[arg(long, value_name = "TYPE")]
    pub holds: String,
    /// The lock [default: the one at which it waits the longest]
    #[arg(long, value_name = "LOCK")]
    pub at: Option<String>,
    /// The function with the critical sections [default: the one that distinguishes the holder from the waiter]
    #[arg(long = "in", value_name = "FUNCTION")]
    pub function: Option<String>,
    /// Measure how often this line is passed, instead of how long the waiting requests take
    #[arg(long, value_name = "FILE:LINE", value_parser = crate::args::file_and_line)]
    pub progress: Option<String>,
    /// Stop the program after this long: 30, 30s, 2m; send it requests during this time
    #[arg(long, short, value_name = "TIME", value_parser = crate::args::duration, default_value = "60s")]
    pub duration: Duration,
    /// Binaries whose code may be sped up; % matches anything [default: the program itself]
    #[arg(long, value_name = "PATTERN")]
    pub binary_scope: Vec<String>,
    #[command(flatten)]
    pub naming: Naming,
    /// Where the program's standard streams go
    #[arg(long, value_enum, default_value_t = StdioArg::Inherit)]
    pub stdio: StdioArg,
    /// Print JSON: fractions, stable keys; --stdio files keeps the program's own output separate
    #[arg(long)]
    pub json: bool,
    /// Show no progress line
    #[arg(long, short)]
    pub quiet: bool,
    /// The program and its arguments [default: those of the run, in the same folder]
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct WhatIfArgs {
    #[command(flatten)]
    pub selection: RunSelection,
    /// Without waits of this type, as crosstalk names it
    #[arg(long, value_name = "TYPE")]
    pub waits: Option<String>,
    /// Without waits for this type
    #[arg(long, value_name = "TYPE")]
    pub holds: Option<String>,
    /// Without waits at this lock, or in this function, as crosstalk --paths names them
    #[arg(long, value_name = "LOCK")]
    pub at: Option<String>,
    /// Without this type's work in the program of --in, for all of its transactions or for a share of them: "GET /list=0.9";
    /// may be given several times
    #[arg(
        long,
        value_name = "TYPE[=SHARE]",
        value_parser = share,
        requires = "program",
        required_unless_present_any = ["waits", "holds", "at"]
    )]
    pub skip: Vec<(String, f64)>,
    /// The program that does without the work of --skip, as show names it below the types
    #[arg(long = "in", value_name = "PROGRAM", requires = "skip")]
    pub program: Option<String>,
    /// Print JSON: nanoseconds, fractions, stable keys
    #[arg(long)]
    pub json: bool,
    /// Rows in the table; 0 shows all
    #[arg(long, default_value_t = 20)]
    pub top: usize,
}

/// Types of one run or of two.
#[derive(Debug, Args)]
pub(crate) struct Types {
    /// Run A, which is examined [default: the newest run of transactions here]
    pub run: Option<PathBuf>,
    /// Run B, with which it is compared [default with --against: the same run]
    pub base: Option<PathBuf>,
    /// The type in A, by its name
    #[arg(long, value_name = "NAME")]
    pub only: Option<String>,
    /// The type in B, by its name [default with two runs: that of --only]
    #[arg(long, value_name = "NAME", requires = "only")]
    pub against: Option<String>,
    #[command(flatten)]
    pub naming: Naming,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub types: Types,
    /// Print JSON: nanoseconds, fractions, stable keys
    #[arg(long)]
    pub json: bool,
    /// Rows in the table; 0 shows all
    #[arg(long, default_value_t = 20)]
    pub top: usize,
}

#[derive(Debug, Args)]
pub(crate) struct NavigateArgs {
    #[command(flatten)]
    pub types: Types,
    #[command(flatten)]
    pub dialogue: Dialogue,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub selection: RunSelection,
    /// Only this type [default: all, each below a frame with its name]
    #[arg(long, value_name = "NAME")]
    pub only: Option<String>,
    /// The format
    #[arg(long, value_enum, default_value_t = To::Folded)]
    pub to: To,
    /// The file
    #[arg(long, short, value_name = "FILE")]
    pub into: PathBuf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum To {
    /// Folded stacks
    Folded,
    /// pprof
    Pprof,
    /// speedscope
    Speedscope,
    /// OpenTelemetry profiles whose samples link to spans; the spans go into a file beside: those of buy.otlp into buy.spans.otlp
    Otlp,
}

#[derive(Debug, Args)]
pub(crate) struct StitchArgs {
    /// The run folders
    #[arg(required = true, num_args = 2..)]
    pub runs: Vec<PathBuf>,
    /// The new run's folder
    #[arg(long, short, value_name = "DIR")]
    pub output: PathBuf,
}

/// A type, and the share of its transactions. A type's name may contain an equals sign.
fn share(text: &str) -> Result<(String, f64), String> {
    let parsed = text
        .rsplit_once('=')
        .and_then(|(name, share)| Some((name, share.trim().parse::<f64>().ok()?)));
    match parsed {
        None => Ok((text.into(), 1.0)),
        Some((name, share)) if (0.0..=1.0).contains(&share) => Ok((name.trim().into(), share)),
        Some(_) => Err("a share is a number from 0 to 1".into()),
    }
}

fn rule(text: &str) -> Result<fulcrum_transactions::NamingRule, String> {
    let wrong = || "expected NAME=FUNCTION or NAME=FUNCTION > FUNCTION".to_owned();
    let (name, through) = text.split_once('=').ok_or_else(wrong)?;
    let through: Vec<String> = through
        .split(" > ")
        .map(|it| it.trim().to_owned())
        .collect();
    if name.trim().is_empty() || through.iter().any(String::is_empty) {
        return Err(wrong());
    }
    Ok(fulcrum_transactions::NamingRule {
        name: name.trim().into(),
        through,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_a_type_follows_its_name() {
        for (text, name, part) in [
            ("GET /list=0.9", "GET /list", 0.9),
            ("GET /list", "GET /list", 1.0),
            ("a=b", "a=b", 1.0),
            ("a=b=0", "a=b", 0.0),
        ] {
            assert_eq!(share(text), Ok((name.into(), part)));
        }
        for wrong in ["GET /list=1.1", "GET /list=-1", "GET /list=NaN"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_type_is_named_by_what_it_goes_through() {
        let named = rule("checkout = main > pay").unwrap();
        assert_eq!(named.name, "checkout");
        assert_eq!(named.through, ["main", "pay"]);
        for wrong in ["checkout", "=main", "a=", "a=main > "] {
            assert!(rule(wrong).is_err(), "{wrong}");
        }
    }
}
