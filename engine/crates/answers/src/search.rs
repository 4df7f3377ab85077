//! Bottleneck search.

use fulcrum_paths::{
    DenominatorKind, Details, Estimate, FirstRows, Hidden, LabelReport, Overlap, Row, Sample,
    Sides, Spread, Step, Suggester, Suggestions, SummarySides, SummarySpread,
};
use fulcrum_schema::{
    NavigatorAutomatic, NavigatorCoverage, NavigatorEstimate, NavigatorHidden, NavigatorHiddenEnd,
    NavigatorLabel, NavigatorLabelOverlap, NavigatorOverlap, NavigatorPathSides,
    NavigatorPathSpread, NavigatorSample, NavigatorSides, NavigatorSpread, NavigatorStep,
    NavigatorSuggester, NavigatorSuggestion, NavigatorWhole, SearchCosts, SearchDetails,
    SearchLabel, SearchOverlaps, SearchRow,
};

/// A cost on both sides.
pub fn sides(sides: Sides) -> NavigatorSides {
    NavigatorSides {
        a: sides.a,
        b: sides.b,
    }
}

/// Base and cum on both sides.
pub fn path_sides(of: SummarySides) -> NavigatorPathSides {
    NavigatorPathSides {
        base: sides(of.base),
        cum: sides(of.cum),
    }
}

/// How certain base and cum are.
pub fn path_spread(of: SummarySpread) -> NavigatorPathSpread {
    let sample = |it: Sample| NavigatorSample {
        runs: it.runs as u32,
        mean: it.mean,
        deviation: it.deviation,
    };
    let spread = |it: Spread| NavigatorSpread {
        a: sample(it.a),
        b: sample(it.b),
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

/// What a path costs.
pub fn costs(row: &Row) -> SearchCosts {
    SearchCosts {
        base: row.base,
        cum: row.cum,
    }
}

/// How a row came about.
pub fn step(step: Step) -> NavigatorStep {
    match step {
        Step::Suggestion => NavigatorStep::Suggestion,
        Step::ExtendTop => NavigatorStep::ExtendTop,
        Step::ExtendBottom => NavigatorStep::ExtendBottom,
        Step::TrimTop => NavigatorStep::TrimTop,
        Step::TrimBottom => NavigatorStep::TrimBottom,
    }
}

/// How wanted rows came about.
pub fn to_step(step: NavigatorStep) -> Step {
    match step {
        NavigatorStep::Suggestion => Step::Suggestion,
        NavigatorStep::ExtendTop => Step::ExtendTop,
        NavigatorStep::ExtendBottom => Step::ExtendBottom,
        NavigatorStep::TrimTop => Step::TrimTop,
        NavigatorStep::TrimBottom => Step::TrimBottom,
    }
}

/// How `suggest` ranks.
pub fn suggester(suggester: Suggester) -> NavigatorSuggester {
    match suggester {
        Suggester::HighCum => NavigatorSuggester::HighCum,
        Suggester::HighBase => NavigatorSuggester::HighBase,
    }
}

/// How `suggest` is asked to rank.
pub fn to_suggester(suggester: NavigatorSuggester) -> Suggester {
    match suggester {
        NavigatorSuggester::HighCum => Suggester::HighCum,
        NavigatorSuggester::HighBase => Suggester::HighBase,
    }
}

/// What the current path shares.
pub fn overlap(overlap: Overlap) -> NavigatorOverlap {
    NavigatorOverlap {
        base: overlap.base,
        cum: overlap.cum,
    }
}

/// What the current path shares with each label.
pub fn overlaps(details: &Details) -> Vec<NavigatorLabelOverlap> {
    let each = details.overlaps.iter();
    each.map(|it| NavigatorLabelOverlap {
        label: it.label.clone(),
        base: it.shared.base,
        cum: it.shared.cum,
    })
    .collect()
}

/// What zooming left out at one end.
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
        estimate: self::estimate(estimate),
    }
}

/// A possible gain.
pub fn estimate(of: &Estimate) -> NavigatorEstimate {
    NavigatorEstimate {
        cum: of.removable,
        share: of.of_whole,
        gain: of.gain,
        table3: of.table3,
    }
}

/// The denominator of shares.
pub fn whole(of: DenominatorKind) -> NavigatorWhole {
    match of {
        DenominatorKind::Total => NavigatorWhole::Total,
        DenominatorKind::Difference => NavigatorWhole::Difference,
        DenominatorKind::Costlier => NavigatorWhole::Costlier,
    }
}

/// What was suggested.
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

/// A label and its paths.
pub fn label(report: LabelReport, paths: Vec<Vec<String>>) -> NavigatorLabel {
    NavigatorLabel {
        name: report.name,
        paths,
        base: report.base,
        cum: report.cum,
        marginal: report.marginal,
    }
}

/// A numbered path.
pub fn row(row: &Row) -> SearchRow {
    SearchRow {
        number: row.number as u32,
        step: step(row.step),
        path: row.path.clone(),
        base: row.base,
        cum: row.cum,
        sides: row.sides.map(path_sides),
        spread: row.spread.map(path_spread),
    }
}

/// The rows of all steps.
pub fn rows(first: &[FirstRows]) -> Vec<SearchRow> {
    first.iter().flat_map(|it| &it.rows).map(row).collect()
}

/// How many rows there are besides the first ones.
pub fn more(first: &[FirstRows]) -> u64 {
    first.iter().map(|it| it.more as u64).sum()
}

/// The current path and the first ones nearby.
pub fn details(details: &Details, nearby: &[FirstRows]) -> SearchDetails {
    let [above, below] = details.hidden.map(hidden);
    SearchDetails {
        labels: details.labels.clone(),
        overlaps: about(details),
        sides: details.sides.map(path_sides),
        spread: details.spread.map(path_spread),
        paradox: details.paradox.as_ref().map(ToString::to_string),
        more: more(nearby),
        nearby: rows(nearby),
        hidden: NavigatorHidden {
            top: above,
            bottom: below,
        },
        limit: details.limit.as_ref().map(ToString::to_string),
    }
}

/// What the current path costs and shares with labels.
pub fn about(details: &Details) -> SearchOverlaps {
    SearchOverlaps {
        path: details.path.clone(),
        base: details.base,
        cum: details.cum,
        total: details.whole.cost,
        of: whole(details.whole.of),
        overlaps: overlaps(details),
        overlap: overlap(details.overlap),
    }
}

/// A label without its paths.
pub fn report(it: &LabelReport) -> SearchLabel {
    SearchLabel {
        name: it.name.clone(),
        summaries: it.summaries as u32,
        base: it.base,
        cum: it.cum,
        marginal: it.marginal,
    }
}
