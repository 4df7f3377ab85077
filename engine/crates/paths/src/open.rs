//! From what readers make of files to a profile that can be searched.

use std::fmt;
use std::sync::Arc;

use fulcrum_model::call_graph::CallGraphError;
use fulcrum_model::call_tree::ValueType;
use fulcrum_model::{CallGraph, CallTree};

use crate::any::AnyProfile;
use crate::call_graph::CallGraphProfile;
use crate::call_tree::CallTreeProfile;
use crate::comparative::{ComparativeProfile, DifferentUnits};
use crate::labels::{ProfileIdentity, SourceIdentity};
use crate::runs::Normalisation;

/// A file that was read.
#[derive(Clone, Debug)]
pub struct Source {
    /// What tells it apart.
    pub identity: SourceIdentity,
    /// What it holds.
    pub calls: Calls,
    /// The position of the value type to search when none is asked for.
    pub default_value: usize,
}

/// What a profile knows about calls.
#[derive(Clone, Debug)]
pub enum Calls {
    /// Contexts.
    Tree(Arc<CallTree>),
    /// Functions and single calls, one graph for each value type.
    Graphs(Vec<CallGraph>),
}

impl Source {
    /// The value types, in the file's order.
    pub fn value_types(&self) -> Vec<&ValueType> {
        match &self.calls {
            Calls::Tree(tree) => tree.value_types().iter().collect(),
            Calls::Graphs(graphs) => graphs.iter().map(|it| &it.value_type).collect(),
        }
    }

    /// The position of the value type with this name or number from 1, or of the default.
    fn value(&self, name: Option<&str>) -> Result<usize, OpenError> {
        let Some(name) = name else {
            return Ok(self.default_value);
        };
        let types = self.value_types();
        find_value(&types, name).ok_or_else(|| OpenError::NoSuchValue {
            file: self.identity.file.clone(),
            value: name.into(),
            choices: value_names(&types),
        })
    }

    /// The position of what is compared with a value type of the first file: the same, or the default when nothing was
    /// asked for, which a note tells.
    fn value_beside(
        &self,
        first: &Source,
        chosen: &ValueType,
        asked: Option<&str>,
        notes: &mut Vec<String>,
    ) -> Result<usize, OpenError> {
        let types = self.value_types();
        if let Some(same) = same_value(&types, chosen) {
            return Ok(same);
        }
        if asked.is_some() {
            return self.value(Some(&chosen.name));
        }
        notes.push(format!(
            "{} of {} is compared with {} of {}, which has no {}.",
            chosen.name,
            first.identity.file,
            types[self.default_value].name,
            self.identity.file,
            chosen.name
        ));
        Ok(self.default_value)
    }
}

/// What value types are called where one is chosen: their names, and behind those that several have, their units.
pub fn value_names(types: &[&ValueType]) -> Vec<String> {
    let name = |it: &&ValueType| match types.iter().filter(|other| other.name == it.name).count() {
        1 => it.name.clone(),
        _ => format!("{} ({})", it.name, it.unit),
    };
    types.iter().map(name).collect()
}

/// The position of the value type that is called so, or has this name, or, when none has it, this number from 1.
pub fn find_value(types: &[&ValueType], wanted: &str) -> Option<usize> {
    let called = value_names(types).iter().position(|it| it == wanted);
    let named = || types.iter().position(|it| it.name == wanted);
    called.or_else(named).or_else(|| {
        let number: usize = wanted.parse().ok()?;
        number.checked_sub(1).filter(|&n| n < types.len())
    })
}

/// The position of another file's value type: that of its name and unit, whatever decimals it has, else that of its name.
pub fn same_value(types: &[&ValueType], wanted: &ValueType) -> Option<usize> {
    let named = |it: &&ValueType| it.name == wanted.name;
    let same = |it: &&ValueType| named(it) && it.decimals().0 == wanted.decimals().0;
    let position = types.iter().position(same);
    position.or_else(|| types.iter().position(named))
}

/// A profile that can be searched.
#[derive(Debug)]
pub struct Opened {
    /// The profile.
    pub profile: AnyProfile,
    /// What tells it apart.
    pub identity: ProfileIdentity,
    /// The position of the value type that is searched.
    pub value: usize,
    /// All value types of the first file.
    pub value_types: Vec<ValueType>,
    /// What a reader should know about how the files fit together. Whole sentences.
    pub notes: Vec<String>,
}

