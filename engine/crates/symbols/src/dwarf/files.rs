//! The source files of line tables: which are in scope, each under one name.

use std::collections::HashMap;

use crate::Scope;
use crate::dwarf::paths;
use crate::elf::file::Reader;

/// The files in scope, numbered in the order in which they occur.
pub(crate) struct Files<'s> {
    scope: &'s Scope,
    /// The paths of the files in scope.
    pub(crate) names: Vec<String>,
    /// Every path that occurred, with its index if it is in scope.
    known: HashMap<String, Option<u32>>,
}

impl<'s> Files<'s> {
    pub(crate) fn new(scope: &'s Scope) -> Files<'s> {
        Files {
            scope,
            names: Vec::new(),
            known: HashMap::new(),
        }
    }

    /// A unit's file table, by the index that rows and call sites use. `None` for files out of scope.
    pub(crate) fn of_unit<'a>(
        &mut self,
        dwarf: &gimli::Dwarf<Reader<'a>>,
        unit: &gimli::Unit<Reader<'a>>,
        header: &gimli::LineProgramHeader<Reader<'a>>,
    ) -> Vec<Option<u32>> {
        let text = |value| {
            let reader = dwarf.attr_string(unit, value).ok()?;
            Some(reader.to_string_lossy())
        };
        let folder = unit
            .comp_dir
            .map(|folder| folder.to_string_lossy())
            .unwrap_or_default();
        let first = u64::from(header.version() < 5);
        let count = header.file_names().len() as u64;
        let mut files = vec![None; first as usize];
        for index in first..first + count {
            let found = header.file(index).and_then(|entry| {
                let name = text(entry.path_name())?;
                // Directory 0 is the compilation directory itself. Before DWARF 5 it has no entry.
                let directory = match entry.directory(header) {
                    Some(value) => text(value)?,
                    None => Default::default(),
                };
                self.file(paths::join(&folder, &directory, &name))
            });
            files.push(found);
        }
        files
    }

    fn file(&mut self, path: String) -> Option<u32> {
        if let Some(&known) = self.known.get(&path) {
            return known;
        }
        let index = self
            .scope
            .contains(&path)
            .then(|| paths::on_disk(path.clone()));
        let index = index.and_then(|real| {
            if real == path {
                return self.add(real);
            }
            if let Some(&known) = self.known.get(&real) {
                return known;
            }
            // A symbolic link may lead out of the scope.
            let index = if self.scope.contains(&real) {
                self.add(real.clone())
            } else {
                None
            };
            self.known.insert(real, index);
            index
        });
        self.known.insert(path, index);
        index
    }

    fn add(&mut self, path: String) -> Option<u32> {
        let index = u32::try_from(self.names.len()).ok()?;
        self.names.push(path);
        Some(index)
    }
}
