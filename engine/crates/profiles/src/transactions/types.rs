//! Types of transactions as profiles that can be searched: one alone, or one compared with another.

use std::fmt;
use std::sync::Arc;

use fulcrum_model::CallTree;
use fulcrum_model::call_tree::CallTreeError;
use fulcrum_paths::{Calls, FileIdentity, Observation, Observations, ProfileInput};
use fulcrum_transaction_records::run::Run;
use fulcrum_transactions::stitch::{Difference, Observed, TypeCost, TypeProfile};

use crate::error::Error;
use crate::lines::{Lines, lines_of};
use crate::open_search::OpenSearch;

/// A type of a run.
#[derive(Clone, Copy, Debug)]
pub struct TypeOf<'a> {
    /// The run.
    pub run: &'a Run,
    /// What people call the run, and what tells it from others.
    pub run_name: &'a str,
    /// The type's name.
    pub name: &'a str,
}

/// A profile of one or two types.
pub struct OpenTypes {
    /// Its search. Of two types, A is searched less B, by what one transaction costs where both have several.
    pub search: OpenSearch,
    /// The lines that ran, by value type; of two types, A's and B's.
    pub lines: Vec<(String, Vec<Lines>)>,
    /// What the type costs; of two types, A's and B's.
    pub costs: Vec<TypeCost>,
    /// Of two types: how their transactions differ.
    pub difference: Difference,
}

/// Why there is no profile of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeError {
    /// The run has no type of this name.
    Absent {
        /// The name.
        name: String,
        /// Those that it has.
        known: Vec<String>,
    },
    /// Its tree would be too large.
    Tree(CallTreeError),
    /// It cannot be searched, or not with the other one.
    Search(Error),
}

/// A type's call tree, ready to be searched.
///
/// # Errors
/// [`TypeError`].
pub fn open_type(of: &TypeOf<'_>) -> Result<OpenTypes, TypeError> {
    let profile = of.profile()?;
    let (source, lines) = whole(of, &profile, format!("{}, {}", of.name, of.run_name))?;
    let search = OpenSearch::of_sources(vec![source], Vec::new()).map_err(TypeError::Search)?;
    let lines = lines.into_iter().map(|(value, it)| (value, vec![it]));
    Ok(OpenTypes {
        lines: lines.collect(),
        search,
        costs: vec![of.run.stitched.type_cost(&profile)],
        difference: Difference::default(),
    })
}

/// Two types, A less B. Where both have several transactions, what one costs is compared, each being an observation;
/// else all of their CPU time.
///
/// # Errors
/// [`TypeError`].
pub fn compare_types(a: &TypeOf<'_>, b: &TypeOf<'_>) -> Result<OpenTypes, TypeError> {
    let profiles = [a.profile()?, b.profile()?];
    let costs = [(a, &profiles[0]), (b, &profiles[1])];
    let costs = costs.map(|(of, profile)| of.run.stitched.type_cost(profile));
    let difference = costs[0].less(&costs[1]);
    let is_of_one_run = a.run_name == b.run_name;
    let mut sides = Vec::new();
    for (of, profile) in [a, b].into_iter().zip(&profiles) {
        let title = match is_of_one_run {
            true => of.name.to_owned(),
            false => format!("{} ({})", of.name, of.run_name),
        };
        sides.push(match difference.cpu {
            Some(_) => each(of, profile, title)?,
            None => whole(of, profile, title)?,
        });
    }
    let mut lines: Vec<(String, Vec<Lines>)> = Vec::new();
    let mut sources = Vec::new();
    for (source, of_side) in sides {
        sources.push(vec![source]);
        for (value, of_value) in of_side {
            match lines.iter_mut().find(|it| it.0 == value) {
                Some((_, all)) => all.push(of_value),
                None => lines.push((value, vec![of_value])),
            }
        }
    }
    let against = sources.pop().unwrap_or_default();
    let files = sources.pop().unwrap_or_default();
    Ok(OpenTypes {
        search: OpenSearch::of_sources(files, against).map_err(TypeError::Search)?,
        lines,
        costs: costs.into(),
        difference,
    })
}

impl TypeOf<'_> {
    fn profile(&self) -> Result<TypeProfile, TypeError> {
        let types = self.run.stitched.types();
        let known = || types.iter().map(|it| it.name.clone()).collect();
        let found = types.iter().find(|it| it.name == self.name);
        found.cloned().ok_or_else(|| TypeError::Absent {
            name: self.name.into(),
            known: known(),
        })
    }

    fn source(
        &self,
        tree: CallTree,
        title: String,
        observations: Option<Observations>,
    ) -> ProfileInput {
        // Labels of whole costs are kept apart from labels of single transactions' costs.
        let what = match observations {
            Some(_) => "transactions of",
            None => "type of transactions",
        };
        ProfileInput {
            identity: FileIdentity {
                digest: format!("{what} {}: {}", self.run_name, self.name),
                file: title,
            },
            calls: Calls::Tree(Arc::new(tree)),
            default_value: 0,
            observations: observations.map(Arc::new),
        }
    }
}

/// Lines by value type.
type LinesByValue = Vec<(String, Lines)>;

/// All of a type's CPU time.
fn whole(
    of: &TypeOf<'_>,
    profile: &TypeProfile,
    title: String,
) -> Result<(ProfileInput, LinesByValue), TypeError> {
    let stitched = &of.run.stitched;
    let tree = stitched.tree(profile.id).map_err(TypeError::Tree)?;
    let lines = stitched.lines_tree(profile.id).map_err(TypeError::Tree)?;
    let values = lines.value_types().iter().enumerate();
    let lines = values.map(|(row, it)| (it.name.clone(), lines_of(&lines, row)));
    let lines = lines.collect();
    Ok((of.source(tree, title, None), lines))
}

/// What is known of a type's single transactions.
fn each(
    of: &TypeOf<'_>,
    profile: &TypeProfile,
    title: String,
) -> Result<(ProfileInput, LinesByValue), TypeError> {
    let observed = of.run.stitched.observed(profile.id);
    let Observed {
        tree,
        lines,
        transactions,
        costs,
        ..
    } = observed.map_err(TypeError::Tree)?;
    let cost = |it: fulcrum_transactions::stitch::InstanceCost| Observation {
        node: it.node,
        unit: it.instance,
        cost: it.cpu_ns,
    };
    let costs = costs.into_iter().map(cost).collect();
    let mut of_lines = lines_of(&lines, 0);
    for line in &mut of_lines.lines {
        let mean = |cost: i64| (cost as f64 / transactions.max(1) as f64).round() as i64;
        (line.base, line.cum) = (mean(line.base), mean(line.cum));
    }
    let value = tree.value_types()[0].name.clone();
    let observations = Observations::new(transactions, costs);
    let source = of.source(tree, title, Some(observations));
    Ok((source, vec![(value, of_lines)]))
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TypeError::Absent { name, known } if known.is_empty() => {
                write!(f, "there is no type {name}: the run has none")
            }
            TypeError::Absent { name, known } => {
                let known = known.join(", ");
                write!(f, "there is no type {name}; there are {known}")
            }
            TypeError::Tree(error) => error.fmt(f),
            TypeError::Search(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TypeError {}
