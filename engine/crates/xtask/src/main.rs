//! Repository checks and code generation.
fn main() {}
