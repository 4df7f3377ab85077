//! Completion: directives, then classes and methods that earlier runs observed.

use std::collections::BTreeMap;

use fulcrum_filter::DIRECTIVES;
use fulcrum_filter::{Filter, Rule};
use gen_lsp_types::{
    CompletionItem, CompletionItemKind, CompletionItemTextEdit, Documentation, MarkupContent,
    MarkupKind, TextEdit,
};

use super::check::matches;
use super::lines::{self, Word};
use super::observed::ObservedRuns;
use crate::protocol::DocumentPosition;
use crate::protocol::position::{Encoding, offset};

/// The completions at a position of a filter's text.
pub(crate) fn complete(
    text: &str,
    at: DocumentPosition,
    observed: &ObservedRuns,
    encoding: Encoding,
) -> Vec<CompletionItem> {
    let at = offset(text, at, encoding);
    let start = text[..at].rfind('\n').map_or(0, |it| it + 1);
    let before = &text[start..at];
    if before.contains('#') {
        return Vec::new();
    }
    let mut words = lines::words(before, start);
    // The word at the position, if there is one, is replaced up to its end.
    let writing = words.pop_if(|word| word.end() == at);
    let from = writing.as_ref().map_or(at, |word| word.start);
    let rest = text[at..].find(|it: char| it.is_whitespace() || it == '#');
    let range = lines::range(text, from, at + rest.unwrap_or(text.len() - at), encoding);
    let names_methods = |words: &[Word<'_>]| {
        matches!(
            words[0].text,
            "includemethod" | "identifymethod" | "excludemethod" | "observe_values"
        )
    };
    let found = match words.len() {
        0 => directives(),
        1 if names_methods(&words) => classes(observed, ClassDetail::Methods),
        1 if words[0].text == "observe_object_allocation" => classes(observed, ClassDetail::None),
        2 if names_methods(&words) => methods(observed, words[1].text),
        3 if names_methods(&words) => descriptors(observed, words[1].text, words[2].text),
        _ => Vec::new(),
    };
    found
        .into_iter()
        .enumerate()
        .map(|(n, item)| CompletionItem {
            sort_text: Some(format!("{n:05}")),
            // Editors split words at dots and stars; the whole word is what was typed.
            filter_text: Some(item.label.clone()),
            text_edit: Some(CompletionItemTextEdit::TextEdit(TextEdit {
                range,
                new_text: item.label.clone(),
            })),
            ..item
        })
        .collect()
}

fn item(label: String, kind: CompletionItemKind, detail: Option<String>) -> CompletionItem {
    CompletionItem {
        label,
        kind: Some(kind),
        detail,
        ..CompletionItem::default()
    }
}

fn directives() -> Vec<CompletionItem> {
    DIRECTIVES
        .iter()
        .map(|it| {
            let arguments = Some(it.arguments.to_owned()).filter(|it| !it.is_empty());
            let mut item = item(it.name.to_owned(), CompletionItemKind::Keyword, arguments);
            item.documentation = Some(Documentation::MarkupContent(MarkupContent {
                kind: MarkupKind::Markdown,
                value: it.about.to_owned(),
            }));
            item
        })
        .collect()
}

/// What is shown beside a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClassDetail {
    /// How many methods it has.
    Methods,
    None,
}

/// Everything, packages, and classes. Only packages of classes whose methods could be observed: there are many others.
fn classes(observed: &ObservedRuns, detail: ClassDetail) -> Vec<CompletionItem> {
    let mut packages: BTreeMap<String, usize> = BTreeMap::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for method in observed.methods() {
        *counts.entry(&method.class).or_default() += 1;
    }
    for class in counts.keys() {
        for (at, _) in class.match_indices('.') {
            *packages.entry(format!("{}.*", &class[..at])).or_default() += 1;
        }
    }
    let number = |count: usize, one: &str| match count {
        1 => format!("1 {one}"),
        count if one.ends_with('s') => format!("{count} {one}es"),
        count => format!("{count} {one}s"),
    };
    let all = item(
        "*".into(),
        CompletionItemKind::Value,
        Some("all classes that are not the Java platform's".into()),
    );
    let packages = packages.into_iter().map(|(name, count)| {
        item(
            name,
            CompletionItemKind::Module,
            Some(number(count, "class")),
        )
    });
    let own = counts.iter().map(|(name, count)| {
        let detail = match detail {
            ClassDetail::Methods => Some(number(*count, "method")),
            ClassDetail::None => None,
        };
        item((*name).to_owned(), CompletionItemKind::Class, detail)
    });
    let others = observed.classes();
    let others = others
        .iter()
        .filter(|name| !counts.contains_key(**name) && !name.ends_with("[]"))
        .map(|name| item((*name).to_owned(), CompletionItemKind::Class, None));
    [all]
        .into_iter()
        .chain(packages)
        .chain(own)
        .chain(others)
        .collect()
}

fn methods(observed: &ObservedRuns, class: &str) -> Vec<CompletionItem> {
    let mut names: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let Some(of_class) = rule(class, "*") else {
        return Vec::new();
    };
    for method in observed.methods() {
        if matches(&of_class, method) {
            names.entry(&method.name).or_default().push(&method.class);
        }
    }
    let all = item(
        "*".into(),
        CompletionItemKind::Value,
        Some("all methods".into()),
    );
    let found = names.into_iter().map(|(name, mut classes)| {
        classes.dedup();
        let detail = match classes[..] {
            [class] => class.to_owned(),
            _ => format!("{} classes", classes.len()),
        };
        let kind = match name {
            "<init>" => CompletionItemKind::Constructor,
            _ => CompletionItemKind::Method,
        };
        item(name.to_owned(), kind, Some(detail))
    });
    [all].into_iter().chain(found).collect()
}

fn descriptors(observed: &ObservedRuns, class: &str, method: &str) -> Vec<CompletionItem> {
    let Some(of_method) = rule(class, method) else {
        return Vec::new();
    };
    let mut found: Vec<_> = observed
        .methods()
        .into_iter()
        .filter(|it| matches(&of_method, it))
        .map(|it| it.descriptor.clone())
        .collect();
    found.sort();
    found.dedup();
    found
        .into_iter()
        .map(|it| item(it, CompletionItemKind::TypeParameter, None))
        .collect()
}

fn rule(class: &str, method: &str) -> Option<Rule> {
    let line = format!("includemethod {class} {method}");
    Filter::parse(&line).ok()?.rules.pop()
}
