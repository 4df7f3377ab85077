//! Requests about one text document: those of LSP that editors send by themselves, and the gutter's. One file a request.

pub(crate) mod code_action;
pub(crate) mod completion;
pub(crate) mod hover;
pub(crate) mod inlay_hint;
pub(crate) mod line_speedups;
pub(crate) mod progress_point;
pub(crate) mod standard;
