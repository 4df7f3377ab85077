//! Causal profiles: the open one, the files that it points into, and how its results are worded and drawn.

pub(crate) mod call_wording;
pub(crate) mod facts;
pub(crate) mod live;
pub(crate) mod plot;
pub(crate) mod profile;
pub(crate) mod sources;
pub(crate) mod wording;
