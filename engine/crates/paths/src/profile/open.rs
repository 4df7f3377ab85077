//! Opens profiles for the search: from what was read from files to one [`AnyProfile`].

use std::fmt;
use std::sync::Arc;

use fulcrum_model::call_graph::CallGraphError;
use fulcrum_model::call_tree::ValueType;
use fulcrum_model::{CallGraph, CallTree};

use crate::compare::call_graphs::GraphComparison;
use crate::compare::call_trees::{ComparativeProfile, DifferentUnits};
use crate::compare::inputs::Normalisation;
use crate::compare::observations::Observations;
use crate::profile::any::AnyProfile;
use crate::profile::call_graph::CallGraphProfile;
use crate::profile::call_tree::CallTreeProfile;
use crate::profile::denominator::Denominator;
use crate::profile::unusual_shares::unusual_shares_note;
use crate::search::labels::{FileIdentity, ProfileIdentity};

/// A profile that was read from a file.
#[derive(Clone, Debug)]
pub struct ProfileInput {
    /// Identifies the file.
    pub identity: FileIdentity,
    /// The call tree or call graphs in it.
    pub calls: Calls,
    /// The position of the value type to search when none is asked for.
    pub default_value: usize,
    /// The costs of single units of work in its tree. Two inputs that both have them are compared by the cost of a unit.
    pub observations: Option<Arc<Observations>>,
}

/// The two shapes of call data.
#[derive(Clone, Debug)]
pub enum Calls {
    /// A call tree.
    Tree(Arc<CallTree>),
    /// Call graphs, one for each value type.
    Graphs(Vec<CallGraph>),
}

impl ProfileInput {
    /// The value types, in the file's order.
    pub fn value_types(&self) -> Vec<&ValueType> {
        match &self.calls {
            Calls::Tree(tree) => tree.value_types().iter().collect(),
            Calls::Graphs(graphs) => graphs.iter().map(|it| &it.value_type).collect(),
        }
    }

    /// The position of the value type with this name, or this number, counted from 1. Without a name, that of the default.
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

    /// The position of the value type to compare with one of the first file: the same type or, if the user asked for none, the
    /// default, with a note.
    fn value_beside(
        &self,
        first: &ProfileInput,
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

/// The names by which a user chooses value types. Names that several types have are followed by the unit.
pub fn value_names(types: &[&ValueType]) -> Vec<String> {
    let name = |it: &&ValueType| match types.iter().filter(|other| other.name == it.name).count() {
        1 => it.name.clone(),
        _ => format!("{} ({})", it.name, it.unit),
    };
    types.iter().map(name).collect()
}

/// The position of the value type with this name, as [`value_names`] gives it or alone, or else with this number, counted
/// from 1.
pub fn find_value(types: &[&ValueType], wanted: &str) -> Option<usize> {
    let called = value_names(types).iter().position(|it| it == wanted);
    let named = || types.iter().position(|it| it.name == wanted);
    called.or_else(named).or_else(|| {
        let number: usize = wanted.parse().ok()?;
        number.checked_sub(1).filter(|&n| n < types.len())
    })
}

/// The position of another file's value type among `types`: the one with the same name and unit (in any decimal prefix), or
/// else with the same name.
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
    /// Identifies the profile.
    pub identity: ProfileIdentity,
    /// The position of the value type that is searched.
    pub value: usize,
    /// All value types of the first file.
    pub value_types: Vec<ValueType>,
    /// What a reader should know about how the files fit together, in whole sentences.
    pub notes: Vec<String>,
}

/// Why files cannot be searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// No file was given.
    Nothing,
    /// A file has no value type of this name.
    NoSuchValue {
        /// The file.
        file: String,
        /// The name.
        value: String,
        /// The names of its value types.
        choices: Vec<String>,
    },
    /// Several files without anything to compare them with.
    NothingToCompareWith,
    /// A call graph in a comparison with a call tree.
    GraphCompared {
        /// The file that holds it.
        file: String,
    },
    /// A comparison of call graphs with several inputs on a side, or with a normalisation.
    GraphsAveraged {
        /// The first file.
        file: String,
    },
    /// A damaged call graph.
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
                "several profiles are one side of a comparison; say with what to compare them"
            ),
            OpenError::GraphCompared { file } => write!(
                f,
                "{file} holds a call graph, which can only be compared with another call graph; record call stacks on both sides"
            ),
            OpenError::GraphsAveraged { file } => write!(
                f,
                "{file} holds a call graph, and call graphs can be compared only one with one, without normalisation: give one \
                 file on each side"
            ),
            OpenError::BadGraph { file, why } => write!(f, "{file}: {why}"),
            OpenError::DifferentUnits(units) => units.fmt(f),
        }
    }
}

impl std::error::Error for OpenError {}

