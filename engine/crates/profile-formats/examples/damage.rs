//! `damage FILE COPIES SEED`: the memory of reading a recording, of prefixes of it, and of damaged copies, for
//! `npm run bench -- damage`. Prints one object of JSON. Memory is what is allocated at once, the file's bytes included.

use std::alloc::{GlobalAlloc, Layout, System};
use std::env;
use std::error::Error;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use fulcrum_profile_formats::read;
use fulcrum_stats::Random;
use serde_json::{Value, json};

struct Counting;

/// Bytes that are allocated, and the most of them since [`peak_of`] began. Readers have threads.
static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn add(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(live, Relaxed);
}

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller's contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // The old and the new bytes exist at once, unless the allocator can grow in place.
        add(size);
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Numbers that break readers that believe them.
const TOKENS: [&[u8]; 8] = [
    b"-1",
    b"1e999",
    b"4294967295",
    b"18446744073709551615",
    b"\xff\xff\xff\xff\x0f",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
    b"[[[[[[[[",
    b"\0\0\0\0\0\0\0\0",
];

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: damage FILE COPIES SEED";
    let [file, copies, seed] = env::args()
        .skip(1)
        .collect::<Vec<_>>()
        .try_into()
        .map_err(|_| usage)?;
    let (copies, seed): (u64, u64) = (copies.parse()?, seed.parse()?);
    let whole = fs::read(file)?;
    let (memory, ok) = peak_of(&whole);
    let mut worst = (0, Value::Null);
    let mut read = 0;
    let mut random = Random::new(seed);
    for copy in 0..2 * copies {
        let (how, bytes) = if copy < copies {
            let end = (whole.len() as u64 * copy / copies) as usize;
            (format!("the first {end} bytes"), whole[..end].to_vec())
        } else {
            damage(&whole, &mut random)
        };
        let (memory, ok) = peak_of(&bytes);
        read += u64::from(ok);
        if memory > worst.0 {
            worst = (memory, json!(how));
        }
    }
    let (most, how) = worst;
    println!(
        "{}",
        json!({
            "bytes": whole.len(), "whole": memory, "readWhole": ok, "copies": 2 * copies, "read": read, "most": most, "how": how,
        })
    );
    Ok(())
}

/// Bytes of memory at the most while these bytes are read, these included, and whether they are a profile.
fn peak_of(bytes: &[u8]) -> (usize, bool) {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let ok = read(bytes, "damaged").is_ok();
    (PEAK.load(Relaxed) - before + bytes.len(), ok)
}

/// A copy with one to four pieces changed, left out, doubled, or moved.
fn damage(whole: &[u8], random: &mut Random) -> (String, Vec<u8>) {
    let mut bytes = whole.to_vec();
    let mut how = Vec::new();
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            break;
        }
        let at = random.index(bytes.len());
        let most = (bytes.len() - at).min(1 << random.below(16));
        let length = 1 + random.index(most);
        let piece = at..at + length;
        match random.below(5) {
            0 => {
                bytes[at] ^= 1 << random.below(8);
                how.push(format!("a bit of byte {at}"));
            }
            1 => {
                let token = TOKENS[random.index(TOKENS.len())];
                let end = (at + token.len()).min(bytes.len());
                bytes.splice(at..end, token.iter().copied());
                how.push(format!(
                    "{:?} at byte {at}",
                    token.escape_ascii().to_string()
                ));
            }
            2 => {
                bytes.drain(piece);
                how.push(format!("{length} bytes missing at byte {at}"));
            }
            3 => {
                let copied = bytes[piece].to_vec();
                let to = random.index(bytes.len());
                bytes.splice(to..to, copied);
                how.push(format!("{length} bytes of byte {at} at byte {to} again"));
            }
            _ => {
                bytes[piece].fill(0);
                how.push(format!("{length} zeros at byte {at}"));
            }
        }
    }
    (how.join(", "), bytes)
}
