//! Opens the selected types for a search, alone or in comparison.

use fulcrum_answers::transactions::{TypeFacts, about_types};
use fulcrum_profiles::transactions::{OpenTypes, TypeError, TypeOf, compare_types, open_type};
use fulcrum_transaction_records::run::Run;

use super::args::Types;
use super::open::open_one;
use crate::outcome::Failure;

/// A run and its name.
pub(crate) type Named = (String, Run);

/// Opens A, and B where there is a second run.
pub(crate) fn runs(types: &Types) -> Result<(Named, Option<Named>), Failure> {
    let a = open_one(types.run.as_deref(), &types.naming)?;
    let b = match &types.base {
        Some(base) => Some(open_one(Some(base), &types.naming)?),
        None => None,
    };
    Ok((a, b))
}

/// Opens the type `only`, or its comparison. The notes of the session describe both sides.
pub(crate) fn open(
    types: &Types,
    only: &str,
    (a, b): &(Named, Option<Named>),
) -> Result<OpenTypes, Failure> {
    let of_a = type_of(a, only);
    let other = types.against.as_deref().unwrap_or(only);
    let of_b = match (b, &types.against) {
        (Some(b), _) => Some(type_of(b, other)),
        (None, Some(_)) => Some(type_of(a, other)),
        (None, None) => None,
    };
    let open = match &of_b {
        Some(of_b) => compare_types(&of_a, of_b),
        None => open_type(&of_a),
    };
    let mut open = open.map_err(failure)?;
    let facts: Vec<TypeFacts<'_>> = [only, other].into_iter().zip(&open.costs).collect();
    let about = about_types(&facts, &open.difference);
    // The notes on the comparison come before those on shares.
    open.search.notes.splice(0..0, about);
    Ok(open)
}

fn type_of<'a>((run_name, run): &'a Named, name: &'a str) -> TypeOf<'a> {
    TypeOf {
        run,
        run_name,
        name,
    }
}

fn failure(error: TypeError) -> Failure {
    match error {
        TypeError::Absent { .. } => Failure::NotFound(error.to_string()),
        TypeError::Tree(_) => Failure::BadInput(error.to_string()),
        TypeError::Search(error) => error.into(),
    }
}
