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
            choices: types.iter().map(|it| it.name.clone()).collect(),
        })
    }
}

/// The position of the value type with this name, or, when none has it, with this number from 1.
pub fn find_value(types: &[&ValueType], wanted: &str) -> Option<usize> {
    let by_name = types.iter().position(|it| it.name == wanted);
    by_name.or_else(|| {
        let number: usize = wanted.parse().ok()?;
        number.checked_sub(1).filter(|&n| n < types.len())
    })
}

/// A profile that can be searched.
#[derive(Debug)]
pub struct Opened {
    /// The profile.
    pub profile: AnyProfile,
    /// What tells it apart.
    pub identity: ProfileIdentity,
    /// The value type that is searched.
    pub value: ValueType,
    /// All value types of the first file.
    pub value_types: Vec<ValueType>,
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
    let mut chosen = value_types[first.value(value)?].clone();
    // A number is the first file's; others may have the same values in another order.
    let value = value.map(|_| chosen.name.as_str());
    let identities = |side: &[Source]| side.iter().map(|it| it.identity.clone()).collect();
    let identity = ProfileIdentity {
        sources: identities(&a),
        against: identities(&b),
        value: chosen.name.clone(),
        unit: chosen.unit.clone(),
    };
    let profile = if b.is_empty() {
        alone(a, value)?
    } else {
        let runs = |side: Vec<Source>| side.into_iter().map(|it| run(it, value)).collect();
        let (a, b): (Result<_, _>, Result<_, _>) = (runs(a), runs(b));
        let compared = ComparativeProfile::of_runs(a?, b?, normalisation);
        let compared = compared.map_err(OpenError::DifferentUnits)?;
        chosen.unit = compared.unit().to_owned();
        AnyProfile::Comparison(compared)
    };
    Ok(Opened {
        profile,
        identity,
        value: chosen,
        value_types,
    })
}

fn alone(mut a: Vec<Source>, value: Option<&str>) -> Result<AnyProfile, OpenError> {
    let only = a.pop().ok_or(OpenError::Nothing)?;
    if !a.is_empty() {
        return Err(OpenError::NothingToCompareWith);
    }
    let value = only.value(value)?;
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

fn run(source: Source, value: Option<&str>) -> Result<(Arc<CallTree>, usize), OpenError> {
    let value = source.value(value)?;
    match source.calls {
        Calls::Tree(tree) => Ok((tree, value)),
        Calls::Graphs(_) => Err(OpenError::GraphCompared {
            file: source.identity.file,
        }),
    }
}
