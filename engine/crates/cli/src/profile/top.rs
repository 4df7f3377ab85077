//! `fulcrum profile top`: functions by their own and their cumulative cost.

use std::cmp::Reverse;
use std::mem;
use std::path::Path;
use std::sync::Arc;

use fulcrum_answers::search as answers;
use fulcrum_model::CallGraph;
use fulcrum_model::call_tree::ValueType;
use fulcrum_paths::{
    CallGraphProfile, CallTreeProfile, ComparativeProfile, Denominator, DifferentUnits,
    GraphComparison, ProfileInterface, Sides, SummarySides, difference_note, same_value,
    unusual_shares_note,
};
use fulcrum_profile_formats::{Calls, Profile};
use fulcrum_schema::{ProfileFunction, ProfileTop};

use super::args::{Sort, TopArgs};
use super::open::{open, value_of};
use crate::outcome::{DONE, Failure, NOTHING, Outcome};
use crate::terminal::{self, Cell, Colour, Style, Table};
use fulcrum_answers::quantity::share;

/// The table without `--top`.
const TABLE_TOP: usize = 20;

/// A function, as a path of length 1.
struct Function {
    name: String,
    base: i64,
    cum: i64,
    sides: Option<SummarySides>,
}

/// The listed functions, the most costly first.
struct Functions {
    value_type: ValueType,
    total: i64,
    sides: Option<Sides>,
    /// The cost that shares are fractions of.
    denominator: i64,
    /// How many functions there are.
    count: usize,
    rows: Vec<Function>,
    notes: Vec<String>,
}

/// How functions are listed.
#[derive(Clone, Copy)]
struct ListOptions {
    sort: Sort,
    /// The number of functions to list; 0 lists all.
    top: usize,
}

/// Lists the functions that cost most.
pub(crate) fn top(args: &TopArgs) -> Outcome {
    let rules = &args.input.names.0;
    let limits = args.input.limits();
    let profile = open(&args.input.file, rules, limits)?;
    let value = value_of(&profile, args.value.as_deref(), &args.input.file)?;
    let kind = profile.value_types()[value].clone();
    let options = ListOptions {
        sort: args.sort,
        top: args.top.unwrap_or(if args.json { 0 } else { TABLE_TOP }),
    };
    let functions = match &args.against {
        None => alone(profile, &args.input.file, (kind, value), options)?,
        Some(path) => {
            let mut base = open(path, rules, limits)?;
            // In another file, the same number may stand for another type.
            let base_value = match (same_value(&base.value_types(), &kind), &args.value) {
                (Some(same), _) => same,
                (None, Some(_)) => value_of(&base, Some(&kind.name), path)?,
                (None, None) => {
                    let other = &base.value_types()[base.default_value].name;
                    let note = format!(
                        "The base has no {}, so its {other} is used: {} of FILE is compared with it.",
                        kind.name, kind.name
                    );
                    base.notes.push(note);
                    base.default_value
                }
            };
            let sides = [(args.input.file.as_path(), profile), (path.as_path(), base)];
            compared(sides, kind, [value, base_value], options)?
        }
    };
    let none = functions.rows.is_empty();
    if args.json {
        terminal::answer(&as_json(functions))?;
    } else {
        terminal::print(&as_text(&functions, Style::stdout()))?;
    }
    Ok(if none { NOTHING } else { DONE })
}

fn alone(
    profile: Profile,
    path: &Path,
    (kind, value): (ValueType, usize),
    options: ListOptions,
) -> Result<Functions, Failure> {
    let mut notes = profile.notes;
    let tree = match profile.calls {
        Calls::Tree(tree) => tree,
        Calls::Graphs(graphs) => {
            let graph = graph(graphs, value)?;
            notes.extend(unusual_shares_note(&graph, &Denominator::of(&graph)));
            return Ok(functions(&graph, kind, notes, options));
        }
    };
    let Some(difference) = ComparativeProfile::of_difference(&tree, value) else {
        let profile = CallTreeProfile::new(Arc::new(tree), value);
        let functions = functions(&profile, kind, notes, options);
        // The process ends soon. Giving the memory back piece by piece takes longer than the list.
        mem::forget(profile);
        return Ok(functions);
    };
    notes.push(difference_note(&kind.name, &path.display().to_string()));
    let mut functions = functions(&difference, kind, notes, options);
    // Neither side is the cost of the program before.
    functions.denominator = functions
        .sides
        .map_or(0, |sides| sides.a.abs().max(sides.b.abs()));
    Ok(functions)
}

fn graph(mut graphs: Vec<CallGraph>, value: usize) -> Result<CallGraphProfile, Failure> {
    let graph = graphs.swap_remove(value);
    CallGraphProfile::new(&graph).map_err(|error| Failure::BadInput(error.to_string()))
}

