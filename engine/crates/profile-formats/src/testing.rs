//! Profiles as text, for the readers' tests.

use std::fmt::Write;

use fulcrum_model::call_tree::FrameKind;

use crate::{Calls, Profile, read};
use fulcrum_model::Place;

/// Reads `input` and compares the profile with the expected lines: value types (the default one has a star) with the totals
/// of a tree; each context, or each function and call, with its values; notes.
pub(crate) fn check(input: impl AsRef<[u8]>, expect: &str) {
    let profile = read(input.as_ref(), "x").unwrap_or_else(|error| panic!("{error}"));
    let expect: Vec<_> = expect.lines().map(str::trim).collect();
    let text = text(&profile);
    let found: Vec<_> = text.lines().collect();
    assert_eq!(found, expect, "\n{text}");
}

/// Checks that reading `input` fails with this problem: at a 1-based line, or, for line 0, not at a line.
pub(crate) fn check_fault(input: impl AsRef<[u8]>, line: u64, problem: &str) {
    let error = read(input.as_ref(), "x").expect_err(problem);
    assert_eq!(error.problem, problem);
    match line {
        0 => assert!(!matches!(error.place, Some(Place::Line(_))), "{error}"),
        line => assert_eq!(error.place, Some(Place::Line(line)), "{error}"),
    }
}

/// A profile as text, see [`check`].
pub(crate) fn text(profile: &Profile) -> String {
    let mut out = String::new();
    for (row, kind) in profile.value_types().into_iter().enumerate() {
        let star = if row == profile.default_value {
            "*"
        } else {
            ""
        };
        let name = format!("{} {}", kind.name, kind.unit);
        let total = match &profile.calls {
            Calls::Tree(tree) => format!(" {}", tree.total(row)),
            Calls::Graphs(_) => String::new(),
        };
        writeln!(out, "{}{star}{total}", name.trim_end()).expect("into memory");
    }
    out.push_str(&match &profile.calls {
        Calls::Tree(_) => contexts(profile),
        Calls::Graphs(_) => calls(profile),
    });
    for note in &profile.notes {
        writeln!(out, "note: {note}").expect("into memory");
    }
    out
}

fn contexts(profile: &Profile) -> String {
    let Calls::Tree(tree) = &profile.calls else {
        return String::new();
    };
    let mut lines: Vec<String> = (0..tree.len())
        .map(|node| {
            let names: Vec<_> = tree
                .stack(node)
                .map(|node| match tree.frame(node).kind {
                    FrameKind::Function => tree.frame(node).name.clone(),
                    FrameKind::Container => format!("{{{}}}", tree.frame(node).name),
                })
                .collect();
            let mut line = names.join(";");
            for row in 0..tree.value_types().len() {
                write!(line, " {}", tree.values(row)[node as usize]).expect("into memory");
            }
            line + "\n"
        })
        .collect();
    lines.sort();
    lines.concat()
}

fn calls(profile: &Profile) -> String {
    let Calls::Graphs(graphs) = &profile.calls else {
        return String::new();
    };
    let mut out = String::new();
    let name = |row: u32| &graphs[0].functions[row as usize].name;
    for row in 0..graphs[0].functions.len() {
        out.push_str(name(row as u32));
        for graph in graphs {
            let function = &graph.functions[row];
            write!(out, " {}/{}", function.base, function.cum).expect("into memory");
        }
        out.push('\n');
    }
    for row in 0..graphs[0].calls.len() {
        let call = graphs[0].calls[row];
        write!(out, "{} > {}", name(call.caller), name(call.callee)).expect("into memory");
        for graph in graphs {
            let call = graph.calls[row];
            let base = call.base.map_or("?".to_owned(), |base| base.to_string());
            write!(out, " {base}/{}", call.cum).expect("into memory");
        }
        out.push('\n');
    }
    out
}
