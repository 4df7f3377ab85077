//! Plain data that every other crate of Fulcrum shares. No I/O, no JSON-RPC.

pub mod call_graph;
pub mod call_tree;
pub mod causal;
pub mod comparison;
pub mod location;
pub mod target;
pub mod text;
pub mod watch;

pub use call_graph::CallGraph;
pub use call_tree::{CallTree, CallTreeBuilder};
pub use location::Location;
pub use target::{TargetId, TargetKind};
pub use watch::{Stopped, Watch};
