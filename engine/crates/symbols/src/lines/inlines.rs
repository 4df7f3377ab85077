//! Inlined code: finds the call site in scope to which an address belongs whose own file is out of scope.

use gimli::AttributeValue;

use crate::dwarf::flatten::flatten;
use crate::dwarf::units::Extent;
use crate::elf::file::Reader;

/// A call site in scope: the index of its file in the table that is being built, and its line.
pub(crate) type Site = (u32, u32);

/// Sorted, disjoint pieces of code, each with the innermost call site in scope.
pub(crate) struct Inlines(Vec<(u64, u64, Site)>);

impl Inlines {
    /// Reads a unit's entries. `site` returns the call site of a file index and line, if the file is in scope.
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
            let mut extent = Extent::default();
            let (mut file, mut line) = (None, None);
            for &specification in abbreviation.attributes() {
                let attribute = entries.read_attribute(specification)?;
                match attribute.name() {
                    gimli::DW_AT_call_file => {
                        file = match attribute.value() {
                            AttributeValue::FileIndex(index) => Some(index),
                            value => value.udata_value(),
                        }
                    }
                    gimli::DW_AT_call_line => line = attribute.udata_value(),
                    _ => extent.take(dwarf, unit, &attribute)?,
                }
            }
            let (Some(file), Some(line)) = (file, line) else {
                continue;
            };
            let Some(site) = u32::try_from(line).ok().and_then(|line| site(file, line)) else {
                continue;
            };
            let order = painted.len();
            extent.pieces(dwarf, unit, |start, end| {
                painted.push((start, end, order, site));
            })?;
        }
        Ok(Inlines(flatten(painted)))
    }

    /// No inlined code.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_cut_to_the_asked_range() {
        let inlines = Inlines(vec![(10, 20, (0, 1)), (30, 40, (0, 2))]);
        let cut: Vec<_> = inlines.within(15, 35).collect();
        assert_eq!(cut, [(15, 20, (0, 1)), (30, 35, (0, 2))]);
        assert_eq!(inlines.within(20, 30).count(), 0);
    }
}
