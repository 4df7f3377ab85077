//! Translates the program's instructions into copies that record what they do.

pub(crate) mod copy;
pub(crate) mod emit;
pub(crate) mod gate;
pub(crate) mod lasting;
pub(crate) mod notes;
pub(crate) mod plan;
pub(crate) mod translate;
pub(crate) mod unit;
pub(crate) mod units;
