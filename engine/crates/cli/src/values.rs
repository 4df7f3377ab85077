//! Values of arguments that several commands take.
//!
//! Times are parsed by hand, because they may lack a unit and have decimals: `30`, `1.5`.

use std::time::Duration;

use clap::ValueEnum;

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum StdioArg {
    /// The same as this command's
    Inherit,
    /// To stdout.txt and stderr.txt in the run's folder; no input
    Files,
}

/// `30`, `30s`, `500ms`, `2m`, `1h`; more than zero.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let scale = match unit.trim() {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("expected a time such as 30, 30s, 500ms or 2m".into()),
    };
    let seconds = number.parse::<f64>().ok().map(|number| number * scale);
    match seconds.map(Duration::try_from_secs_f64) {
        Some(Ok(duration)) if !duration.is_zero() => Ok(duration),
        _ => Err("expected a time above zero, such as 30, 30s, 500ms or 2m".into()),
    }
}

/// `1.5%` or `0.015`. A bare number above 1 is in percent, as coz counts.
pub(crate) fn fraction(text: &str) -> Result<f64, String> {
    let (number, percent) = match text.strip_suffix('%') {
        Some(number) => (number.trim_end(), true),
        None => (text, false),
    };
    let number: f64 = number
        .parse()
        .map_err(|_| "expected a fraction such as 50% or 0.5")?;
    let value = if percent || number > 1.0 {
        number / 100.0
    } else {
        number
    };
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err("expected a fraction between 0 % and 100 %, such as 50% or 0.5".into())
    }
}

/// A place as options take it, checked.
pub(crate) fn file_and_line(text: &str) -> Result<String, String> {
    let location: Result<fulcrum_model::Location, _> = text.parse();
    location
        .map(|_| text.to_owned())
        .map_err(|error| error.to_string())
}

/// Above 0 %, below 100 %.
pub(crate) fn overhead(text: &str) -> Result<f64, String> {
    match fraction(text)? {
        share if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("expected a share of the run time between 0 % and 100 %, such as 3%".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, expected) in [
            ("30", Some(30_000)),
            ("30s", Some(30_000)),
            ("1.5", Some(1_500)),
            ("500ms", Some(500)),
            ("2m", Some(120_000)),
            ("1h", Some(3_600_000)),
            ("0", None),
            ("", None),
            ("-1", None),
            ("5x", None),
            ("1e400", None),
        ] {
            let got = duration(text).ok().map(|d| d.as_millis());
            assert_eq!(got, expected, "{text:?}");
        }
    }

    #[test]
    fn fractions() {
        for (text, expected) in [
            ("1.5%", Some(0.015)),
            ("0.015", Some(0.015)),
            ("50", Some(0.5)),
            ("1", Some(1.0)),
            ("0", Some(0.0)),
            ("100 %", Some(1.0)),
            ("101%", None),
            ("-0.1", None),
            ("nan", None),
            ("fast", None),
        ] {
            assert_eq!(fraction(text).ok(), expected, "{text:?}");
        }
    }
}
