//! Inlined code: which call site in scope owns an address whose own file is out of scope.

use std::collections::BinaryHeap;

use gimli::AttributeValue;

use crate::file::Reader;

/// A call site in scope as `(file, line)` indices of the table being built.
pub(crate) type Site = (u32, u32);

/// Pieces of code, sorted and disjoint, with the innermost call site in scope.
pub(crate) struct Inlines(Vec<(u64, u64, Site)>);

impl Inlines {
    /// Walks a unit's entries. `site` gives the call site of a file index and line when that file is in scope.
    pub(crate) fn read<'a>(
        dwarf: &gimli::Dwarf<Reader<'a>>,
        unit: &gimli::Unit<Reader<'a>>,
        mut site: impl FnMut(u64, u32) -> Option<Site>,
    ) -> gimli::Result<Inlines> {
        let mut painted = Vec::new();
        let mut entries = unit.entries_raw(None)?;
        while !entries.is_empty() {
            let Some(abbreviation) = entries.read_abbreviation()? else {
                continue;
            };
            if abbreviation.tag() != gimli::DW_TAG_inlined_subroutine {
                entries.skip_attributes(abbreviation.attributes())?;
                continue;
            }
            let (mut low, mut high, mut ranges) = (None, None, None);
            let (mut file, mut line) = (None, None);
            for &specification in abbreviation.attributes() {
                let attribute = entries.read_attribute(specification)?;
                match attribute.name() {
                    gimli::DW_AT_low_pc => low = dwarf.attr_address(unit, attribute.value())?,
                    gimli::DW_AT_high_pc => high = Some(attribute.value()),
                    gimli::DW_AT_ranges => {
                        ranges = dwarf.attr_ranges_offset(unit, attribute.value())?;
                    }
                    gimli::DW_AT_call_file => {
                        file = match attribute.value() {
                            AttributeValue::FileIndex(index) => Some(index),
                            value => value.udata_value(),
                        }
                    }
                    gimli::DW_AT_call_line => line = attribute.udata_value(),
                    _ => {}
                }
            }
            let (Some(file), Some(line)) = (file, line) else {
                continue;
            };
            let Some(site) = u32::try_from(line).ok().and_then(|line| site(file, line)) else {
                continue;
            };
            let order = painted.len();
            if let Some(offset) = ranges {
                let mut ranges = dwarf.ranges(unit, offset)?;
                while let Some(range) = ranges.next()? {
                    painted.push((range.begin, range.end, order, site));
                }
            } else if let (Some(low), Some(high)) = (low, high) {
                let end = match dwarf.attr_address(unit, high)? {
                    Some(end) => end,
                    None => low.saturating_add(high.udata_value().unwrap_or(0)),
                };
                painted.push((low, end, order, site));
            }
        }
        Ok(Inlines(flatten(painted)))
    }

    /// No inlined code is known.
    pub(crate) fn none() -> Inlines {
        Inlines(Vec::new())
    }

    /// Cuts `start..end` into the pieces that were inlined into code in scope.
    pub(crate) fn within(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64, Site)> {
        let first = self.0.partition_point(|piece| piece.1 <= start);
        self.0[first..]
            .iter()
            .take_while(move |piece| piece.0 < end)
            .map(move |&(from, to, site)| (from.max(start), to.min(end), site))
    }
}

/// Entries come parents first, so where two overlap the later one is the inner one.
fn flatten(mut painted: Vec<(u64, u64, usize, Site)>) -> Vec<(u64, u64, Site)> {
    painted.retain(|piece| piece.0 < piece.1);
    painted.sort_unstable();
    let mut out: Vec<(u64, u64, Site)> = Vec::with_capacity(painted.len());
    let mut open: BinaryHeap<(usize, u64, Site)> = BinaryHeap::new();
    let mut at = 0;
    let mut emit = |from: u64, to: u64, site: Site| {
        match out.last_mut() {
            Some(last) if last.1 == from && last.2 == site => last.1 = to,
            _ if from < to => out.push((from, to, site)),
            _ => {}
        };
    };
    let mut starts = painted.into_iter().peekable();
    loop {
        while open.peek().is_some_and(|inner| inner.1 <= at) {
            open.pop();
        }
        let next = starts.peek().map(|piece| piece.0);
        let Some(&(_, end, site)) = open.peek() else {
            // Nothing is open: jump to the next piece.
            let Some(piece) = starts.next() else { break };
            at = piece.0;
            open.push((piece.2, piece.1, piece.3));
            continue;
        };
        match next {
            Some(start) if start <= at => {
                if let Some(piece) = starts.next() {
                    open.push((piece.2, piece.1, piece.3));
                }
            }
            next => {
                let stop = next.map_or(end, |start| start.min(end));
                emit(at, stop, site);
                at = stop;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_call_sites_cover_outer_ones() {
        let table = [
            (vec![(10, 20, 0, (0, 1))], vec![(10, 20, (0, 1))]),
            (
                vec![(10, 40, 0, (0, 1)), (20, 30, 1, (0, 2))],
                vec![(10, 20, (0, 1)), (20, 30, (0, 2)), (30, 40, (0, 1))],
            ),
            (
                vec![
                    (10, 20, 0, (0, 1)),
                    (10, 20, 1, (0, 2)),
                    (12, 14, 2, (0, 3)),
                ],
                vec![(10, 12, (0, 2)), (12, 14, (0, 3)), (14, 20, (0, 2))],
            ),
            (
                vec![
                    (10, 20, 0, (0, 1)),
                    (20, 30, 1, (0, 1)),
                    (50, 50, 2, (0, 9)),
                ],
                vec![(10, 30, (0, 1))],
            ),
            // Damaged: a child that leaves its parent.
            (
                vec![(10, 20, 0, (0, 1)), (15, 30, 1, (0, 2))],
                vec![(10, 15, (0, 1)), (15, 30, (0, 2))],
            ),
        ];
        for (painted, expected) in table {
            assert_eq!(flatten(painted), expected);
        }
    }

    #[test]
    fn pieces_are_cut_to_the_asked_range() {
        let inlines = Inlines(vec![(10, 20, (0, 1)), (30, 40, (0, 2))]);
        let cut: Vec<_> = inlines.within(15, 35).collect();
        assert_eq!(cut, [(15, 20, (0, 1)), (30, 35, (0, 2))]);
        assert_eq!(inlines.within(20, 30).count(), 0);
    }
}
