//! The options of `fulcrum refine`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use fulcrum_hotspot::Rule;

#[derive(Debug, Args)]
pub(crate) struct RefineArgs {
    /// What a hotspot is: a cost (wall, cpu, allocation, contention; inherent or cumulative; with weights), a threshold, and
    /// the number of executions after which the cost is known
    #[arg(long, value_name = "RULE", value_parser = rule, default_value = "inherent wall >= 50us after 1000")]
    pub rule: Rule,
    /// The method whose calls are the units of work [default: the whole run is one unit]
    #[arg(long, value_name = "CLASS.METHOD")]
    pub unit: Option<String>,
    /// Begin with this filter [default: all methods except those of the Java platform and C++'s std]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from", "from_labels"])]
    pub filter: Option<PathBuf>,
    /// Begin with what a run found: a trace's hotspots, an iteration's next filter, a causal profile's functions
    #[arg(long, value_name = "RUN", conflicts_with = "from_labels")]
    pub from: Option<PathBuf>,
    /// Begin with the paths that a bottleneck search labelled (navigate's save, suggest --label-file)
    #[arg(long, value_name = "FILE")]
    pub from_labels: Option<PathBuf>,
    /// Largest number of iterations
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub iterations: u32,
    /// Runs in each iteration, each paired with a run without probes
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// Make no runs without probes; the overhead is then unknown
    #[arg(long)]
    pub no_baseline: bool,
    /// Measure this many excluded methods again in each iteration
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub recheck: u32,
    /// Seed for drawing the excluded methods that are measured again
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Stop each run after this long, for programs that do not end by themselves
    #[arg(long, value_name = "TIME", value_parser = crate::args::duration)]
    pub duration: Option<Duration>,
    /// Keep the program running: each run is a session of this length in it, and probes change in between
    #[arg(long, value_name = "TIME", value_parser = crate::args::duration, conflicts_with = "duration")]
    pub keep_running: Option<Duration>,
    /// Refine a program that is running already, in sessions of --keep-running
    #[arg(
        long,
        value_name = "PID",
        requires = "keep_running",
        conflicts_with = "program"
    )]
    pub attach: Option<u32>,
    /// Largest size of a log: 500M, 4G
    #[arg(long, value_name = "SIZE", value_parser = crate::events::args::size, default_value = "1G")]
    pub limit: u64,
    /// The folder that holds .fulcrum/runs [default: the working folder]
    #[arg(long, short, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Write the runs into this folder (iteration-1, iteration-2, …) instead of the workspace's store
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Also write the last filter to this file
    #[arg(long, value_name = "FILE")]
    pub write: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print only the result and errors
    #[arg(long, short)]
    pub quiet: bool,
    /// java, or a native program built with -finstrument-functions, and its arguments
    #[arg(
        required_unless_present = "attach",
        trailing_var_arg = true,
        value_name = "PROGRAM"
    )]
    pub program: Vec<OsString>,
}

fn rule(text: &str) -> Result<Rule, String> {
    Rule::parse(text).map_err(|error| error.to_string())
}
