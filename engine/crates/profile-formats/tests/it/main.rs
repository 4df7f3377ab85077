//! The integration tests of `fulcrum-profile-formats`: one binary, so that they are linked once.

mod bad_input;
mod corpus;
mod fuzz_corpus;
mod profile_damage;
mod profile_samples;
mod profiles;
mod progress;
