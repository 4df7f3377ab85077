//! Files that no reader reads: what they are, and how to get a profile from them.

mod elsewhere;
pub(crate) mod foreign;
