//! One sentence on what became of a target and of the prediction.

use fulcrum_model::comparison::{Estimate, TargetComparison};

/// A change of cost that is none.
pub const UNCHANGED: f64 = 0.02;

/// `actual` is the program's speedup, `changes` how many targets changed.
pub fn sentence(target: &TargetComparison, actual: Option<Estimate>, changes: usize) -> String {
    let Some(speedup) = target.speedup else {
        return "What it costs is not known in both runs.".into();
    };
    if !target.changed {
        return "It costs about what it did.".into();
    }
    let became = if target.after.is_none() {
        "Its code is gone, which counts as 100 % faster if its work is not elsewhere now".to_owned()
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
            "{became}; the program should be {}, but how fast it is now was not measured.",
            faster(predicted.value)
        );
    };
    let beyond = if target.extrapolated {
        " (beyond what was measured)"
    } else {
        ""
    };
    let expected = format!("the program should be {}{beyond}", faster(predicted.value));
    let found = format!("and is {}", faster(actual.value));
    let judgement = match compare(predicted, actual) {
        None => "the intervals are not known".to_owned(),
        Some(Fits::Yes) => "as predicted".to_owned(),
        Some(_) if changes > 1 => {
            format!("{changes} targets changed, and this is what all did together")
        }
        Some(Fits::More) => "more than this change explains".to_owned(),
        Some(Fits::Less) => "less than predicted".to_owned(),
    };
    format!("{became}; {expected} {found}: {judgement}.")
}

enum Fits {
    Yes,
    More,
    Less,
}

/// Whether the difference of two independent estimates is within its 95 % interval.
fn compare(predicted: Estimate, actual: Estimate) -> Option<Fits> {
    let ((_, predicted_high), (actual_low, _)) = (predicted.interval?, actual.interval?);
    let ((predicted_low, _), (_, actual_high)) = (predicted.interval?, actual.interval?);
    let apart = actual.value - predicted.value;
    let fits = if apart > 0.0 {
        apart <= (predicted_high - predicted.value).hypot(actual.value - actual_low)
    } else {
        -apart <= (predicted.value - predicted_low).hypot(actual_high - actual.value)
    };
    Some(match (fits, apart > 0.0) {
        (true, _) => Fits::Yes,
        (false, true) => Fits::More,
        (false, false) => Fits::Less,
    })
}

fn faster(fraction: f64) -> String {
    let word = if fraction < 0.0 { "slower" } else { "faster" };
    format!("{} {word}", percent(fraction.abs()))
}

fn percent(fraction: f64) -> String {
    format!("{:.1} %", fraction * 100.0)
}
