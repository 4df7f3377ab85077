//! In a process of its own, because it looks at the memory of the whole process.
#![cfg(target_env = "gnu")]

use std::fs;
use std::hint::black_box;

use fulcrum_memory::reuse_freed;

const BLOCKS: usize = 4;
const BLOCK: usize = 12 << 20;
const HALF: usize = BLOCKS * BLOCK / 2;

/// How many bytes of this process are in memory.
fn resident() -> usize {
    let text = fs::read_to_string("/proc/self/status").expect("procfs");
    let rest = text.split("VmRSS:").nth(1).expect("it is there");
    let kilobytes = rest.split_whitespace().next().expect("a number");
    kilobytes.parse::<usize>().expect("a number") << 10
}

#[test]
fn freed_memory_stays_until_nobody_uses_it_again() {
    let before = resident();
    let (one, other) = (reuse_freed(), reuse_freed());
    let blocks = black_box([BLOCK; BLOCKS].map(|size| vec![1_u8; size]));
    // What is free behind the last block of a thread's own heap is never given back.
    let behind = black_box(vec![1_u8; 64 << 10]);
    drop(blocks);
    drop(one);
    assert!(resident() > before + HALF, "it is kept for the other");
    drop(other);
    assert!(resident() < before + HALF, "it went back");
    drop(behind);
}
