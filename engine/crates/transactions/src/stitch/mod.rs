//! One profile of all processes (Whodunit §5 and §7.1, the presentation phase).

mod compare;
mod linked;
mod notes;
mod observed;
mod record;
mod stitched;

pub use compare::{ComparedType, Difference, TypeCost, compare};
pub use fulcrum_stats::Welch;
pub use linked::{Linked, LinkedCost};
pub use observed::{InstanceCost, Observed};
pub use record::{Ending, ProcessRecord};
pub use stitched::{Functions, Share, StageShare, StitchError, Stitched, TypeProfile};
