//! One profile of all processes (Whodunit §5 and §7.1, the presentation phase).

mod notes;
mod record;
mod stitched;

pub use record::{Ending, ProcessRecord};
pub use stitched::{Share, StageShare, StitchError, Stitched, TypeProfile};
