//! Causal profiles: what was recorded (experiments) and what was concluded (slopes). COZ §2.

mod note;
mod profile;
mod recording;

pub use note::{LeftOut, LeftOutReason, NoResult, Note, PauseCost, Uncorrected};
pub use profile::{
    CallDoes, CausalProfile, Flag, InCall, Point, PointKind, PointProfile, Shape, Target,
};
pub use recording::{
    CallTime, Count, END_TO_END, Experiment, Holder, KERNEL, Recording, Stream, Visits,
    is_end_to_end,
};
