//! The options of `fulcrum trace` and `fulcrum events`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub struct TraceArgs {
    /// What to observe: a file of directives [default: all methods that are not the Java platform's, waiting, garbage
    /// collections, class loading]
    #[arg(long, value_name = "FILE")]
    pub filter: Option<PathBuf>,
    /// The log's largest size; what happens afterwards is not recorded: 500M, 4G
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "1G")]
    pub limit: u64,
    /// The folder that holds .fulcrum/runs [default: the working folder]
    #[arg(long, short, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Write the run into this new folder instead of the workspace's store
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Say nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
    /// java and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

#[derive(Debug, Subcommand)]
pub enum Events {
    /// List events in the order of time
    List(ListArgs),
    /// Show what each thread called, as a tree
    Tree(TreeArgs),
    /// Add up methods, threads, contention and collections
    Stats(StatsArgs),
}

#[derive(Debug, Args)]
pub struct Source {
    /// A run folder or an events-*.log [default: the newest run here that has one]
    pub run: Option<PathBuf>,
    /// Only threads with this name or number; * stands for anything
    #[arg(long, value_name = "NAME")]
    pub thread: Option<String>,
    /// Only from this time on, since the log's start: 1.5s, 200ms
    #[arg(long, value_name = "TIME", value_parser = crate::args::duration)]
    pub from: Option<Duration>,
    /// Only up to this time
    #[arg(long, value_name = "TIME", value_parser = crate::args::duration)]
    pub to: Option<Duration>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ListArgs {
    #[command(flatten)]
    pub source: Source,
    /// Stop after so many events; 0 lists all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub limit: u64,
}

#[derive(Debug, Args)]
pub struct TreeArgs {
    #[command(flatten)]
    pub source: Source,
    /// Only so many levels; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub depth: usize,
    /// Stop after so many calls of a thread; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub limit: usize,
}

#[derive(Debug, Args)]
pub struct StatsArgs {
    #[command(flatten)]
    pub source: Source,
    /// Only N methods; 0 shows all [default: 20 in the table, all in JSON]
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
}

/// `500M`, `4G`, `65536`: bytes.
fn size(text: &str) -> Result<u64, String> {
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
