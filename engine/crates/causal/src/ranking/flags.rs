//! Quality flags: what to keep in mind about a target's result.
//!
//! | flag | when |
//! |---|---|
//! | run queue | during its experiments, threads stood in run queues a quarter of a processor's time or more |
//! | few visits | the baseline, or half of the points, rest on fewer than 20 visits |
//! | shared | its code is also another target's (identical functions folded into one) |
//! | regime change | the curve leaves a straight line by more than noise (see `estimate::linear`) |
//! | unsettled | the pace changes within experiments (see `experiments::steady`) |
//! | costly pauses | pausing may cost a tenth of the program's time (see `estimate::placebo`) |
//! | contradictory | the slope and the curve disagree (see `ranking::verdict`) |
//! | unstable | a latency whose arrivals and departures differ over the run (see `estimate::latency`) |

use fulcrum_model::causal::{Flag, Point};

use crate::estimate::combine::Line;

/// Threads that wait for a processor, on average, from which pauses fall into waits rather than into work.
const QUEUED: f64 = 0.25;
/// Visits from which a period is more than luck.
const ENOUGH_VISITS: u64 = 20;

/// What is known about one target.
pub(crate) struct Facts<'a> {
    pub line: &'a Line<'a>,
    pub points: &'a [Point],
    /// Visits are whole executions, of which there are never many.
    pub end_to_end: bool,
    pub shared: bool,
    pub bends: bool,
    pub unstable: bool,
    pub unsettled: bool,
    pub costly_pauses: bool,
    pub contradictory: bool,
}

/// The flags, as they are shown.
pub(crate) fn flags(facts: &Facts<'_>) -> Vec<Flag> {
    let (queued, time) = facts.line.queued;
    let few = |point: &Point| point.visits < ENOUGH_VISITS;
    let half = facts.points.iter().filter(|p| few(p)).count() * 2 >= facts.points.len();
    let few = facts.points.first().is_some_and(few) || half;
    [
        (time > 0.0 && queued / time >= QUEUED, Flag::RunQueue),
        (few && !facts.end_to_end, Flag::FewVisits),
        (facts.shared, Flag::Shared),
        (facts.bends, Flag::RegimeChange),
        (facts.unstable, Flag::Unstable),
        (facts.unsettled, Flag::Unsettled),
        (facts.costly_pauses, Flag::CostlyPauses),
        (facts.contradictory, Flag::Contradictory),
    ]
    .into_iter()
    .filter_map(|(is, flag)| is.then_some(flag))
    .collect()
}
