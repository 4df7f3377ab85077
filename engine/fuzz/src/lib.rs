//! Fuzz targets for the readers of profiles: one for each format, and one that detects the format.
//!
//! `npm run bench -- fuzz` runs them. A test of `fulcrum-profile-formats` reads their corpora too, and damages each file a fixed
//! number of times, without a nightly toolchain.

mod check;

pub use fulcrum_profile_formats::Format;

/// Reads bytes in this format, whatever they look like, and checks the result.
pub fn reader(format: Format, bytes: &[u8]) {
    check::reader(format, bytes);
}

/// Detects the format of bytes, reads them, and checks the result.
pub fn detection(bytes: &[u8]) {
    check::detection(bytes);
}
