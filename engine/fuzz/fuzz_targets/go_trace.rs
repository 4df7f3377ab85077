#![no_main]

use fulcrum_fuzz::{Format, reader};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    reader(Format::GoTrace, bytes);
});
