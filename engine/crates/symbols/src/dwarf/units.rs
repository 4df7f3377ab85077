//! Units of debug information: finds their entries, and the code that an entry describes.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use gimli::AttributeValue;
use object::Object as _;

use crate::dwarf::paths;
use crate::elf::file::{self, Dwarf, Reader};

/// Finds the entries that `-gsplit-dwarf` puts into separate files: `.dwo` next to the objects, or one `.dwp` next to the module.
pub(crate) struct Split {
    module: PathBuf,
    /// The module's `.dwp`, if it has one. Loaded on first use.
    package: OnceCell<Option<Package>>,
    /// The number of units whose entries were not found.
    pub(crate) missing: usize,
}

type Package = gimli::DwarfPackageSections<Vec<u8>>;

impl Split {
    /// For the units of a module.
    pub(crate) fn new(module: &Path) -> Split {
        Split {
            module: module.into(),
            package: OnceCell::new(),
            missing: 0,
        }
    }

    /// Passes the unit with the entries to `read`: this one, or its split half. `None` if that is missing.
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
        for path in self.beside(&folder, &name) {
            let Ok(cache) = file::open(&path) else {
                continue;
            };
            let Some(sections) = file::parse(&path, &cache)
                .ok()
                .and_then(|module| Dwarf::load_split(&path, &module).ok())
            else {
                continue;
            };
            let mut split = sections.reader();
            split.make_dwo(dwarf);
            if let Some(other) = half(&split, unit)? {
                return read(&split, &other).map(Some);
            }
        }
        let package = self.package.get_or_init(|| load_package(&self.module));
        if let (Some(package), Some(id)) = (package, unit.dwo_id) {
            let empty = gimli::EndianSlice::new(&[], gimli::NativeEndian);
            let package = package.borrow(
                |section| gimli::EndianSlice::new(section, gimli::NativeEndian),
                empty,
            )?;
            if let Some(split) = package.find_cu(id, dwarf)?
                && let Some(other) = half(&split, unit)?
            {
                return read(&split, &other).map(Some);
            }
        }
        self.missing += 1;
        Ok(None)
    }

    /// The possible paths of a `.dwo` file: where it was compiled, or next to the module.
    fn beside(&self, folder: &str, name: &str) -> Vec<PathBuf> {
        let mut places = vec![PathBuf::from(paths::join(folder, "", name))];
        if let (Some(here), Some(file)) = (self.module.parent(), Path::new(name).file_name()) {
            places.push(here.join(name));
            places.push(here.join(file));
        }
        places
    }
}

/// Finds the unit that belongs to a skeleton.
fn half<'b>(
    split: &gimli::Dwarf<Reader<'b>>,
    skeleton: &gimli::Unit<Reader<'b>>,
) -> gimli::Result<Option<gimli::Unit<Reader<'b>>>> {
    let mut headers = split.units();
    while let Some(header) = headers.next()? {
        let mut other = split.unit(header)?;
        if other.dwo_id == skeleton.dwo_id {
            other.copy_relocated_attributes(skeleton);
            return Ok(Some(other));
        }
    }
    Ok(None)
}

fn load_package(module: &Path) -> Option<Package> {
    let mut path = module.as_os_str().to_owned();
    path.push(".dwp");
    let path = PathBuf::from(path);
    let cache = file::open(&path).ok()?;
    let parsed = file::parse(&path, &cache).ok()?;
    gimli::DwarfPackageSections::load(|id| {
        let section = id.dwo_name().and_then(|name| parsed.section_by_name(name));
        let data = section.map(|section| file::contents(&path, &section));
        Ok::<_, gimli::Error>(data.and_then(Result::ok).unwrap_or_default().into_owned())
    })
    .ok()
}

/// The addresses of an entry's code, from its attributes.
#[derive(Default)]
pub(crate) struct Extent<'a> {
    low: Option<u64>,
    high: Option<AttributeValue<Reader<'a>>>,
    ranges: Option<gimli::RangeListsOffset<usize>>,
}

impl<'a> Extent<'a> {
    /// Keeps an attribute that says where code is.
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

    /// Whether the entry has code.
    pub(crate) fn is_some(&self) -> bool {
        self.ranges.is_some() || (self.low.is_some() && self.high.is_some())
    }

    /// Calls `piece` with every non-empty range of addresses, in the order of the debug information.
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
