//! The sampling signal, which the program may use too: our handler, and what the program believes about it.

pub(crate) mod handler;
pub(crate) mod held;
pub(crate) mod place;
pub(crate) mod program_view;
