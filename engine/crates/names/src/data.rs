//! The names of global variables, from symbol tables.

use std::path::Path;

use object::{Object, ObjectSymbol, SymbolKind};

use crate::demangle::readable;
use crate::file::{self, FileError};

/// The variables of one executable or library.
#[derive(Debug, Default)]
pub struct DataTable {
    /// By where they begin, as the linker assigned it: where they end, and the name. Sorted.
    variables: Vec<(u64, u64, String)>,
}

impl DataTable {
    /// Reads the symbols of a file, or those of its separate debug file.
    ///
    /// # Errors
    /// When the file cannot be read, or is not an ELF file for this machine. A file without symbols is not an error.
    pub fn open(path: &Path) -> Result<DataTable, FileError> {
        let cache = file::open(path)?;
        let module = file::parse(path, &cache)?;
        let mut table = DataTable::default();
        table.add(module.symbols().chain(module.dynamic_symbols()));
        if let Some(debug) = file::separate(path, &module)
            && let Ok(cache) = file::open(&debug)
            && let Ok(module) = file::parse(&debug, &cache)
        {
            table.add(module.symbols());
        }
        table.variables.sort();
        table.variables.dedup_by_key(|it| it.0);
        Ok(table)
    }

    fn add<'d, S: ObjectSymbol<'d>>(&mut self, symbols: impl Iterator<Item = S>) {
        let variables = symbols.filter_map(|symbol| {
            let is_variable = symbol.kind() == SymbolKind::Data && symbol.size() > 0;
            let name = symbol.name().ok()?;
            let (start, size) = (symbol.address(), symbol.size());
            let wanted = is_variable && !symbol.is_undefined() && !name.is_empty();
            wanted.then(|| (start, start.saturating_add(size), name.to_owned()))
        });
        self.variables.extend(variables);
    }

    /// The variable at an address as the linker assigned it, as the symbol table names it, and the offset in it.
    pub fn at(&self, address: u64) -> Option<(&str, u64)> {
        let before = self.variables.partition_point(|it| it.0 <= address);
        let (start, end, name) = self.variables.get(before.checked_sub(1)?)?;
        (address < *end).then_some((name, address - start))
    }

    /// The address, as the linker assigned it, of a variable by its readable name, such as `cart_lock` or `table+0x40`. If several variables
    /// have the name, the first one.
    pub fn named(&self, wanted: &str) -> Option<u64> {
        if let Some((start, _)) = self.variable(wanted) {
            return Some(start);
        }
        let (name, offset) = wanted.rsplit_once("+0x")?;
        let offset = u64::from_str_radix(offset, 16).ok()?;
        let (start, end) = self.variable(name)?;
        Some(start.saturating_add(offset)).filter(|address| *address < end)
    }

    fn variable(&self, wanted: &str) -> Option<(u64, u64)> {
        let is_wanted =
            |name: &str| name == wanted || readable(Some(name), None).as_deref() == Some(wanted);
        let found = self.variables.iter().find(|(_, _, name)| is_wanted(name))?;
        Some((found.0, found.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_found_by_any_of_its_bytes() {
        let table = DataTable {
            variables: vec![(16, 56, "cart_lock".into()), (64, 72, "count".into())],
        };
        assert_eq!(table.at(16), Some(("cart_lock", 0)));
        assert_eq!(table.at(55), Some(("cart_lock", 39)));
        assert_eq!(
            (table.at(56), table.at(15), table.at(72)),
            (None, None, None)
        );
        assert_eq!(table.at(64), Some(("count", 0)));
    }

    #[test]
    fn a_name_leads_to_an_address() {
        let table = DataTable {
            variables: vec![
                (16, 56, "cart_lock".into()),
                (64, 104, "_ZN4shop5tableE".into()),
            ],
        };
        for (name, address) in [
            ("cart_lock", Some(16)),
            ("shop::table", Some(64)),
            ("shop::table+0x10", Some(80)),
            ("shop::table+0x28", None),
            ("shop::table+0xzz", None),
            ("lock", None),
        ] {
            assert_eq!(table.named(name), address, "{name}");
        }
    }
}
