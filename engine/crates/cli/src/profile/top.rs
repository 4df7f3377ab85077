//! `fulcrum profile top`: functions by their own and their cumulative cost.

use std::path::Path;
use std::sync::Arc;

use fulcrum_answers::search as answers;
use fulcrum_ingest::profile::{Calls, Profile};
use fulcrum_model::call_tree::ValueType;
use fulcrum_model::{CallGraph, CallTree};
use fulcrum_paths::{
    CallGraphProfile, CallTreeProfile, ComparativeProfile, ProfileInterface, Sides, SummarySides,
    same_value,
};
use fulcrum_schema::{ProfileFunction, ProfileTop};

use super::args::{Sort, TopArgs};
use super::open::{open, value_of};
use crate::outcome::{DONE, Failure, NOTHING, Outcome};
use crate::terminal::{self, Cell, Colour, Style, Table};
use fulcrum_answers::quantity::share;

/// The table without `--top`.
const TABLE_TOP: usize = 20;

/// A path of length 1.
struct Function {
    name: String,
    base: i64,
    cum: i64,
    sides: Option<SummarySides>,
}

/// All functions, the most costly first.
struct Functions {
    kind: ValueType,
    total: i64,
    sides: Option<Sides>,
    rows: Vec<Function>,
    notes: Vec<String>,
}

/// Lists functions.
pub fn top(args: &TopArgs) -> Outcome {
    let rules = &args.source.names.0;
    let profile = open(&args.source.file, rules)?;
    let value = value_of(&profile, args.value.as_deref(), &args.source.file)?;
    let kind = profile.value_types()[value].clone();
    let mut functions = match &args.against {
        None => alone(profile, kind, value)?,
        Some(path) => {
            let mut base = open(path, rules)?;
            // Of another file the same number may be another type.
            let base_value = match (same_value(&base.value_types(), &kind), &args.value) {
                (Some(same), _) => same,
                (None, Some(_)) => value_of(&base, Some(&kind.name), path)?,
                (None, None) => {
                    let other = &base.value_types()[base.default_value].name;
                    let note = format!(
                        "{} is compared with {other}: it has no {}.",
                        kind.name, kind.name
                    );
                    base.notes.push(note);
                    base.default_value
                }
            };
            let sides = [
                (args.source.file.as_path(), profile),
                (path.as_path(), base),
            ];
            compared(sides, kind, [value, base_value])?
        }
    };
    functions.rows.sort_by(|a, b| {
        let key = |it: &Function| match args.sort {
            Sort::Base => (it.base.unsigned_abs(), it.cum.unsigned_abs()),
            Sort::Cum => (it.cum.unsigned_abs(), it.base.unsigned_abs()),
        };
        key(b).cmp(&key(a)).then_with(|| a.name.cmp(&b.name))
    });
    let none = functions.rows.is_empty();
    if args.json {
        terminal::answer(&as_json(functions, args.top.unwrap_or(0)))?;
    } else {
        let top = args.top.unwrap_or(TABLE_TOP);
        terminal::print(&as_text(&functions, top, Style::stdout()))?;
    }
    Ok(if none { NOTHING } else { DONE })
}

fn alone(profile: Profile, kind: ValueType, value: usize) -> Result<Functions, Failure> {
    let notes = profile.notes;
    match profile.calls {
        Calls::Tree(tree) => {
            let profile = CallTreeProfile::new(Arc::new(tree), value);
            Ok(functions(&profile, kind, notes))
        }
        Calls::Graphs(mut graphs) => {
            let graph: CallGraph = graphs.swap_remove(value);
            let profile = CallGraphProfile::new(&graph)
                .map_err(|error| Failure::BadInput(error.to_string()))?;
            Ok(functions(&profile, kind, notes))
        }
    }
}

fn compared(
    sides: [(&Path, Profile); 2],
    kind: ValueType,
    values: [usize; 2],
) -> Result<Functions, Failure> {
    let mut notes = Vec::new();
    let mut trees: Vec<Arc<CallTree>> = Vec::new();
    for (path, profile) in sides {
        let path = path.display();
        notes.extend(profile.notes.iter().map(|note| format!("{path}: {note}")));
        match profile.calls {
            Calls::Tree(tree) => trees.push(Arc::new(tree)),
            Calls::Graphs(_) => {
                return Err(Failure::BadInput(format!(
                    "{path} is a call graph, and only call trees can be compared; record both with a profiler that \
                     keeps whole stacks"
                )));
            }
        }
    }
    let [a, b] = <[Arc<CallTree>; 2]>::try_from(trees).expect("there were two sides");
    let profile = ComparativeProfile::new((a, values[0]), (b, values[1]))
        .map_err(|error| Failure::BadInput(error.to_string()))?;
    let kind = ValueType::new(kind.name, profile.unit());
    Ok(functions(&profile, kind, notes))
}

fn functions<P: ProfileInterface>(profile: &P, kind: ValueType, notes: Vec<String>) -> Functions {
    let rows = profile
        .initial_summaries()
        .into_iter()
        .map(|summary| Function {
            name: profile.path_of(&summary).concat(),
            base: profile.base_of(&summary),
            cum: profile.cum_of(&summary),
            sides: profile.sides_of(&summary),
        });
    Functions {
        rows: rows.collect(),
        total: profile.total(),
        sides: profile.sides(),
        kind,
        notes,
    }
}

fn as_text(functions: &Functions, top: usize, style: Style) -> String {
    let dot = style.dot();
    let cost = |cost: i64| style.quantity(cost, &functions.kind.unit);
    // Shares of a difference would be of next to nothing: those of the base are.
    let whole = functions.sides.map_or(functions.total, |sides| sides.b);
    let share = |cost| Cell::right(style.plain(share(cost, whole))).colour(Some(Colour::Dim));
    let mut out = style.paint(Colour::Strong, &functions.kind.name);
    match functions.sides {
        None => out += &format!("{dot}{} in all", cost(whole)),
        Some(Sides { a, b }) => {
            let difference = cost(functions.total);
            let (a, b) = (cost(a), cost(b));
            out += &format!("{dot}{a} less {b} is {difference}; shares are of {b}");
        }
    }
    out += &format!("{dot}{} functions\n", functions.rows.len());
    let shown = if top == 0 { functions.rows.len() } else { top };
    let mut table = Table::default();
    let heads = ["base", "", "cum", ""].map(Cell::right);
    let heads = heads.into_iter().chain([Cell::left("function")]);
    table.row(heads.map(|cell| cell.colour(Some(Colour::Dim))).collect());
    for function in functions.rows.iter().take(shown) {
        table.row(vec![
            Cell::right(cost(function.base)),
            share(function.base),
            Cell::right(cost(function.cum)),
            share(function.cum),
            Cell::left(&*function.name),
        ]);
    }
    out += &table.render(style);
    out += &style.more(functions.rows.len(), shown);
    out + &style.notes(&functions.notes)
}

fn as_json(functions: Functions, top: usize) -> ProfileTop {
    let shown = if top == 0 { functions.rows.len() } else { top };
    let row = |it: Function| ProfileFunction {
        name: it.name,
        base: it.base,
        cum: it.cum,
        sides: it.sides.map(answers::path_sides),
    };
    ProfileTop {
        value: functions.kind.name,
        unit: functions.kind.unit,
        total: functions.total,
        sides: functions.sides.map(answers::sides),
        functions: functions.rows.into_iter().take(shown).map(row).collect(),
        notes: functions.notes,
    }
}
