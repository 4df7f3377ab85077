//! Shared by the tests: an observer, hooked locks, and a way to run code natively and out of line.

pub mod machine;
pub mod observer;
pub mod random_code;
