//! Objects that events are about, and their classes.

pub(crate) mod classes;
pub(crate) mod tags;
