//! `fulcrum profile info`.

use fulcrum_profile_formats::names::{Renamed, Rule, VERSION};
use fulcrum_profile_formats::{Calls, Profile};
use fulcrum_schema::{
    NavigatorRenamed, ProfileCalls, ProfileInfo, ProfileNames, ProfileSize, ProfileValueType,
};

use super::args::InfoArgs;
use super::open::open;
use crate::outcome::{DONE, Outcome};
use crate::terminal::{self, Cell, Colour, Style, Table};

/// Describes a profile.
pub(crate) fn info(args: &InfoArgs) -> Outcome {
    let profile = open(&args.input.file, &args.input.names.0, args.input.limits())?;
    if args.json {
        terminal::answer(&as_json(&profile, &args.input.names.0))?;
    } else {
        terminal::print(&as_text(&profile, args.renamed, Style::stdout()))?;
    }
    Ok(DONE)
}

/// The total cost of each value type.
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

/// The size of the call tree or call graph.
fn size(profile: &Profile) -> ProfileSize {
    match &profile.calls {
        Calls::Tree(tree) => ProfileSize::Tree {
            nodes: u64::from(tree.len()),
            frames: tree.frames().len() as u64,
            depth: tree.depth() as u64,
        },
        Calls::Graphs(graphs) => {
            let first = graphs.first();
            ProfileSize::Graph {
                functions: first.map_or(0, |it| it.functions.len() as u64),
                calls: first.map_or(0, |it| it.calls.len() as u64),
            }
        }
    }
}

fn as_text(profile: &Profile, renamed: bool, style: Style) -> String {
    let kind = match profile.calls {
        Calls::Tree(_) => "call tree",
        Calls::Graphs(_) => "call graph",
    };
    let dot = style.dot();
    let size = match size(profile) {
        ProfileSize::Tree {
            nodes,
            frames,
            depth,
        } => format!("{nodes} nodes{dot}{frames} frames{dot}{depth} depth"),
        ProfileSize::Graph { functions, calls } => {
            format!("{functions} functions{dot}{calls} calls")
        }
    };
    let mut out = format!(
        "{}{dot}{kind}{dot}{size}\n",
        style.paint(Colour::Strong, profile.format.name()),
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

fn as_json(profile: &Profile, rules: &[Rule]) -> ProfileInfo {
    let types = profile.value_types().into_iter().zip(totals(profile));
    let types = types.map(|(kind, total)| ProfileValueType {
        name: kind.name.clone(),
        unit: kind.unit.clone(),
        total,
    });
    let owned = |rules: &[Rule]| rule_names(rules).into_iter().map(String::from).collect();
    let renamed = profile.renamed.iter().map(|it| NavigatorRenamed {
        raw: it.raw.clone(),
        name: it.name.clone(),
        rules: owned(&it.rules),
    });
    ProfileInfo {
        format: profile.format.name().to_string(),
        kind: match profile.calls {
            Calls::Tree(_) => ProfileCalls::Tree,
            Calls::Graphs(_) => ProfileCalls::Graph,
        },
        value_types: types.collect(),
        default_value: profile.value_types()[profile.default_value].name.clone(),
        size: size(profile),
        names: ProfileNames {
            version: VERSION,
            rules: owned(rules),
            renamed: renamed.collect(),
        },
        notes: profile.notes.clone(),
    }
}
