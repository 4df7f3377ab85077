//! Shared by the tests: an observer, hooked locks, and a way to run code natively and out of line.

pub(crate) mod machine;
pub(crate) mod observer;
pub(crate) mod random_code;
