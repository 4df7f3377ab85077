//! From a sample's addresses to a line (COZ §3.4.2): the first in-scope address, innermost first.

use fulcrum_wire::Range;

/// `PERF_CONTEXT_*` markers in a perf callchain are the last 4095 values.
const FIRST_MARKER: u64 = -4095_i64 as u64;

/// The line that holds an address. `ranges` are sorted by start and disjoint.
pub fn line_at(ranges: &[Range], address: u64) -> Option<u32> {
    let after = ranges.partition_point(|range| range.start <= address);
    let range = ranges[..after].last()?;
    (address < range.end).then_some(range.line)
}

/// The line to which a sample belongs: that of the sampled instruction if it is in scope, otherwise that of the
/// innermost call site that is. Callers' addresses are return addresses, so the call is one byte before.
pub fn attribute(
    ranges: &[Range],
    instruction: u64,
    chain: impl Iterator<Item = u64>,
) -> Option<u32> {
    if let Some(line) = line_at(ranges, instruction) {
        return Some(line);
    }
    let mut addresses = chain.filter(|address| *address < FIRST_MARKER && *address != 0);
    let innermost = addresses.next()?;
    line_at(ranges, innermost)
        .or_else(|| addresses.find_map(|address| line_at(ranges, address - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn range(start: u64, end: u64, line: u32) -> Range {
        Range {
            start,
            end,
            line,
            unused: 0,
        }
    }

    const RANGES: [Range; 3] = [range(10, 20, 1), range(20, 25, 2), range(40, 50, 1)];
    const USER: u64 = -512_i64 as u64;

    #[test]
    fn an_address_belongs_to_the_range_that_holds_it() {
        for (address, line) in [
            (9, None),
            (10, Some(1)),
            (19, Some(1)),
            (20, Some(2)),
            (24, Some(2)),
            (25, None),
            (40, Some(1)),
            (50, None),
        ] {
            assert_eq!(line_at(&RANGES, address), line, "{address}");
        }
        assert_eq!(line_at(&[], 10), None);
    }

    #[test]
    fn a_sample_belongs_to_the_first_address_in_scope() {
        let cases: [(u64, &[u64], Option<u32>); 6] = [
            (12, &[USER, 12, 41], Some(1)),
            (99, &[USER, 99, 21, 41], Some(2)),
            (99, &[USER, 99, 98, 41], Some(1)),
            // A call in the last instruction of line 2 returns to the first address after it.
            (99, &[USER, 99, 25], Some(2)),
            // In the kernel: the innermost user address is where the program stands.
            (u64::MAX - 5000, &[USER, 20, 41], Some(2)),
            (99, &[USER, 99, 0, 5], None),
        ];
        for (ip, chain, line) in cases {
            assert_eq!(
                attribute(&RANGES, ip, chain.iter().copied()),
                line,
                "{chain:?}"
            );
        }
    }
}
