//! The integration tests of `fulcrum-profile-formats`, in one binary, which links them once.

mod bad_input;
mod corpus;
mod fuzz_corpus;
mod profile_damage;
mod profile_samples;
mod profiles;
mod progress;
