//! Bottleneck search: costly call sequences in large profiles, with exact overlap (BOTTLENECKS §2).
//!
//! [`ProfileInterface`] is all that the search knows of a profile. [`CallTreeProfile`], [`ComparativeProfile`],
//! [`CallGraphProfile`] and [`GraphComparison`] implement it; another kind needs no change elsewhere. [`Search`] is what an analyst does, command
//! by command; [`automatic()`] does it alone.
//!
//! No I/O, and nothing depends on the machine: the same profile gives the same answers.

#![forbid(unsafe_code)]

mod any;
mod automatic;
mod beyond;
mod call_graph;
mod call_tree;
mod calls;
mod comparative;
mod denominator;
mod details;
mod end;
mod entries;
mod estimate;
mod explain;
mod extensions;
mod find;
mod flame;
mod graph_comparison;
mod index;
mod interface;
mod labels;
mod names;
mod nearness;
mod observations;
mod occurrences;
mod open;
mod paradox;
mod queue;
mod region;
mod running;
mod runs;
mod search;
mod shared;
mod spread;
mod suggest;
mod suggestions;
mod zoom;

pub use any::{AnyProfile, AnySummary};
pub use automatic::{Automatic, Found, Options, automatic};
pub use beyond::beyond;
pub use call_graph::{CallGraphProfile, CallGraphSummary};
pub use call_tree::{CallTreeProfile, CallTreeSummary};
pub use comparative::{ComparativeProfile, ComparativeSummary, DifferentUnits, Run};
pub use denominator::{Denominator, DenominatorKind};
pub use details::{Details, Hidden, LabelOverlap, LabelReport, Row, Step};
pub use estimate::{Estimate, estimate};
pub use explain::why;
pub use flame::{Boxes, FlameTree, Matches, Merged, MergedSide, PathOccurrences, View, Width};
pub use fulcrum_model::digest;
pub use graph_comparison::{GraphComparison, GraphComparisonSummary};
pub use interface::{
    Overlap, ProfileInterface, Refusal, Sides, SummarySides, SummarySpread, Together, base_ovl,
    cum_ovl,
};
pub use labels::{Label, Labels, ProfileIdentity, SavedLabel, SavedLabels, SourceIdentity};
pub use nearness::Nearness;
pub use observations::{Observation, Observations};
pub use open::{
    Calls, OpenError, Opened, Source, difference_note, find_value, open, same_value, value_names,
};
pub use paradox::{Paradox, paradox_of};
pub use runs::Normalisation;
pub use search::{Loaded, Search, SearchError};
pub use spread::{SIGNIFICANT, Sample, Spread};
pub use suggest::{NotASuggester, Suggester};
pub use suggestions::{Suggestion, Suggestions};
pub use zoom::{CUTOFF, End, Nearby, zoom, zoom_trim};
