//! What a target's estimates mean: its verdict, its flags, and its place in the ranking.

pub(crate) mod calls;
pub(crate) mod contention;
pub(crate) mod flags;
pub(crate) mod power;
pub(crate) mod rank;
pub(crate) mod shape;
pub(crate) mod verdict;