fn compared(
    sides: [(&Path, Profile); 2],
    kind: ValueType,
    values: [usize; 2],
    options: ListOptions,
) -> Result<Functions, Failure> {
    let mut notes = Vec::new();
    for (path, profile) in &sides {
        let path = path.display();
        notes.extend(profile.notes.iter().map(|note| format!("{path}: {note}")));
    }
    let refused = |units: DifferentUnits| Failure::BadInput(units.to_string());
    let units = sides.each_ref().map(|(_, profile)| profile.value_types());
    let [a, b] = [units[0][values[0]], units[1][values[1]]].map(|kind| kind.unit.clone());
    let paths = sides.each_ref().map(|(path, _)| path.display().to_string());
    match sides.map(|(_, profile)| profile.calls) {
        [Calls::Tree(of_a), Calls::Tree(of_b)] => {
            let [of_a, of_b] =
                [(of_a, values[0]), (of_b, values[1])].map(|(tree, value)| (Arc::new(tree), value));
            let profile = ComparativeProfile::new(of_a, of_b).map_err(refused)?;
            let kind = ValueType::new(kind.name, profile.unit());
            Ok(functions(&profile, kind, notes, options))
        }
        [Calls::Graphs(of_a), Calls::Graphs(of_b)] => {
            if a != b {
                return Err(refused(DifferentUnits { a, b }));
            }
            let (a, b) = (graph(of_a, values[0])?, graph(of_b, values[1])?);
            Ok(functions(&GraphComparison::new(a, b), kind, notes, options))
        }
        [of_a, _] => {
            let path = &paths[usize::from(matches!(of_a, Calls::Tree(_)))];
            Err(Failure::BadInput(format!(
                "{path} is a call graph, which can only be compared with another call graph; record both with a profiler \
                 that keeps whole stacks"
            )))
        }
    }
}

fn functions<P: ProfileInterface>(
    profile: &P,
    kind: ValueType,
    notes: Vec<String>,
    options: ListOptions,
) -> Functions {
    let mut all = profile.functions();
    let count = all.len();
    // Functions of equal cost stay sorted by name.
    all.sort_by_key(|it| {
        let (base, cum) = (it.base.unsigned_abs(), it.cum.unsigned_abs());
        Reverse(match options.sort {
            Sort::Base => (base, cum),
            Sort::Cum => (cum, base),
        })
    });
    if options.top > 0 {
        all.truncate(options.top);
    }
    let rows = all.into_iter().map(|it| Function {
        name: it.name.to_owned(),
        base: it.base,
        cum: it.cum,
        sides: it.sides,
    });
    let (total, sides) = (profile.total(), profile.sides());
    Functions {
        count,
        rows: rows.collect(),
        total,
        sides,
        // A difference may be close to zero, so shares are fractions of the base.
        denominator: sides.map_or(total, |sides| sides.b),
        value_type: kind,
        notes,
    }
}

fn as_text(functions: &Functions, style: Style) -> String {
    let dot = style.dot();
    let cost = |cost: i64| style.quantity(cost, &functions.value_type.unit);
    let denominator = functions.denominator;
    let share = |cost| Cell::right(style.plain(share(cost, denominator))).colour(Some(Colour::Dim));
    let mut out = style.paint(Colour::Strong, &functions.value_type.name);
    match functions.sides {
        None => out += &format!("{dot}{} in all", cost(denominator)),
        Some(Sides { a, b }) => {
            let (difference, base) = (cost(functions.total), cost(denominator));
            let (a, b) = (cost(a), cost(b));
            out += &format!("{dot}{a} minus {b} is {difference}; shares are of {base}");
        }
    }
    out += &format!("{dot}{} functions\n", functions.count);
    let mut table = Table::default();
    let heads = ["base", "", "cum", ""].map(Cell::right);
    let heads = heads.into_iter().chain([Cell::left("function")]);
    table.row(heads.map(|cell| cell.colour(Some(Colour::Dim))).collect());
    for function in &functions.rows {
        table.row(vec![
            Cell::right(cost(function.base)),
            share(function.base),
            Cell::right(cost(function.cum)),
            share(function.cum),
            Cell::left(&*function.name),
        ]);
    }
    out += &table.render(style);
    out += &style.more(functions.count, functions.rows.len());
    out + &style.notes(&functions.notes)
}

fn as_json(functions: Functions) -> ProfileTop {
    let row = |it: Function| ProfileFunction {
        name: it.name,
        base: it.base,
        cum: it.cum,
        sides: it.sides.map(answers::path_sides),
    };
    ProfileTop {
        value: functions.value_type.name,
        unit: functions.value_type.unit,
        total: functions.total,
        sides: functions.sides.map(answers::sides),
        functions: functions.rows.into_iter().map(row).collect(),
        notes: functions.notes,
    }
}
