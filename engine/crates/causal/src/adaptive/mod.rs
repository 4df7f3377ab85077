//! What a run does next: which targets to test first, which to test more often, and when to stop.

pub(crate) mod anytime;
pub(crate) mod choice;
pub(crate) mod opening;
