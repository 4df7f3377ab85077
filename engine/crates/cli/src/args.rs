//! The command line, declared once: parsing, help and completions follow from it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use fulcrum_recorder::TargetChoice;

#[cfg(feature = "whole")]
use crate::search::args::{NavigateArgs, SuggestArgs};
pub(crate) use crate::values::{StdioArg, duration, file_and_line, fraction, overhead};

/// See what would happen to the whole program if a line were faster.
#[derive(Debug, Parser)]
#[command(
    name = "fulcrum",
    version,
    about,
    max_term_width = 100,
    infer_subcommands = false
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[cfg(feature = "whole")]
    /// Run the language server for editors, on standard input and output
    Lsp {
        /// Accepted because some clients pass it; there is no other way to connect
        #[arg(long, hide = true)]
        stdio: bool,
        /// For tests of clients: a run of PROGRAM replays the file PROGRAM.NAME if it exists
        #[arg(long, hide = true, value_name = "NAME")]
        script: Option<OsString>,
    },
    /// Run a native program under the causal profiler and rank its lines
    Run(Box<RunArgs>),
    /// Show, compare and export causal profiles, Fulcrum's or coz's
    Causal {
        #[command(subcommand)]
        command: Causal,
    },
    #[cfg(feature = "whole")]
    /// Describe, list and convert profiles by any profiler
    Profile {
        #[command(subcommand)]
        command: crate::profile::Profile,
    },
    #[cfg(feature = "whole")]
    /// Search a profile for bottlenecks by hand: call sequences, their cost and their overlap
    Navigate(NavigateArgs),
    #[cfg(feature = "whole")]
    /// Suggest bottlenecks: what each covers, and why
    Suggest(SuggestArgs),
    #[cfg(feature = "whole")]
    /// Record the events of a Java program (calls, threads, monitors, garbage collections), or the calls of a native program
    /// built with -finstrument-functions
    Trace(crate::events::TraceArgs),
    #[cfg(feature = "whole")]
    /// Trace a program repeatedly, each time with fewer probes, until only hotspots have probes
    Refine(Box<crate::refine::RefineArgs>),
    #[cfg(feature = "whole")]
    /// List, sum, query, export and compare recorded events
    Events {
        #[command(subcommand)]
        command: crate::events::Events,
    },
    #[cfg(feature = "whole")]
    /// Show which kinds of request spend the time, and which wait for which: across threads, events, stages and processes
    Transactions {
        #[command(subcommand)]
        command: crate::transactions::Transactions,
    },
    /// List, show and delete the runs of a workspace
    Runs {
        #[command(subcommand)]
        command: Runs,
    },
    /// Print a completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Stop the program after this long: 30, 30s, 500ms, 2m
    #[arg(long, short, value_name = "TIME", value_parser = duration)]
    pub duration: Option<Duration>,
    /// Continue an earlier run, given by its name or folder, so that its experiments count too; needs the same build and arguments
    #[arg(long = "continue", value_name = "RUN", conflicts_with = "output")]
    pub continues: Option<PathBuf>,
    /// Stop the program when the gains of the best lines are known to within this: 1.5% or 0.015
    #[arg(long, value_name = "FRACTION", value_parser = fraction)]
    pub until: Option<f64>,
    /// Files whose lines may be sped up; % matches anything [default: all files outside system folders]
    #[arg(long, value_name = "PATTERN")]
    pub source_scope: Vec<String>,
    /// Binaries whose code may be sped up; % matches anything [default: the program itself]
    #[arg(long, value_name = "PATTERN")]
    pub binary_scope: Vec<String>,
    /// What to speed up: line, function, inclusive (functions with their callees), blocked (calls that wait), or a call
    /// sequence "path:A > B > C"; several call sequences may be given
    #[arg(long, value_name = "KIND", value_parser = target, default_value = "line")]
    pub target: Vec<TargetChoice>,
    /// Count visits to this line as progress, without changing the source; may be given several times
    #[arg(long, short, value_name = "FILE:LINE", value_parser = file_and_line)]
    pub progress: Vec<String>,
    /// Experiment on this line only, or on the target at this place
    #[arg(long, value_name = "FILE:LINE", value_parser = file_and_line)]
    pub fixed_line: Option<String>,
    /// Experiment with this speedup only: 50% or 0.5
    #[arg(long, value_name = "FRACTION", value_parser = fraction)]
    pub fixed_speedup: Option<f64>,
    /// Make no placebo experiments, which measure the cost of pausing; results then include that cost
    #[arg(long)]
    pub no_placebo: bool,
    /// Limit profiling to this share of the program's time, such as 10%: experiments are spaced out, without samples in
    /// between
    #[arg(long, value_name = "FRACTION", value_parser = overhead)]
    pub max_overhead: Option<f64>,
    /// For a program that just finishes: run it repeatedly; each run is one experiment
    #[arg(long)]
    pub end_to_end: bool,
    /// Stop after this many runs of the program
    #[arg(long, value_name = "N", requires = "end_to_end", value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: Option<u64>,
    /// How samples are taken
    #[arg(long, value_enum, default_value_t = SamplerArg::Auto)]
    pub sampler: SamplerArg,
    /// The folder that holds .fulcrum/runs [default: the program's working folder]
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

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SamplerArg {
    /// perf events where the kernel allows them, otherwise CPU timers
    Auto,
    /// perf events only
    Perf,
    /// CPU timers only
    Timer,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Causal {
    /// Rank lines by how much faster the whole program gets if they get faster
    Show(ShowArgs),
    /// Compare two runs, before and after a change: what was predicted and what happened
    Compare(CompareArgs),
    /// Write a profile in coz's formats
    Export(ExportArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The run before the change: a run folder, a .coz file or a causal-*.jsonl
    pub before: PathBuf,
    /// The run after the change
    pub after: PathBuf,
    /// Print JSON: fractions, stable keys
    #[arg(long)]
    pub json: bool,
    /// Leave out the phase correction (COZ eq. 8) in predictions
    #[arg(long)]
    pub no_phase_correction: bool,
    /// Only this progress point
    #[arg(long, value_name = "NAME")]
    pub progress_point: Option<String>,
    /// Only this program, if the run has several
    #[arg(long, value_name = "NAME")]
    pub program: Option<String>,
    /// Only N targets of each progress point; 0 shows all [default: 10 in the table, all in JSON]
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// A run folder, a .coz file (text or JSON lines) or a causal-*.jsonl [default: the newest run here]
    pub path: Option<PathBuf>,
    /// Print JSON: fractions, stable keys
    #[arg(long)]
    pub json: bool,
    /// Leave out the phase correction (COZ eq. 8), as coz's own viewer does
    #[arg(long)]
    pub no_phase_correction: bool,
    /// How many different speedups a line needs, including the baseline
    #[arg(long, value_name = "N")]
    pub min_points: Option<usize>,
    /// Also use experiments that other programs disturbed
    #[arg(long)]
    pub keep_disturbed: bool,
    /// Only this progress point
    #[arg(long, value_name = "NAME")]
    pub progress_point: Option<String>,
    /// Only this program, if the run has several
    #[arg(long, value_name = "NAME")]
    pub program: Option<String>,
    /// Only the best N lines of each progress point; 0 shows all [default: 20 in the table, all in JSON]
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// A run folder, a .coz file (text or JSON lines) or a causal-*.jsonl
    pub path: PathBuf,
    /// The format to write
    #[arg(long, value_enum)]
    pub format: ExportFormat,
    /// Only this program, if the run has several
    #[arg(long, value_name = "NAME")]
    pub program: Option<String>,
    /// The file to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ExportFormat {
    /// coz's text records
    Coz,
    /// coz's JSON lines
    CozJson,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// List the runs of a workspace, newest first
    List(ListArgs),
    /// Describe a run
    Show(RunsShowArgs),
    /// Delete runs
    Rm(RemoveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub workspace: WorkspaceArg,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunsShowArgs {
    /// Its name or folder [default: the newest]
    pub run: Option<PathBuf>,
    #[command(flatten)]
    pub workspace: WorkspaceArg,
    /// Print JSON: the run's run.json
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// Their names or folders
    #[arg(required = true)]
    pub runs: Vec<PathBuf>,
    #[command(flatten)]
    pub workspace: WorkspaceArg,
}

#[derive(Debug, Args)]
pub(crate) struct WorkspaceArg {
    /// The folder that holds .fulcrum/runs [default: this folder or the nearest one above it that has runs]
    #[arg(long, short, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
}

/// `line`, `function`, `inclusive`, `blocked`, `path:A > B`.
fn target(text: &str) -> Result<TargetChoice, String> {
    let kinds = "expected line, function, inclusive, blocked, or path:A > B";
    match text {
        "line" => Ok(TargetChoice::Line),
        "function" => Ok(TargetChoice::Function),
        "inclusive" => Ok(TargetChoice::Inclusive),
        "blocked" => Ok(TargetChoice::Blocked),
        _ => {
            let path = text.strip_prefix("path:").ok_or(kinds)?;
            let names = path.split('>').filter(|it| !it.trim().is_empty());
            let names: Vec<String> = names.map(|it| it.trim().to_owned()).collect();
            if names.is_empty() {
                return Err(
                    "expected the functions of the path, outermost first: path:A > B".into(),
                );
            }
            Ok(TargetChoice::Path(vec![names]))
        }
    }
}

/// Combines all `--target` options.
pub(crate) fn one_target(choices: Vec<TargetChoice>) -> Result<TargetChoice, String> {
    let mut choices = choices.into_iter();
    let mut target = choices.next().unwrap_or_default();
    for choice in choices {
        match (&mut target, choice) {
            (TargetChoice::Path(paths), TargetChoice::Path(more)) => paths.extend(more),
            (one, other) if *one == other => {}
            (one, other) => {
                return Err(format!(
                    "--target {one} and --target {other} exclude each other: only paths may be given several times"
                ));
            }
        }
    }
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_declaration_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn targets() {
        let path = |names: &[&[&str]]| {
            let owned = |path: &&[&str]| path.iter().map(|it| (*it).to_owned()).collect();
            TargetChoice::Path(names.iter().map(owned).collect())
        };
        for (given, expected) in [
            (&["line"][..], Ok(TargetChoice::Line)),
            (&["blocked", "blocked"], Ok(TargetChoice::Blocked)),
            (&["path:main > work"], Ok(path(&[&["main", "work"]]))),
            (&["path:a>b", "path: c "], Ok(path(&[&["a", "b"], &["c"]]))),
            (&["line", "function"], Err(())),
        ] {
            let parsed = given.iter().map(|text| target(text).unwrap()).collect();
            assert_eq!(one_target(parsed).map_err(drop), expected, "{given:?}");
        }
        for bad in ["lines", "", "path:", "path: > "] {
            assert!(target(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn everything_after_the_program_is_the_programs() {
        for line in [
            "fulcrum run -q -- prog --top -q",
            "fulcrum run -q prog --top -q",
        ] {
            let parsed = Arguments::try_parse_from(line.split(' ')).expect("it parses");
            let Command::Run(run) = parsed.command else {
                panic!("{line}")
            };
            assert_eq!(run.program, ["prog", "--top", "-q"], "{line}");
            assert!(run.quiet && run.top == 20);
        }
    }
}
