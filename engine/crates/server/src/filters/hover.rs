//! Hover: what a directive does; how many methods a rule decides about, and how many calls of them there were.

use std::fmt::Write as _;

use fulcrum_filter::DIRECTIVES;
use fulcrum_filter::{Filter, Rule};
use gen_lsp_types::{Contents, Hover, MarkupContent, MarkupKind};

use super::check::{decides, matches, rule_of};
use super::lines;
use super::observed::{Method, ObservedRun, ObservedRuns};
use crate::protocol::DocumentPosition;
use crate::protocol::markdown::code;
use crate::protocol::position::Encoding;

/// Methods that a hover names.
const MOST_NAMED: usize = 8;

/// The hover of the line at a position.
pub(crate) fn hover(
    text: &str,
    at: DocumentPosition,
    observed: &ObservedRuns,
    encoding: Encoding,
) -> Option<Hover> {
    let lines = lines::lines(text);
    let line = lines
        .iter()
        .find(|line| line.number == at.line as usize + 1)?;
    let name = line.words[0].text;
    let directive = DIRECTIVES.iter().find(|it| it.name == name)?;
    let usage = format!("{name} {}", directive.arguments);
    let mut value = format!("{}\n\n{}", code(usage.trim_end()), directive.about);
    let filter = lines::filter(text, &lines);
    match rule_of(&filter, line) {
        Some(rule) => rule_section(&mut value, &filter, rule, observed),
        None if name == "observe_method_invocations" => {
            let selected = |it: &Method| filter.selects(&it.class, &it.name, &it.descriptor);
            whole_section(&mut value, observed, selected);
        }
        None => {}
    }
    Some(Hover {
        contents: Contents::MarkupContent(MarkupContent {
            kind: MarkupKind::Markdown,
            value,
        }),
        range: Some(line.range(text, encoding)),
    })
}

/// What one rule does. Writing into a String cannot fail.
fn rule_section(out: &mut String, filter: &Filter, rule: &Rule, observed: &ObservedRuns) {
    let Some(run) = newest(out, observed) else {
        return;
    };
    let matched: Vec<&Method> = run.methods.iter().filter(|it| matches(rule, it)).collect();
    let decided: Vec<&Method> = matched
        .iter()
        .copied()
        .filter(|it| decides(filter, it) == Some(rule.line))
        .collect();
    let verb = if rule.includes() {
        "selects"
    } else {
        "leaves out"
    };
    let _ = write!(
        out,
        "\n\nOf {} that the newest run saw, this rule **{verb} {}**",
        methods(run.methods.len()),
        decided.len()
    );
    let above = matched.len() - decided.len();
    let _ = match above {
        0 => write!(out, "."),
        1 => write!(out, "; rules above decide about 1 more that it matches."),
        _ => write!(
            out,
            "; rules above decide about {above} more that it matches."
        ),
    };
    calls_section(out, run, &decided);
}

/// What the whole filter does.
fn whole_section(out: &mut String, observed: &ObservedRuns, selected: impl Fn(&Method) -> bool) {
    let Some(run) = newest(out, observed) else {
        return;
    };
    let chosen: Vec<&Method> = run.methods.iter().filter(|it| selected(it)).collect();
    let _ = write!(
        out,
        "\n\nOf {} that the newest run saw, this filter **selects {}**.",
        methods(run.methods.len()),
        chosen.len()
    );
    calls_section(out, run, &chosen);
}

fn newest<'s>(out: &mut String, observed: &'s ObservedRuns) -> Option<&'s ObservedRun> {
    let run = observed.runs.first();
    if run.is_none() {
        out.push_str(
            "\n\nNo run is kept here yet: record a trace to see which methods a rule selects.",
        );
    }
    run.map(|run| &**run)
}

/// Calls of these methods in the newest run, the most called first.
fn calls_section(out: &mut String, run: &ObservedRun, of: &[&Method]) {
    let calls = run.calls();
    let mut called: Vec<(&Method, u64)> = of
        .iter()
        .filter_map(|it| Some((*it, *calls.get(it)?)))
        .collect();
    called.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let total: u64 = called.iter().map(|(_, count)| count).sum();
    if called.is_empty() {
        if !of.is_empty() {
            let _ = write!(out, " None of them was called in {}.", code(&run.name));
        }
        return;
    }
    let _ = write!(
        out,
        "\n\n**{}** in {}:\n\n| Calls | Method |\n|---:|---|\n",
        match total {
            1 => "1 call".to_owned(),
            total => format!("{total} calls"),
        },
        code(&run.name)
    );
    for (method, count) in called.iter().take(MOST_NAMED) {
        let name = format!("{}.{}", method.class, method.name);
        let _ = writeln!(out, "| {count} | {} |", code(&name));
    }
    if called.len() > MOST_NAMED {
        let more = called.len() - MOST_NAMED;
        let _ = writeln!(
            out,
            "| {} | {} |",
            called[MOST_NAMED..].iter().map(|it| it.1).sum::<u64>(),
            match more {
                1 => "1 other method".to_owned(),
                more => format!("{more} other methods"),
            }
        );
    }
}

fn methods(count: usize) -> String {
    match count {
        1 => "1 method".into(),
        count => format!("{count} methods"),
    }
}
