//! Running programs and recording them: really, or as a script says.

pub(crate) mod recorder;
pub(crate) mod refine;
pub(crate) mod script;
