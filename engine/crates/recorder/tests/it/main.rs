//! The integration tests of `fulcrum-recorder`: one binary, so that they are linked once.

mod binaries;
mod breakpoints;
mod calls;
mod continuation;
mod cut;
mod denied;
mod harmless;
mod hooks;
mod opening;
mod processes;
mod record;
mod sanitized;
mod sections;
mod support;
mod targets;
