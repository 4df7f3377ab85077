//! What is wrong with a filter: lines that cannot be read, rules that decide nothing.

use std::collections::BTreeSet;

use fulcrum_filter::{Filter, Rule};
use gen_lsp_types::{Code, Diagnostic, DiagnosticSeverity, DiagnosticTag, Message};

use super::lines::{self, Line};
use super::observed::{Method, ObservedRuns};
use crate::protocol::position::Encoding;

const SYNTAX: &str = "syntax";
const NO_METHODS: &str = "noMethods";
const SHADOWED: &str = "shadowedRule";
const NEVER_MATCHES: &str = "neverMatches";

/// The diagnostics of a filter's text.
pub(crate) fn check(text: &str, observed: &ObservedRuns, encoding: Encoding) -> Vec<Diagnostic> {
    let lines = lines::lines(text);
    let filter = lines::filter(text, &lines);
    let methods = observed.methods();
    let mut found = Vec::new();
    for line in &lines {
        let range = line.range(text, encoding);
        let mut say = |severity, code: &str, message: String| {
            found.push(Diagnostic {
                range,
                severity: Some(severity),
                code: Some(Code::String(code.into())),
                code_description: None,
                source: Some("Fulcrum".into()),
                message: Message::String(message),
                tags: (code == SHADOWED).then(|| vec![DiagnosticTag::Unnecessary]),
                related_information: None,
                data: None,
            });
        };
        if let Some(error) = &line.error {
            let message = format!("`{}` is not {}.", error.found, error.expected);
            say(DiagnosticSeverity::Error, SYNTAX, message);
            continue;
        }
        let Some(rule) = rule_of(&filter, line) else {
            continue;
        };
        if !filter.methods {
            let message =
                "Rules for methods do nothing without a line `observe_method_invocations`.";
            say(DiagnosticSeverity::Warning, NO_METHODS, message.into());
        } else if let Some(message) = shadowed(&filter, rule, &methods) {
            say(DiagnosticSeverity::Warning, SHADOWED, message);
        } else if let Some(message) = never_matches(rule, &methods, observed) {
            say(DiagnosticSeverity::Warning, NEVER_MATCHES, message);
        }
    }
    found
}

/// The rule that a line is.
pub(crate) fn rule_of<'f>(filter: &'f Filter, line: &Line<'_>) -> Option<&'f Rule> {
    filter.rules.iter().find(|rule| rule.line == line.number)
}

/// Rules above that leave nothing for this one: one of them for certain, or all together for the methods that were observed.
fn shadowed(filter: &Filter, rule: &Rule, methods: &BTreeSet<&Method>) -> Option<String> {
    let mut above = filter
        .rules
        .iter()
        .take_while(|other| other.line < rule.line);
    if let Some(other) = above.find(|other| other.covers(rule)) {
        return Some(format!(
            "Line {} matches every method that this rule matches, and the first rule that matches decides.",
            other.line
        ));
    }
    let matched: Vec<_> = methods.iter().filter(|it| matches(rule, it)).collect();
    let decided: Option<BTreeSet<usize>> = matched
        .iter()
        .map(|it| decides(filter, it).filter(|line| *line < rule.line))
        .collect();
    let decided = decided.filter(|lines| !lines.is_empty())?;
    let by: Vec<_> = decided.iter().map(usize::to_string).collect();
    let (lines, count) = (by.join(", "), matched.len());
    Some(format!(
        "Of the methods that earlier runs saw, it matches {count}, and rules above it (line {lines}) decide about all of them."
    ))
}

fn never_matches(
    rule: &Rule,
    methods: &BTreeSet<&Method>,
    observed: &ObservedRuns,
) -> Option<String> {
    if observed.runs.is_empty() || methods.iter().any(|it| matches(rule, it)) {
        return None;
    }
    let classes = observed.classes();
    let runs = match observed.runs.len() {
        1 => "the run that is kept here".to_owned(),
        count => format!("the last {count} runs"),
    };
    if !classes.iter().any(|class| rule.class.matches(class)) {
        return Some(format!(
            "No class that {runs} saw matches `{}`: this rule never matched.",
            rule.class
        ));
    }
    // Methods that a run's filter left out are not in its log, so nothing is known of them.
    observed.is_complete(&rule.class, &rule.method).then(|| {
        format!(
            "No method of `{}` that {runs} saw matches `{}`: this rule never matched.",
            rule.class, rule.method
        )
    })
}

/// Whether a rule matches a method, whatever the rules above it say.
pub(crate) fn matches(rule: &Rule, method: &Method) -> bool {
    rule.matches(&method.class, &method.name, &method.descriptor)
}

/// The line of the rule that decides about a method.
pub(crate) fn decides(filter: &Filter, method: &Method) -> Option<usize> {
    let rule = filter.rule(&method.class, &method.name, &method.descriptor);
    rule.map(|rule| rule.line)
}
