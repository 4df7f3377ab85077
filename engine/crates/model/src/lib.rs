//! Plain data that every other crate of Fulcrum shares. No I/O, no JSON-RPC.

#![forbid(unsafe_code)]

mod both;
pub mod call_graph;
pub mod call_tree;
pub mod causal;
pub mod comparison;
mod digest;
pub mod hashing;
pub mod location;
pub mod progress;
mod read_error;
pub mod target;
pub mod text;

pub use both::both;
pub use call_graph::CallGraph;
pub use call_tree::{CallTree, CallTreeBuilder};
pub use digest::{Digest, digest};
/// What the numbers of a causal profile are known to; here, so that a reader of profiles needs no statistics.
pub use fulcrum_stats::Interval;
pub use location::Location;
pub use progress::{Cancelled, Progress, ProgressListener};
pub use read_error::{Place, ReadError};
pub use target::{TargetId, TargetKind};
