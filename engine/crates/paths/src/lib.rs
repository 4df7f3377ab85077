//! Bottleneck search: costly call sequences in large profiles, with exact overlap (BOTTLENECKS §2).
//!
//! [`ProfileInterface`] is all that the search knows of a profile. [`CallTreeProfile`], [`ComparativeProfile`],
//! [`CallGraphProfile`] and [`GraphComparison`] implement it; another implementation needs no change elsewhere. [`Search`] executes
//! an analyst's commands; [`automatic()`] searches without one.
//!
//! This crate does no I/O, and its answers do not depend on the machine.

#![forbid(unsafe_code)]

mod automatic;
mod compare;
mod flame;
mod profile;
mod search;

pub use automatic::suggestions::{Suggestion, Suggestions};
pub use automatic::{Automatic, Found, Options, automatic};
pub use compare::call_graphs::{GraphComparison, GraphComparisonSummary};
pub use compare::call_trees::{ComparativeProfile, ComparativeSummary, DifferentUnits, Input};
pub use compare::inputs::Normalisation;
pub use compare::observations::{Observation, Observations};
pub use compare::spread::{SIGNIFICANT, Sample, Spread};
pub use flame::{
    Boxes, FlameTree, Matches, Merged, MergedSide, Painted, PathOccurrences, View, Width,
};
pub use fulcrum_model::digest;
pub use profile::any::{AnyProfile, AnySummary};
pub use profile::call_graph::{CallGraphProfile, CallGraphSummary};
pub use profile::call_tree::{CallTreeProfile, CallTreeSummary};
pub use profile::denominator::{Denominator, DenominatorKind};
pub use profile::end::End;
pub use profile::interface::{
    FunctionCosts, Overlap, PreparedSummaries, ProfileInterface, Refusal, Sides, SummarySides,
    SummarySpread, base_ovl, cum_ovl,
};
pub use profile::nearness::Nearness;
pub use profile::open::{
    Calls, OpenError, Opened, ProfileInput, difference_note, find_value, open, same_value,
    value_names,
};
pub use profile::unusual_shares::unusual_shares_note;
pub use search::details::{Details, Hidden, LabelOverlap};
pub use search::estimate::{Estimate, estimate};
pub use search::explain::why;
pub use search::labels::{FileIdentity, Label, Labels, ProfileIdentity, SavedLabel, SavedLabels};
pub use search::paradox::{Paradox, paradox_of};
pub use search::report::{Covered, LabelReport};
pub use search::rows::{FirstRows, Row, Rows, Step};
pub use search::suggester::{NotASuggester, Suggester};
pub use search::zoom::{CUTOFF, Nearby, zoom, zoom_trim};
pub use search::{Loaded, Search, SearchError};