/// Prepares the inputs `a` for the search, alone or compared with the inputs `b`. `value` is the name of a value type, or its
/// number, counted from 1. Without it, each file's default is searched.
///
/// # Errors
/// When the files do not fit together or lack the value type.
pub fn open(
    a: Vec<ProfileInput>,
    b: Vec<ProfileInput>,
    value: Option<&str>,
    normalisation: Normalisation,
) -> Result<Opened, OpenError> {
    let first = a.first().ok_or(OpenError::Nothing)?;
    let value_types: Vec<ValueType> = first.value_types().into_iter().cloned().collect();
    let at = first.value(value)?;
    let chosen = &value_types[at];
    let mut notes = Vec::new();
    let identities = |side: &[ProfileInput]| side.iter().map(|it| it.identity.clone()).collect();
    let mut identity = ProfileIdentity {
        sources: identities(&a),
        against: identities(&b),
        value: chosen.name.clone(),
        unit: chosen.unit.clone(),
    };
    let profile = if b.is_empty() {
        alone(a, at, &mut notes)?
    } else {
        // Other files may have the same value type at another position.
        let mut values = vec![at];
        for other in a[1..].iter().chain(&b) {
            values.push(other.value_beside(first, chosen, value, &mut notes)?);
        }
        let graph = |it: &ProfileInput| matches!(it.calls, Calls::Graphs(_));
        if a.iter().chain(&b).all(graph) {
            graphs(a, b, &values, normalisation)?
        } else {
            let compared = trees(a, b, &values, normalisation)?;
            identity.unit = compared.unit().to_owned();
            AnyProfile::Comparison(compared)
        }
    };
    notes.extend(unusual_shares_note(&profile, &Denominator::of(&profile)));
    Ok(Opened {
        profile,
        identity,
        value: at,
        value_types,
        notes,
    })
}

/// Compares call trees. `values` has the value type of each input of both sides.
fn trees(
    a: Vec<ProfileInput>,
    b: Vec<ProfileInput>,
    values: &[usize],
    normalisation: Normalisation,
) -> Result<ComparativeProfile, OpenError> {
    if let ([one_a], [one_b]) = (&*a, &*b)
        && let (Some(of_a), Some(of_b)) = (&one_a.observations, &one_b.observations)
    {
        let observed = [of_a, of_b].map(Arc::clone);
        let mut trees = a.into_iter().chain(b).zip(values);
        let mut next = |observed| {
            let (input, &value) = trees.next().expect("each side has one");
            Ok::<_, OpenError>((tree(input, value)?, observed))
        };
        let [of_a, of_b] = observed;
        let (a, b) = (next(of_a)?, next(of_b)?);
        return ComparativeProfile::of_units(a, b).map_err(OpenError::DifferentUnits);
    }
    let mut values = values.iter();
    let mut inputs = |side: Vec<ProfileInput>| {
        let each = side.into_iter().zip(&mut values);
        each.map(|(it, &value)| tree(it, value)).collect()
    };
    let (a, b): (Result<_, _>, Result<_, _>) = (inputs(a), inputs(b));
    let compared = ComparativeProfile::of_inputs(a?, b?, normalisation);
    compared.map_err(OpenError::DifferentUnits)
}

/// Compares two call graphs.
fn graphs(
    a: Vec<ProfileInput>,
    b: Vec<ProfileInput>,
    values: &[usize],
    normalisation: Normalisation,
) -> Result<AnyProfile, OpenError> {
    let sides = [a, b].map(<[ProfileInput; 1]>::try_from);
    let [Ok([a]), Ok([b])] = sides else {
        let file = |side: Result<[ProfileInput; 1], Vec<ProfileInput>>| match side {
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
    let unit = |it: &ProfileInput, value: usize| it.value_types()[value].unit.clone();
    let units = [unit(&a, values[0]), unit(&b, values[1])];
    if units[0] != units[1] {
        let [a, b] = units;
        return Err(OpenError::DifferentUnits(DifferentUnits { a, b }));
    }
    let (a, b) = (graph(a, values[0])?, graph(b, values[1])?);
    Ok(AnyProfile::GraphComparison(GraphComparison::new(a, b)))
}

/// The call graph of one value type.
fn graph(input: ProfileInput, value: usize) -> Result<CallGraphProfile, OpenError> {
    let file = input.identity.file;
    match input.calls {
        Calls::Graphs(graphs) => {
            CallGraphProfile::new(&graphs[value]).map_err(|why| OpenError::BadGraph { file, why })
        }
        Calls::Tree(_) => Err(OpenError::GraphCompared { file }),
    }
}

fn alone(
    mut a: Vec<ProfileInput>,
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
            profile.prepare_steps_in_background();
            AnyProfile::Tree(profile)
        }
        Some(difference) => {
            let kind = &tree.value_types()[value].name;
            notes.push(difference_note(kind, &only.identity.file));
            AnyProfile::Comparison(difference)
        }
    })
}

/// The note about a value type with negative values.
pub fn difference_note(value: &str, file: &str) -> String {
    format!(
        "{value} of {file} has values below 0, so it is read as a comparison: A is what is above 0, B what is below. What the two \
         compared profiles had in common is not in the file."
    )
}

/// The call tree of an input, and its value type.
fn tree(input: ProfileInput, value: usize) -> Result<(Arc<CallTree>, usize), OpenError> {
    match input.calls {
        Calls::Tree(tree) => Ok((tree, value)),
        Calls::Graphs(_) => Err(OpenError::GraphCompared {
            file: input.identity.file,
        }),
    }
}
