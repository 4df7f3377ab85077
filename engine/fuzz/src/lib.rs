//! Fuzz targets for the readers of profiles: one a format, and one that detects the format.
//!
//! `npm run bench -- fuzz` runs them. Their corpora are also read, and mutated a fixed number of times, by a test of
//! `fulcrum-profile-formats` that needs no nightly toolchain.

mod check;

pub use check::{detection, reader};
pub use fulcrum_profile_formats::Format;
