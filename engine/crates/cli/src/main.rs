//! The `fulcrum` command.
fn main() {}
