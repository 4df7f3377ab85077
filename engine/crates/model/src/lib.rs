//! Plain data that every other crate of Fulcrum shares. No I/O, no JSON-RPC.

pub mod causal;
pub mod comparison;
pub mod location;
pub mod target;

pub use location::Location;
pub use target::{TargetId, TargetKind};
