//! `fulcrum profile info`.

use fulcrum_ingest::profile::names::{Renamed, Rule, VERSION};
use fulcrum_ingest::profile::{Calls, Profile};
use serde_json::{Value, json};

use super::args::InfoArgs;
use super::open::open;
use crate::outcome::{DONE, Outcome};
use crate::terminal::{self, Cell, Colour, Style, Table};

/// What a profile holds.
pub fn info(args: &InfoArgs) -> Outcome {
    let profile = open(&args.source.file, &args.source.names.0)?;
    if args.json {
        let json = as_json(&profile, &args.source.names.0);
        terminal::print(&format!("{json:#}\n"))?;
    } else {
        terminal::print(&as_text(&profile, args.renamed, Style::stdout()))?;
    }
    Ok(DONE)
}

/// The sum over the functions' own costs, of each value type.
fn totals(profile: &Profile) -> Vec<i64> {
    match &profile.calls {
        Calls::Tree(tree) => (0..tree.value_types().len())
            .map(|n| tree.total(n))
            .collect(),
        Calls::Graphs(graphs) => {
            let total = |it: &fulcrum_model::CallGraph| it.functions.iter().map(|f| f.base).sum();
            graphs.iter().map(total).collect()
        }
    }
}

/// What it is made of: a name and a number each.
fn sizes(profile: &Profile) -> Vec<(&'static str, usize)> {
    match &profile.calls {
        Calls::Tree(tree) => {
            let (mut open, mut deepest): (Vec<u32>, usize) = (Vec::new(), 0);
            for (node, &end) in (0..).zip(tree.ends()) {
                while open.last().is_some_and(|&end| end <= node) {
                    open.pop();
                }
                open.push(end);
                deepest = deepest.max(open.len());
            }
            vec![
                ("nodes", tree.len() as usize),
                ("frames", tree.frames().len()),
                ("depth", deepest),
            ]
        }
        Calls::Graphs(graphs) => {
            let first = graphs.first();
            vec![
                ("functions", first.map_or(0, |it| it.functions.len())),
                ("calls", first.map_or(0, |it| it.calls.len())),
            ]
        }
    }
}

fn as_text(profile: &Profile, renamed: bool, style: Style) -> String {
    let kind = match profile.calls {
        Calls::Tree(_) => "call tree",
        Calls::Graphs(_) => "call graph",
    };
    let dot = style.dot();
    let sizes = sizes(profile)
        .into_iter()
        .map(|(name, size)| format!("{dot}{size} {name}"));
    let mut out = format!(
        "{}{dot}{kind}{}\n",
        style.paint(Colour::Strong, profile.format.name()),
        sizes.collect::<String>()
    );
    let mut table = Table::default();
    let types = profile.value_types().into_iter().zip(totals(profile));
    for (row, (kind, total)) in types.enumerate() {
        let default = if row == profile.default_value {
            "shown first"
        } else {
            ""
        };
        table.row(vec![
            Cell::right((row + 1).to_string()),
            Cell::left(&*kind.name),
            Cell::right(style.quantity(total, &kind.unit)),
            Cell::left(default).colour(Some(Colour::Dim)),
        ]);
    }
    out.push_str(&table.render(style));
    out.push_str(&style.notes(&profile.notes));
    if renamed {
        out.push_str(&names_table(&profile.renamed, style));
    } else if !profile.renamed.is_empty() {
        let count = profile.renamed.len();
        let text = "names are changed by rules: --renamed lists them, --names none keeps them";
        out.push_str(&style.aside(&format!("{count} {text}")));
    }
    out
}

fn names_table(renamed: &[Renamed], style: Style) -> String {
    let mut table = Table::default();
    for it in renamed {
        table.row(vec![
            Cell::left(&*it.raw),
            Cell::left(&*it.name),
            Cell::left(rule_names(&it.rules).join(", ")).colour(Some(Colour::Dim)),
        ]);
    }
    table.render(style)
}

fn rule_names(rules: &[Rule]) -> Vec<&'static str> {
    rules.iter().map(|rule| rule.name()).collect()
}

fn as_json(profile: &Profile, rules: &[Rule]) -> Value {
    let types = profile.value_types().into_iter().zip(totals(profile));
    let types =
        types.map(|(kind, total)| json!({ "name": kind.name, "unit": kind.unit, "total": total }));
    let mut json = json!({
        "format": profile.format.name(),
        "kind": match profile.calls {
            Calls::Tree(_) => "tree",
            Calls::Graphs(_) => "graph",
        },
        "valueTypes": types.collect::<Vec<_>>(),
        "defaultValue": profile.value_types()[profile.default_value].name,
    });
    for (name, size) in sizes(profile) {
        json[name] = json!(size);
    }
    let renamed = profile
        .renamed
        .iter()
        .map(|it| json!({ "raw": it.raw, "name": it.name, "rules": rule_names(&it.rules) }));
    json["names"] = json!({
        "version": VERSION,
        "rules": rule_names(rules),
        "renamed": renamed.collect::<Vec<_>>(),
    });
    json["notes"] = json!(profile.notes);
    json
}
