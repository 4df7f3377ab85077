//! Freed memory, used again.
//!
//! Reading a large profile takes and frees hundreds of blocks of megabytes. The allocator gives each of them back to the kernel, which
//! clears every page before it hands it out again: a tenth of the time of reading ten million nodes.

use std::sync::{Mutex, PoisonError};

use crate::in_large_pages;

/// In bytes. Up to this size, blocks come from memory that was freed before.
const MOST: i32 = 1 << 30;

/// In bytes: the most that older versions of glibc allow.
const MOST_OF_OLD: i32 = 32 << 20;

/// In bytes. So much is asked for in large pages, and freed at once, so that what comes next is taken from it: for a profile of a
/// megabyte, the kernel's work on ten thousand small pages is a fourth of the time. Any thread's own heap has room for it.
const FIRST: usize = 48 << 20;

/// In bytes: what the allocator's thresholds become by themselves in a program that frees large blocks.
const USUAL_BLOCK: i32 = 32 << 20;
const USUAL_REST: i32 = 2 * USUAL_BLOCK;

/// How many [`Reuse`] there are.
static USERS: Mutex<usize> = Mutex::new(0);

/// While this lives, the process keeps what it frees, and uses it again. Then what is free goes back to the kernel, except at the end of
/// the heaps of threads other than the first, which keep up to 64 MB each until they are used again.
#[must_use = "memory is used again only while this lives"]
#[derive(Debug)]
pub struct Reuse(());

/// Begins to use freed memory again, in all threads. For work that takes seconds and frees most of what it takes.
pub fn reuse_freed() -> Reuse {
    let mut users = USERS.lock().unwrap_or_else(PoisonError::into_inner);
    *users += 1;
    if *users == 1 {
        set_thresholds(MOST, i32::MAX);
    }
    drop(in_large_pages(Vec::<u8>::with_capacity(FIRST)));
    Reuse(())
}

impl Drop for Reuse {
    fn drop(&mut self) {
        let mut users = USERS.lock().unwrap_or_else(PoisonError::into_inner);
        *users -= 1;
        if *users == 0 {
            set_thresholds(USUAL_BLOCK, USUAL_REST);
            give_back();
        }
    }
}

/// Blocks of at least `block` bytes are mapped alone; more than `rest` free bytes at the end of the heap go back to the kernel.
#[cfg(target_env = "gnu")]
fn set_thresholds(block: i32, rest: i32) {
    // SAFETY: both only tell the allocator when to ask the kernel. glibc changes them with a lock held, and other threads that allocate
    // read either the old number or the new one. A value that it refuses changes nothing.
    unsafe {
        if libc::mallopt(libc::M_MMAP_THRESHOLD, block) == 0 {
            libc::mallopt(libc::M_MMAP_THRESHOLD, block.min(MOST_OF_OLD));
        }
        libc::mallopt(libc::M_TRIM_THRESHOLD, rest);
    }
}

#[cfg(target_env = "gnu")]
fn give_back() {
    // SAFETY: only free memory goes.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Other allocators have rules of their own.
#[cfg(not(target_env = "gnu"))]
fn set_thresholds(_block: i32, _rest: i32) {}

#[cfg(not(target_env = "gnu"))]
fn give_back() {}
