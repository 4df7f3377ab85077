//! The options of `fulcrum profile`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use fulcrum_profile_formats::Limits;
use fulcrum_profile_formats::names::Rule;

#[derive(Debug, Subcommand)]
pub(crate) enum Profile {
    /// Describe a profile: format, value types, size, renamed functions
    Info(InfoArgs),
    /// List the functions that cost most, alone or in comparison
    Top(TopArgs),
    /// Write a profile as folded stacks, pprof or speedscope
    Convert(ConvertArgs),
}

/// Which profile, and how its names are read.
#[derive(Debug, Args)]
pub(crate) struct ProfileInput {
    /// A profile in any known format, compressed or not; - is standard input
    pub file: PathBuf,
    /// Rules that unify names: default, all, none, or some of demangle, compiler-suffix, rust-hash, jvm-lambda,
    /// jvm-hidden, jvm-generated, recursion-level, address, source-line, anonymous-number; default,source-line adds one
    #[arg(long, value_name = "RULES", value_parser = rules, default_value = "default")]
    pub names: Names,
    /// Read files of up to this size, as they are and decompressed: 16GiB [default: 4GiB, and 400 times the compressed size]
    #[arg(long, value_name = "SIZE", value_parser = max_size)]
    pub max_size: Option<Limits>,
}

impl ProfileInput {
    /// The limits for reading the file.
    pub(crate) fn limits(&self) -> Limits {
        self.max_size.unwrap_or_default()
    }
}

/// The rules of `--names`.
#[derive(Clone, Debug)]
pub(crate) struct Names(pub Vec<Rule>);

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    pub input: ProfileInput,
    /// List every name that a rule changes, before and after
    #[arg(long)]
    pub renamed: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    #[command(flatten)]
    pub input: ProfileInput,
    /// Compare with this profile: costs are those of FILE minus those of BASE
    #[arg(long, value_name = "BASE")]
    pub against: Option<PathBuf>,
    /// The value type, by its name or its number from 1 [default: the profile's own choice]
    #[arg(long, value_name = "TYPE")]
    pub value: Option<String>,
    /// What to sort by, largest absolute value first
    #[arg(long, value_enum, default_value_t = Sort::Base)]
    pub sort: Sort,
    /// Only N functions; 0 shows all [default: 20 in the table, all in JSON]
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// Print JSON: whole numbers in the profile's unit, stable keys
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    /// A function's own cost
    Base,
    /// Its cost with everything it calls
    Cum,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub input: ProfileInput,
    /// The format to write
    #[arg(long, value_enum)]
    pub to: To,
    /// The value type, by its name or its number from 1; pprof gets all of them [default: the profile's own choice]
    #[arg(long, value_name = "TYPE")]
    pub value: Option<String>,
    /// The file to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum To {
    /// One stack on each line, with a count
    Folded,
    /// profile.proto, compressed
    Pprof,
    /// speedscope's JSON
    Speedscope,
}

/// Parses `--names`.
pub(crate) fn rules(text: &str) -> Result<Names, String> {
    fulcrum_profiles::named_rules(text).map(Names)
}

/// Parses `--max-size`.
pub(crate) fn max_size(text: &str) -> Result<Limits, String> {
    let bytes = crate::events::args::size(text)?;
    let bytes =
        usize::try_from(bytes).map_err(|_| "this machine cannot hold so much".to_owned())?;
    Ok(Limits::up_to(bytes))
}
