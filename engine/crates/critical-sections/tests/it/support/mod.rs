//! What the tests share: an observer, locks that are hooks, and a way to run code natively and out of line.

pub mod machine;
pub mod random_code;
pub mod told;
