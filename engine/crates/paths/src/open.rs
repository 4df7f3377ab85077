//! From what readers make of files to a profile that can be searched.

use std::fmt;
use std::sync::Arc;

use fulcrum_model::call_graph::CallGraphError;
use fulcrum_model::call_tree::ValueType;
use fulcrum_model::{CallGraph, CallTree};

use crate::any::AnyProfile;
use crate::beyond::beyond;
use crate::call_graph::CallGraphProfile;
use crate::call_tree::CallTreeProfile;
use crate::comparative::{ComparativeProfile, DifferentUnits};
use crate::denominator::Denominator;
use crate::graph_comparison::GraphComparison;
use crate::labels::{ProfileIdentity, SourceIdentity};
use crate::observations::Observations;
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
    /// What single units of work cost in its tree. Two files that both know that are compared by what a unit costs.
    pub observations: Option<Arc<Observations>>,
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
    /// A call graph in a comparison with a call tree.
    GraphCompared {
        /// The file that holds it.
        file: String,
    },
    /// A comparison of call graphs with several runs on a side, or with sides that are scaled.
    GraphsAveraged {
        /// The first file.
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
                "{file} holds a call graph, which can only be compared with another call graph; record call stacks on both sides"
            ),
            OpenError::GraphsAveraged { file } => write!(
                f,
                "{file} holds a call graph, of which one is compared with one, as they are: give one file on each side, and \
                 no normalisation"
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
        alone(a, at, &mut notes)?
    } else {
        // The same value may stand elsewhere in other files.
        let mut values = vec![at];
        for other in a[1..].iter().chain(&b) {
            values.push(other.value_beside(first, chosen, value, &mut notes)?);
        }
        let graph = |it: &Source| matches!(it.calls, Calls::Graphs(_));
        if a.iter().chain(&b).all(graph) {
            graphs(a, b, &values, normalisation)?
        } else {
            let compared = trees(a, b, &values, normalisation)?;
            identity.unit = compared.unit().to_owned();
            AnyProfile::Comparison(compared)
        }
    };
    notes.extend(beyond(&profile, &Denominator::of(&profile)));
    Ok(Opened {
        profile,
        identity,
        value: at,
        value_types,
        notes,
    })
}

/// Call trees that are compared: the runs of both sides, with the value type of each.
fn trees(
    a: Vec<Source>,
    b: Vec<Source>,
    values: &[usize],
    normalisation: Normalisation,
) -> Result<ComparativeProfile, OpenError> {
    if let ([one_a], [one_b]) = (&*a, &*b)
        && let (Some(of_a), Some(of_b)) = (&one_a.observations, &one_b.observations)
    {
        let observed = [of_a, of_b].map(Arc::clone);
        let mut trees = a.into_iter().chain(b).zip(values);
        let mut next = |observed| {
            let (source, &value) = trees.next().expect("there is one on each side");
            Ok::<_, OpenError>((run(source, value)?, observed))
        };
        let [of_a, of_b] = observed;
        let (a, b) = (next(of_a)?, next(of_b)?);
        return ComparativeProfile::of_units(a, b).map_err(OpenError::DifferentUnits);
    }
    let mut values = values.iter();
    let mut runs = |side: Vec<Source>| {
        let each = side.into_iter().zip(&mut values);
        each.map(|(it, &value)| run(it, value)).collect()
    };
    let (a, b): (Result<_, _>, Result<_, _>) = (runs(a), runs(b));
    let compared = ComparativeProfile::of_runs(a?, b?, normalisation);
    compared.map_err(OpenError::DifferentUnits)
}

/// Call graphs that are compared, one with one.
fn graphs(
    a: Vec<Source>,
    b: Vec<Source>,
    values: &[usize],
    normalisation: Normalisation,
) -> Result<AnyProfile, OpenError> {
    let sides = [a, b].map(<[Source; 1]>::try_from);
    let [Ok([a]), Ok([b])] = sides else {
        let file = |side: Result<[Source; 1], Vec<Source>>| match side {
            Ok([one]) => Some(one.identity.file),
            Err(several) => several.into_iter().next().map(|it| it.identity.file),
        };
        let [a, b] = sides.map(file);
        let file = a.or(b).unwrap_or_default();
        return Err(OpenError::GraphsAveraged { file });
    };
    if normalisation != Normalisation::None {
        let file = a.identity.file;
        return Err(OpenError::GraphsAveraged { file });
    }
    let unit = |it: &Source, value: usize| it.value_types()[value].unit.clone();
    let units = [unit(&a, values[0]), unit(&b, values[1])];
    if units[0] != units[1] {
        let [a, b] = units;
        return Err(OpenError::DifferentUnits(DifferentUnits { a, b }));
    }
    let (a, b) = (graph(a, values[0])?, graph(b, values[1])?);
    Ok(AnyProfile::GraphComparison(GraphComparison::new(a, b)))
}

/// A source's call graph of one value type.
fn graph(source: Source, value: usize) -> Result<CallGraphProfile, OpenError> {
    let file = source.identity.file;
    match source.calls {
        Calls::Graphs(graphs) => {
            CallGraphProfile::new(&graphs[value]).map_err(|why| OpenError::BadGraph { file, why })
        }
        Calls::Tree(_) => Err(OpenError::GraphCompared { file }),
    }
}

fn alone(
    mut a: Vec<Source>,
    value: usize,
    notes: &mut Vec<String>,
) -> Result<AnyProfile, OpenError> {
    let only = a.pop().ok_or(OpenError::Nothing)?;
    if !a.is_empty() {
        return Err(OpenError::NothingToCompareWith);
    }
    let Calls::Tree(tree) = &only.calls else {
        return graph(only, value).map(AnyProfile::Graph);
    };
    Ok(match ComparativeProfile::of_difference(tree, value) {
        None => {
            let profile = CallTreeProfile::new(Arc::clone(tree), value);
            profile.prepare_steps_aside();
            AnyProfile::Tree(profile)
        }
        Some(difference) => {
            let kind = &tree.value_types()[value].name;
            notes.push(difference_note(kind, &only.identity.file));
            AnyProfile::Comparison(difference)
        }
    })
}

/// What a reader should know of a value type with values below 0.
pub fn difference_note(value: &str, file: &str) -> String {
    format!(
        "{value} of {file} has values below 0: it is read as a comparison, A being what is above 0 and B what is below. What \
         the two profiles of which it is the difference had in common is not in the file."
    )
}

fn run(source: Source, value: usize) -> Result<(Arc<CallTree>, usize), OpenError> {
    match source.calls {
        Calls::Tree(tree) => Ok((tree, value)),
        Calls::Graphs(_) => Err(OpenError::GraphCompared {
            file: source.identity.file,
        }),
    }
}
