//! `damage FILE COPIES SEED`: the memory of reading a recording, prefixes of it, and damaged copies, for `npm run bench -- damage`.
//! Prints one object of JSON. Memory is what is allocated at once, the file's bytes included.

#![forbid(unsafe_code)]

use std::env;
use std::error::Error;
use std::fs;

use fulcrum_profile_formats::read;
use fulcrum_stats::Random;
use peak_alloc::PeakAlloc;
use serde_json::json;

#[path = "../tests/it/damage.rs"]
mod damage;

use damage::damage;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: damage FILE COPIES SEED";
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [file, copies, seed] = arguments.try_into().map_err(|_| usage)?;
    let (copies, seed): (usize, u64) = (copies.parse()?, seed.parse()?);
    let whole = fs::read(file)?;
    let (memory, _) = peak_of(&whole);
    let mut random = Random::new(seed);
    let prefixes = (0..copies).map(|n| {
        let end = whole.len() * n / copies;
        (format!("the first {end} bytes"), whole[..end].to_vec())
    });
    let damaged = (0..copies).map(|n| {
        let mut bytes = whole.clone();
        (0..=random.below(4)).for_each(|_| damage(&mut bytes, &mut random));
        (format!("damaged copy {n} of seed {seed}"), bytes)
    });
    let (mut most, mut how, mut read) = (0, String::new(), 0);
    for (name, bytes) in prefixes.chain(damaged) {
        let (memory, is_profile) = peak_of(&bytes);
        read += u64::from(is_profile);
        if memory > most {
            (most, how) = (memory, name);
        }
    }
    println!(
        "{}",
        json!({ "whole": memory, "copies": 2 * copies, "read": read, "most": most, "how": how })
    );
    Ok(())
}

/// Bytes of memory at the most while these bytes are read, these included, and whether they are a profile.
fn peak_of(bytes: &[u8]) -> (usize, bool) {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let is_profile = read(bytes, "damaged").is_ok();
    (MEMORY.peak_usage() - before + bytes.len(), is_profile)
}
