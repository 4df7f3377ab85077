//! Bottleneck search: the types of `fulcrum/navigator/*`.
//!
//! Costs are whole numbers in the profile's `unit`. In a comparison a cost is A - B, where A is what is looked at; `sides`
//! tells both. Paths are lists of names, outermost first.

mod flame;
mod places;
mod session;
mod view;

pub use flame::*;
pub use places::*;
pub use session::*;
pub use view::*;
