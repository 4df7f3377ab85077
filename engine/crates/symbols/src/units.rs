//! Units of debug information: where their entries are, and the code that an entry describes.

use std::path::Path;

use gimli::AttributeValue;

use crate::file::{self, Dwarf, Reader};
use crate::paths;

/// Entries that `-gsplit-dwarf` put into files of their own.
#[derive(Default)]
pub(crate) struct Split {
    /// How many of those files were not found.
    pub(crate) missing: usize,
}

impl Split {
    /// Hands the unit that holds the entries to `read`: this one, or its other half. `None` when that is missing.
    pub(crate) fn entries<'a, T>(
        &mut self,
        dwarf: &gimli::Dwarf<Reader<'a>>,
        unit: &gimli::Unit<Reader<'a>>,
        read: impl for<'b> FnOnce(
            &gimli::Dwarf<Reader<'b>>,
            &gimli::Unit<Reader<'b>>,
        ) -> gimli::Result<T>,
    ) -> gimli::Result<Option<T>> {
        let Some(name) = unit.dwo_name()? else {
            return read(dwarf, unit).map(Some);
        };
        let name = dwarf.attr_string(unit, name)?.to_string_lossy();
        let folder = unit
            .comp_dir
            .map(|folder| folder.to_string_lossy())
            .unwrap_or_default();
        let path = paths::join(&folder, "", &name);
        let path = Path::new(&path);
        let cache = file::open(path);
        let sections = cache.as_ref().ok().and_then(|cache| {
            let module = file::parse(path, cache).ok()?;
            Dwarf::load_split(path, &module).ok()
        });
        let Some(sections) = sections else {
            self.missing += 1;
            return Ok(None);
        };
        let mut split = sections.reader();
        split.make_dwo(dwarf);
        let mut headers = split.units();
        while let Some(header) = headers.next()? {
            let mut other = split.unit(header)?;
            if other.dwo_id == unit.dwo_id {
                other.copy_relocated_attributes(unit);
                return read(&split, &other).map(Some);
            }
        }
        self.missing += 1;
        Ok(None)
    }
}

/// The code of an entry, from its attributes.
#[derive(Default)]
pub(crate) struct Extent<'a> {
    low: Option<u64>,
    high: Option<AttributeValue<Reader<'a>>>,
    ranges: Option<gimli::RangeListsOffset<usize>>,
}

impl<'a> Extent<'a> {
    /// Takes the attribute when it says where code is.
    pub(crate) fn take(
        &mut self,
        dwarf: &gimli::Dwarf<Reader<'a>>,
        unit: &gimli::Unit<Reader<'a>>,
        attribute: &gimli::Attribute<Reader<'a>>,
    ) -> gimli::Result<()> {
        match attribute.name() {
            gimli::DW_AT_low_pc => self.low = dwarf.attr_address(unit, attribute.value())?,
            gimli::DW_AT_high_pc => self.high = Some(attribute.value()),
            gimli::DW_AT_ranges => {
                self.ranges = dwarf.attr_ranges_offset(unit, attribute.value())?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether the entry has code at all.
    pub(crate) fn is_some(&self) -> bool {
        self.ranges.is_some() || (self.low.is_some() && self.high.is_some())
    }

    /// Calls `piece` with every range of addresses, in the order given; none is empty.
    pub(crate) fn pieces(
        &self,
        dwarf: &gimli::Dwarf<Reader<'a>>,
        unit: &gimli::Unit<Reader<'a>>,
        mut piece: impl FnMut(u64, u64),
    ) -> gimli::Result<()> {
        if let Some(offset) = self.ranges {
            let mut ranges = dwarf.ranges(unit, offset)?;
            while let Some(range) = ranges.next()? {
                if range.begin < range.end {
                    piece(range.begin, range.end);
                }
            }
        } else if let (Some(low), Some(high)) = (self.low, self.high) {
            let end = match dwarf.attr_address(unit, high)? {
                Some(end) => end,
                None => low.saturating_add(high.udata_value().unwrap_or(0)),
            };
            if low < end {
                piece(low, end);
            }
        }
        Ok(())
    }
}
