//! The command line of `fulcrum navigate` and `fulcrum suggest`.

use std::path::PathBuf;

use clap::Args;
use fulcrum_paths::{Normalisation, Suggester};
use fulcrum_profiles::Limits;

use crate::args::fraction;
use crate::profile::args::{Names, max_size, rules};

/// Profiles, alone or compared.
#[derive(Debug, Args)]
pub(crate) struct ProfileFiles {
    /// A profile in any known format; - is standard input; several are inputs of one side of a comparison
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Compare with this profile: costs are those of FILE minus those of BASE; may be given several times
    #[arg(long, value_name = "BASE")]
    pub against: Vec<PathBuf>,
    /// The value type to search, by its name or its number from 1 [default: the profile's own choice]
    #[arg(long, value_name = "TYPE")]
    pub value: Option<String>,
    /// Rules that unify names, as for `fulcrum profile`
    #[arg(long, value_name = "RULES", value_parser = rules, default_value = "default")]
    pub names: Names,
    /// Make the sides comparable: "totals" scales every input to the mean total of BASE; a number multiplies FILE's costs
    #[arg(long, value_name = "HOW", value_parser = normalisation, requires = "against")]
    pub normalise: Option<Normalisation>,
    /// Read files of up to this size, as for `fulcrum profile`
    #[arg(long, value_name = "SIZE", value_parser = max_size)]
    pub max_size: Option<Limits>,
}

impl ProfileFiles {
    /// The files of both sides.
    pub(crate) fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().chain(&self.against)
    }
}

#[derive(Debug, Args)]
pub(crate) struct NavigateArgs {
    #[command(flatten)]
    pub files: ProfileFiles,
    /// Begin with the labels of this file
    #[arg(long, value_name = "FILE")]
    pub label_file: Option<PathBuf>,
    #[command(flatten)]
    pub dialogue: Dialogue,
}

/// How commands are given: typed one by one, or all at once.
#[derive(Debug, Args)]
pub(crate) struct Dialogue {
    /// Execute these commands, separated by semicolons or line ends, or those in this file, and exit
    #[arg(long, value_name = "COMMANDS")]
    pub script: Option<String>,
    /// Print JSON: one object for each command
    #[arg(long)]
    pub json: bool,
    /// Rows in each list; 0 shows all [default: 20]
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct SuggestArgs {
    #[command(flatten)]
    pub files: ProfileFiles,
    /// Search automatically: find a few sequences that together cover most of the cost, long enough to explain it
    #[arg(long)]
    pub auto: bool,
    /// How to rank functions: HighCum or HighBase [default: HighCum]
    #[arg(long, value_name = "NAME", value_parser = suggester, conflicts_with = "auto")]
    pub suggester: Option<Suggester>,
    /// Count the cost of the labels in this file as covered already
    #[arg(long, value_name = "FILE")]
    pub label_file: Option<PathBuf>,
    /// Label the suggested paths, and write all labels to this file
    #[arg(long, value_name = "FILE")]
    pub save_labels: Option<PathBuf>,
    /// The share of the cost that --auto should cover: 85% or 0.85
    #[arg(long, value_name = "FRACTION", value_parser = fraction, requires = "auto")]
    pub coverage: Option<f64>,
    /// Print JSON: fractions, stable keys
    #[arg(long)]
    pub json: bool,
    /// At most N suggestions [default: 14 with --auto, else 20]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub top: Option<usize>,
}

/// `totals`, or a factor above 0.
fn normalisation(text: &str) -> Result<Normalisation, String> {
    if text == "totals" {
        return Ok(Normalisation::Totals);
    }
    match text.parse::<f64>() {
        Ok(factor) if factor.is_finite() && factor > 0.0 => Ok(Normalisation::Factor(factor)),
        _ => Err("expected \"totals\" or a factor above 0, such as 1.5".into()),
    }
}

fn suggester(text: &str) -> Result<Suggester, String> {
    text.parse()
        .map_err(|error: fulcrum_paths::NotASuggester| error.to_string())
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("expected a number of at least 1".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalisations() {
        for (text, expected) in [
            ("totals", Some(Normalisation::Totals)),
            ("1.5", Some(Normalisation::Factor(1.5))),
            ("0", None),
            ("-1", None),
            ("inf", None),
            ("total", None),
        ] {
            assert_eq!(normalisation(text).ok(), expected, "{text}");
        }
    }
}
