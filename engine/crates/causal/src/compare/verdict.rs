//! One sentence on how a target changed, and on how the prediction turned out.

use fulcrum_model::comparison::{Estimate, TargetComparison};

/// A smaller change of cost counts as none.
pub(crate) const UNCHANGED: f64 = 0.02;

/// `actual` is the program's speedup, `changes` how many targets changed.
pub(crate) fn sentence(
    target: &TargetComparison,
    actual: Option<Estimate>,
    changes: usize,
) -> String {
    let Some(speedup) = target.speedup else {
        return "What it costs is not known in both runs.".into();
    };
    if !target.changed {
        return "Its cost has hardly changed.".into();
    }
    let became = if target.after.is_none() {
        "Its code is gone, which counts as 100 % faster unless its work is now done elsewhere"
            .to_owned()
    } else if speedup.value < 0.0 {
        format!("It costs {} more a visit", percent(-speedup.value))
    } else {
        format!("It costs {} less a visit", percent(speedup.value))
    };
    let Some(predicted) = target.predicted else {
        return format!("{became}.");
    };
    let Some(actual) = actual else {
        return format!(
            "{became}; the program should take {}, but how fast it is now was not measured.",
            time(predicted.value)
        );
    };
    let beyond = if target.extrapolated {
        " (beyond what was measured)"
    } else {
        ""
    };
    let expected = format!("the program should take {}{beyond}", time(predicted.value));
    let found = format!("takes {}", time(actual.value));
    let judgement = match compare(predicted, actual) {
        Judgement::Unknown => "the intervals are not known".to_owned(),
        Judgement::Fits { within } => format!("as predicted, to within {} points", points(within)),
        Judgement::TooUncertain { within } => {
            format!(
                "both are known only to within {} points, too little to tell",
                points(within)
            )
        }
        _ if changes > 1 => {
            format!("{changes} targets changed, and this is their combined effect")
        }
        Judgement::More => "more than this change explains".to_owned(),
        Judgement::Less => "less than predicted".to_owned(),
    };
    format!("{became}; {expected} and {found}: {judgement}.")
}

/// The error of predictions beyond their intervals: a smaller difference says nothing about the change.
const BIAS: f64 = 0.02;
/// "As predicted" is only said if a difference of this size, or of half the prediction, would have refuted it.
const TELLING: f64 = 0.05;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Judgement {
    /// One of the intervals is not known.
    Unknown,
    /// The difference is within the errors of both.
    Fits { within: f64 },
    /// It is, but so would nearly any difference be.
    TooUncertain { within: f64 },
    /// The program gained more.
    More,
    /// The program gained less.
    Less,
}

/// Whether two independent estimates agree: their difference is within its 95 % interval and [`BIAS`].
fn compare(predicted: Estimate, actual: Estimate) -> Judgement {
    let Some((of_predicted, of_actual)) = predicted.interval.zip(actual.interval) else {
        return Judgement::Unknown;
    };
    let above = (of_predicted.high - predicted.value).hypot(actual.value - of_actual.low) + BIAS;
    let below = (predicted.value - of_predicted.low).hypot(of_actual.high - actual.value) + BIAS;
    let apart = actual.value - predicted.value;
    let within = above.max(below);
    if apart > above {
        Judgement::More
    } else if -apart > below {
        Judgement::Less
    } else if within > TELLING.max(predicted.value.abs() / 2.0) {
        Judgement::TooUncertain { within }
    } else {
        Judgement::Fits { within }
    }
}

/// A program speedup is the fall of the time that a visit takes; by how much more visits fit into a second is another number.
fn time(speedup: f64) -> String {
    let word = if speedup < 0.0 { "more" } else { "less" };
    format!("{} {word} time", percent(speedup.abs()))
}

fn percent(fraction: f64) -> String {
    format!("{} %", points(fraction))
}

fn points(fraction: f64) -> String {
    format!("{:.1}", fraction * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulcrum_stats::Interval;

    fn check(predicted: (f64, f64, f64), actual: (f64, f64, f64), expected: Judgement) {
        let estimate = |(low, value, high)| Estimate {
            value,
            interval: Some(Interval { low, high }),
        };
        let found = compare(estimate(predicted), estimate(actual));
        let rounded = match found {
            Judgement::Fits { within } => Judgement::Fits {
                within: (within * 1000.0).round() / 1000.0,
            },
            Judgement::TooUncertain { within } => Judgement::TooUncertain {
                within: (within * 100.0).round() / 100.0,
            },
            other => other,
        };
        assert_eq!(rounded, expected, "{predicted:?} {actual:?}");
    }

    #[test]
    fn no_more_is_claimed_than_is_known() {
        use Judgement::{Fits, Less, More, TooUncertain};
        check(
            (0.18, 0.20, 0.22),
            (0.20, 0.21, 0.22),
            Fits { within: 0.042 },
        );
        // One thread, two thirds of whose work is gone: the prediction was off by what predictions are off by.
        check(
            (0.29, 0.312, 0.34),
            (0.345, 0.35, 0.355),
            Fits { within: 0.048 },
        );
        check((0.02, 0.03, 0.04), (0.09, 0.10, 0.11), More);
        check((0.29, 0.31, 0.33), (0.20, 0.22, 0.24), Less);
        // An interval that holds everything says nothing.
        check(
            (-0.82, 0.15, 1.13),
            (0.10, 0.12, 0.14),
            TooUncertain { within: 1.0 },
        );
        check(
            (0.01, 0.03, 0.05),
            (-0.05, 0.03, 0.11),
            TooUncertain { within: 0.1 },
        );
        // Half of a large gain is enough to go by.
        check(
            (0.30, 0.40, 0.50),
            (0.38, 0.41, 0.44),
            Fits { within: 0.124 },
        );
    }
}
