//! Source locations of a run's functions, from debug information.

use std::collections::{BTreeMap, BTreeSet};

use crate::names::NameFile;

/// A place in the source where a function ran.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FunctionPlace {
    /// The source file.
    pub file: String,
    /// The first known line of the function that ran, from 1. The function begins there or somewhat earlier.
    pub line: u32,
}

/// The functions of a run by name.
#[derive(Clone, Debug, Default)]
pub struct Functions(BTreeMap<String, BTreeSet<FunctionPlace>>);

impl Functions {
    /// The places of functions with this name: one for each file, sorted by file.
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
