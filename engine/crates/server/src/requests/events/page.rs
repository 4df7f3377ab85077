//! How much one answer has.

/// Rows of a table, requests of a queue, and differences in one answer.
pub(crate) const MOST_TABLE: u32 = 10_000;

/// The asked for part of a list, at most [`MOST_TABLE`].
pub(crate) fn page<T>(all: &[T], from: u64, count: u32) -> impl Iterator<Item = &T> {
    let from = usize::try_from(from).unwrap_or(usize::MAX);
    all.iter().skip(from).take(count.min(MOST_TABLE) as usize)
}