/// Why files cannot be searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// No file is given.
    Nothing,
    /// A file has no value type of this name.
    NoSuchValue {
        /// The file.
        file: String,
        /// The name.
        value: String,
        /// The names that it has.
        choices: Vec<String>,
    },
    /// Several files without anything to compare them with.
    NothingToCompareWith,
    /// A call graph in a comparison.
    GraphCompared {
        /// The file that holds it.
        file: String,
    },
    /// A call graph that is damaged.
    BadGraph {
        /// The file that holds it.
        file: String,
        /// What is wrong.
        why: CallGraphError,
    },
    /// The files count in different units.
    DifferentUnits(DifferentUnits),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Nothing => write!(f, "expected a profile, got none"),
            OpenError::NoSuchValue {
                file,
                value,
                choices,
            } => write!(
                f,
                "{file} has no value type {value:?}; choose one of {}",
                choices.join(", ")
            ),
            OpenError::NothingToCompareWith => write!(
                f,
                "several profiles are the runs of one side of a comparison; say with what to compare them"
            ),
            OpenError::GraphCompared { file } => write!(
                f,
                "{file} holds a call graph, and only call trees can be compared; record call stacks"
            ),
            OpenError::BadGraph { file, why } => write!(f, "{file}: {why}"),
            OpenError::DifferentUnits(units) => units.fmt(f),
        }
    }
}

impl std::error::Error for OpenError {}

/// Prepares the runs `a` for the search, alone or compared with the runs `b`. `value` is the name of a value type, or its
/// number from 1; without it, each file's default.
///
/// # Errors
/// When the files do not fit together or lack the value type.
pub fn open(
    a: Vec<Source>,
    b: Vec<Source>,
    value: Option<&str>,
    normalisation: Normalisation,
) -> Result<Opened, OpenError> {
    let first = a.first().ok_or(OpenError::Nothing)?;
    let value_types: Vec<ValueType> = first.value_types().into_iter().cloned().collect();
    let at = first.value(value)?;
    let chosen = &value_types[at];
    let mut notes = Vec::new();
    let identities = |side: &[Source]| side.iter().map(|it| it.identity.clone()).collect();
    let mut identity = ProfileIdentity {
        sources: identities(&a),
        against: identities(&b),
        value: chosen.name.clone(),
        unit: chosen.unit.clone(),
    };
    let profile = if b.is_empty() {
        alone(a, at)?
    } else {
        // The same value may stand elsewhere in other files.
        let mut values = vec![at];
        for other in a[1..].iter().chain(&b) {
            values.push(other.value_beside(first, chosen, value, &mut notes)?);
        }
        let mut values = values.into_iter();
        let mut runs = |side: Vec<Source>| {
            let each = side.into_iter().zip(&mut values);
            each.map(|(it, value)| run(it, value)).collect()
        };
        let (a, b): (Result<_, _>, Result<_, _>) = (runs(a), runs(b));
        let compared = ComparativeProfile::of_runs(a?, b?, normalisation);
        let compared = compared.map_err(OpenError::DifferentUnits)?;
        identity.unit = compared.unit().to_owned();
        AnyProfile::Comparison(compared)
    };
    Ok(Opened {
        profile,
        identity,
        value: at,
        value_types,
        notes,
    })
}

fn alone(mut a: Vec<Source>, value: usize) -> Result<AnyProfile, OpenError> {
    let only = a.pop().ok_or(OpenError::Nothing)?;
    if !a.is_empty() {
        return Err(OpenError::NothingToCompareWith);
    }
    match only.calls {
        Calls::Tree(tree) => Ok(AnyProfile::Tree(CallTreeProfile::new(tree, value))),
        Calls::Graphs(graphs) => {
            let file = only.identity.file;
            let bad = |why| OpenError::BadGraph { file, why };
            let graph = CallGraphProfile::new(&graphs[value]).map_err(bad)?;
            Ok(AnyProfile::Graph(graph))
        }
    }
}

fn run(source: Source, value: usize) -> Result<(Arc<CallTree>, usize), OpenError> {
    match source.calls {
        Calls::Tree(tree) => Ok((tree, value)),
        Calls::Graphs(_) => Err(OpenError::GraphCompared {
            file: source.identity.file,
        }),
    }
}
