//! Where the functions of a run are in the source, as its debug information says.

use std::collections::{BTreeMap, BTreeSet};

use crate::names::NameFile;

/// A line of a function that ran.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FunctionPlace {
    /// The source file.
    pub file: String,
    /// The first of its lines that is known, from 1. The function begins there or somewhat before.
    pub line: u32,
}

/// The functions of a run by name.
#[derive(Clone, Debug, Default)]
pub struct Functions(BTreeMap<String, BTreeSet<FunctionPlace>>);

impl Functions {
    /// Where functions of this name are: one place for each file, by name.
    pub fn places(&self, name: &str) -> impl Iterator<Item = &FunctionPlace> {
        self.0.get(name).into_iter().flatten()
    }

    pub(crate) fn add(&mut self, names: &NameFile) {
        let frames = names.processes.iter().flat_map(|it| it.code.values());
        let mut first: BTreeMap<(&str, &str), u32> = BTreeMap::new();
        for frame in frames.flatten() {
            if let (Some(file), Some(line)) = (&frame.file, frame.line) {
                let known = first.entry((&frame.name, file)).or_insert(line);
                *known = line.min(*known);
            }
        }
        for ((name, file), line) in first {
            let places = self.0.entry(name.into()).or_default();
            places.insert(FunctionPlace {
                file: file.into(),
                line,
            });
        }
    }
}
