//! The run store: `.fulcrum/runs/<utc-time>-<name>/` with a manifest, data files and source snapshots.
//!
//! Writing is crash-safe. Data files only grow by whole records, and everything else is written beside its place, synced and
//! renamed. Reading takes what is there: a run without a manifest, or with a broken one, still loads from its data.

#![forbid(unsafe_code)]

mod atomic;
mod chain;
mod error;
mod folder;
mod layout;
mod load;
mod manifest;
mod place;
mod store;
mod time;

pub use chain::CONTINUES;
pub use error::RunError;
pub use folder::RunFolder;
pub use load::{LoadError, LoadedCausal, describe, load_causal};
pub use manifest::{
    Ended, FirstVerdict, Manifest, PricedSection, Recorder, RunKind, SourceSnapshot, Tool,
};
pub use store::{RunInfo, latest, list, runs_folder, stored};
pub use time::{now_rfc3339, rfc3339};
