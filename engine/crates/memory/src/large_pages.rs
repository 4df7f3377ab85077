//! Memory in large pages, for columns that are read all over.
//!
//! A tree of ten million nodes takes hundreds of megabytes, and a search visits nodes that are far apart in it. In pages of 4 KiB the
//! processor then looks up a page's place in memory for nearly every node, which takes as long as reading the node.

use std::mem::size_of;

/// In bytes: the size of a large page on most processors.
const LARGE_PAGE: usize = 2 << 20;

/// In bytes: the allocator maps at least so large blocks alone, so that nothing else gets pages of another size, and an unmapped block
/// takes the advice along. While freed memory is kept ([`crate::reuse_freed`]), such blocks come from the heap instead: what is
/// allocated there later gets large pages as well.
const ALONE: usize = 32 << 20;

/// The vector, its memory in large pages where it has at least 32 MiB of room and the kernel has such pages to give. What has been
/// written already stays where it is, so it should be new: empty, or of zeros that nobody has touched.
pub fn in_large_pages<T>(vector: Vec<T>) -> Vec<T> {
    let bytes = vector.capacity() * size_of::<T>();
    if bytes >= ALONE {
        let start = vector.as_ptr() as usize;
        let first = start.next_multiple_of(LARGE_PAGE);
        let length = start + bytes - first;
        // SAFETY: the whole range belongs to the vector. The advice changes no contents. Without large pages it has no effect, and
        // then everything works as before.
        unsafe {
            libc::madvise(first as *mut libc::c_void, length, libc::MADV_HUGEPAGE);
        }
    }
    vector
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The flags of the mapping that holds this address.
    fn flags_at(address: usize) -> String {
        let text = fs::read_to_string("/proc/self/smaps").expect("procfs");
        let holds = |line: &str| {
            let (range, _) = line.split_once(' ')?;
            let (start, end) = range.split_once('-')?;
            let parse = |it| usize::from_str_radix(it, 16).ok();
            Some((parse(start)?..parse(end)?).contains(&address))
        };
        let lines = text
            .lines()
            .skip_while(|line| holds(line) != Some(true))
            .skip(1);
        let flags = lines
            .filter_map(|line| line.strip_prefix("VmFlags:"))
            .next();
        flags.expect("the address is mapped").to_owned()
    }

    fn asks_for_large_pages(flags: &str) -> bool {
        flags.split_whitespace().any(|flag| flag == "hg")
    }

    #[test]
    fn large_vectors_ask_for_large_pages_and_keep_their_contents() {
        let large = in_large_pages(vec![0_u32; ALONE / 4]);
        let middle = &raw const large[large.len() / 2] as usize;
        assert!(asks_for_large_pages(&flags_at(middle)));
        assert!(large.iter().all(|&it| it == 0));
        let room = in_large_pages(Vec::<u64>::with_capacity(ALONE / 8));
        assert!(asks_for_large_pages(&flags_at(
            room.as_ptr() as usize + ALONE / 2
        )));
        assert!(room.is_empty());
    }

    #[test]
    fn small_vectors_stay_as_they_are() {
        let small = in_large_pages(vec![1_u8; ALONE / 2]);
        let middle = &raw const small[small.len() / 2] as usize;
        assert!(!asks_for_large_pages(&flags_at(middle)));
        assert_eq!(in_large_pages(vec![1, 2, 3]), [1, 2, 3]);
    }
}
