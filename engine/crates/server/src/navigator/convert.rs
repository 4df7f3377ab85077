//! From the search's words to the protocol's.

use fulcrum_paths::{
    Details, Estimate, Hidden, LabelReport, Normalisation, Of, Overlap, Row, Sides, Spread, Step,
    Suggester, Suggestions, SummarySides, SummarySpread,
};

use crate::failure::Failure;
use crate::protocol::{
    NavigatorAutomatic, NavigatorCoverage, NavigatorHiddenEnd, NavigatorLabelOverlap,
    NavigatorNormalisation, NavigatorOverlap, NavigatorPathSides, NavigatorPathSpread,
    NavigatorSides, NavigatorSpread, NavigatorStep, NavigatorSuggester, NavigatorSuggestion,
    NavigatorWhole,
};

pub fn sides(sides: Sides) -> NavigatorSides {
    NavigatorSides {
        a: sides.a,
        b: sides.b,
    }
}

pub fn path_sides(of: SummarySides) -> NavigatorPathSides {
    NavigatorPathSides {
        base: sides(of.base),
        cum: sides(of.cum),
    }
}

pub fn path_spread(of: SummarySpread) -> NavigatorPathSpread {
    let spread = |it: Spread| NavigatorSpread {
        low: it.low,
        high: it.high,
        p: it.p,
        significant: it.significant(),
    };
    NavigatorPathSpread {
        base: spread(of.base),
        cum: spread(of.cum),
    }
}

pub fn step(step: Step) -> NavigatorStep {
    match step {
        Step::Suggestion => NavigatorStep::Suggestion,
        Step::ExtendTop => NavigatorStep::ExtendTop,
        Step::ExtendBottom => NavigatorStep::ExtendBottom,
        Step::TrimTop => NavigatorStep::TrimTop,
        Step::TrimBottom => NavigatorStep::TrimBottom,
    }
}

pub fn suggester(suggester: Suggester) -> NavigatorSuggester {
    match suggester {
        Suggester::HighCum => NavigatorSuggester::HighCum,
        Suggester::HighBase => NavigatorSuggester::HighBase,
    }
}

pub fn to_suggester(suggester: NavigatorSuggester) -> Suggester {
    match suggester {
        NavigatorSuggester::HighCum => Suggester::HighCum,
        NavigatorSuggester::HighBase => Suggester::HighBase,
    }
}

pub fn to_normalisation(
    normalisation: Option<NavigatorNormalisation>,
) -> Result<Normalisation, Failure> {
    match normalisation {
        None => Ok(Normalisation::None),
        Some(NavigatorNormalisation::Totals) => Ok(Normalisation::Totals),
        Some(NavigatorNormalisation::Factor(factor)) if factor.is_finite() && factor > 0.0 => {
            Ok(Normalisation::Factor(factor))
        }
        Some(NavigatorNormalisation::Factor(factor)) => Err(Failure::user(
            format!("costs cannot be multiplied by {factor}: give a factor above 0, such as 1.5"),
            None,
        )),
    }
}

pub fn overlap(overlap: Overlap) -> NavigatorOverlap {
    NavigatorOverlap {
        base: overlap.base,
        cum: overlap.cum,
    }
}

pub fn overlaps(details: &Details) -> Vec<NavigatorLabelOverlap> {
    let each = details.overlaps.iter();
    each.map(|it| NavigatorLabelOverlap {
        label: it.label.clone(),
        base: it.shared.base,
        cum: it.shared.cum,
    })
    .collect()
}

pub fn hidden(hidden: Hidden) -> NavigatorHiddenEnd {
    NavigatorHiddenEnd {
        count: hidden.count as u32,
        share: hidden.share,
    }
}

/// What all labels cover: `base` and the estimate of all of them.
pub fn coverage(base: i64, estimate: &Estimate) -> NavigatorCoverage {
    NavigatorCoverage {
        base,
        cum: estimate.removable,
        share: estimate.of_whole,
        gain: estimate.gain,
        table3: estimate.table3,
    }
}

/// The names by which a row differs from the current path; all of a suggestion's.
pub fn names(row: &Row, current: usize, path: &[String]) -> Vec<String> {
    let all = row.path.len();
    let names = match row.step {
        Step::Suggestion => &row.path[..],
        Step::ExtendTop => &row.path[..all - current],
        Step::ExtendBottom => &row.path[current..],
        Step::TrimTop => &path[..current - all],
        Step::TrimBottom => &path[all..],
    };
    names.to_vec()
}

pub fn whole(of: Of) -> NavigatorWhole {
    match of {
        Of::Total => NavigatorWhole::Total,
        Of::Difference => NavigatorWhole::Difference,
        Of::Costlier => NavigatorWhole::Costlier,
    }
}

pub fn automatic(found: Suggestions) -> NavigatorAutomatic {
    let each = found.suggestions.into_iter();
    let suggestions = each.map(|it| NavigatorSuggestion {
        label: it.label,
        path: it.path,
        base: it.base,
        cum: it.cum,
        marginal: it.marginal,
        sides: it.sides.map(path_sides),
        spread: it.spread.map(path_spread),
        why: it.why,
    });
    NavigatorAutomatic {
        total: found.whole.cost,
        of: whole(found.whole.of),
        coverage: found.coverage,
        labelled: found.labelled,
        suggestions: suggestions.collect(),
    }
}

pub fn label(report: LabelReport, paths: Vec<Vec<String>>) -> crate::protocol::NavigatorLabel {
    crate::protocol::NavigatorLabel {
        name: report.name,
        paths,
        base: report.base,
        cum: report.cum,
        marginal: report.marginal,
    }
}
