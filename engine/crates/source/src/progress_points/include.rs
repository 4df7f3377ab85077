//! The include of the macros' header: finds it, adds it, and removes it when it is no longer needed.

use tree_sitter::Node;

use crate::syntax::text::{self, Edit};
use crate::syntax::tree::{Syntax, children, upwards};

/// The header whose macros a file uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Header {
    /// `fulcrum.h`.
    Fulcrum,
    /// `coz.h`, which our runtime supports, too.
    Coz,
}

/// The header that a file already includes.
pub(crate) fn present(syntax: &Syntax<'_>) -> Option<Header> {
    let mut found = None;
    for node in includes(syntax) {
        match file_name(syntax, node) {
            Some("fulcrum.h") => return Some(Header::Fulcrum),
            Some("coz.h") => found = Some(Header::Coz),
            _ => {}
        }
    }
    found
}

/// The edit that includes `fulcrum.h`: after the last include at the top of the file (or of its include guard), or else after the first
/// comments and directives.
pub(crate) fn add(syntax: &Syntax<'_>) -> Edit {
    let newline = text::newline(syntax.text);
    let line = format!("#include \"fulcrum.h\"{newline}");
    let top = Top::of(syntax);
    if let Some(at) = top.after_include.or(top.after_directive) {
        let at = line_after(syntax.text, at);
        let lead = if syntax.text[..at].ends_with('\n') || at == 0 {
            ""
        } else {
            newline
        };
        return Edit::insert(at, format!("{lead}{line}"));
    }
    let first_comment_at_top = syntax.text.trim_start().starts_with("/");
    match top.after_comments.filter(|_| first_comment_at_top) {
        Some(at) if is_blank_line_at(syntax.text, line_after(syntax.text, at)) => {
            Edit::insert(line_after(syntax.text, at), format!("{newline}{line}"))
        }
        // A byte order mark must stay first.
        _ => Edit::insert(
            if syntax.text.starts_with('\u{feff}') {
                3
            } else {
                0
            },
            format!("{line}{newline}"),
        ),
    }
}

/// Where the includes, directives and comments at the top of a file end.
#[derive(Default)]
struct Top {
    after_include: Option<usize>,
    after_directive: Option<usize>,
    after_comments: Option<usize>,
}

impl Top {
    fn of(syntax: &Syntax<'_>) -> Top {
        let root = syntax.root();
        let mut top = Top::default();
        let items = match guard(syntax, root) {
            Some((guard, define)) => {
                top.after_directive = Some(define.end_byte());
                let all = children(guard);
                let at = all.iter().position(|n| *n == define).map_or(0, |n| n + 1);
                all[at..].to_vec()
            }
            None => children(root),
        };
        let mut last_row = None;
        for item in items {
            match item.kind() {
                "preproc_include" => top.after_include = Some(item.end_byte()),
                "preproc_def" | "preproc_function_def" | "preproc_call" => {
                    top.after_directive = Some(item.end_byte());
                }
                "preproc_ifdef" | "preproc_if" if is_directives_only(item) => {
                    let end = item.end_byte();
                    if holds_include(item) {
                        top.after_include = Some(end);
                    } else {
                        top.after_directive = Some(end);
                    }
                }
                "comment" => {
                    // The licence at the top, but not the comment of the first function.
                    let row = item.start_position().row;
                    if last_row.is_none_or(|last| row <= last + 1) {
                        last_row = Some(item.end_position().row);
                        top.after_comments = Some(item.end_byte());
                    }
                }
                _ => break,
            }
        }
        top
    }
}

/// The edit that removes `#include "fulcrum.h"`, if the file does not need it without `used`.
pub(crate) fn remove_if_unused(syntax: &Syntax<'_>, used: &std::ops::Range<usize>) -> Option<Edit> {
    let include = includes(syntax)
        .into_iter()
        .find(|node| file_name(syntax, *node) == Some("fulcrum.h"))?;
    let rest = [
        &syntax.text[..used.start.min(include.start_byte())],
        &syntax.text[used.start.min(include.end_byte())..used.start],
        &syntax.text[used.end..],
    ];
    if rest.iter().any(|part| part.contains("FULCRUM_")) {
        return None;
    }
    let start = text::line_start(syntax.text, include.start_byte());
    let end = line_after(syntax.text, include.end_byte());
    // At the top of a file without other includes, it came with a blank line.
    let end = if start == 0 && is_blank_line_at(syntax.text, end) && end < syntax.text.len() {
        line_after(syntax.text, end + 1)
    } else {
        end
    };
    (end <= used.start).then_some(Edit {
        start,
        end,
        new_text: String::new(),
    })
}

/// The includes of headers with our macros.
fn includes<'a>(syntax: &'a Syntax<'_>) -> Vec<Node<'a>> {
    ["fulcrum.h", "coz.h"]
        .into_iter()
        .flat_map(|name| syntax.text.match_indices(name))
        .filter_map(|(at, _)| {
            let node = syntax.root().descendant_for_byte_range(at, at + 1)?;
            upwards(node)
                .take(3)
                .find(|node| node.kind() == "preproc_include")
        })
        .collect()
}

fn file_name<'t>(syntax: &Syntax<'t>, include: Node<'_>) -> Option<&'t str> {
    let path = include.child_by_field_name("path")?;
    let path = syntax.of(path).trim_matches(['"', '<', '>']);
    path.rsplit('/').next()
}

/// Finds an include guard, `#ifndef X` / `#define X`, around the whole file.
fn guard<'a>(syntax: &Syntax<'_>, root: Node<'a>) -> Option<(Node<'a>, Node<'a>)> {
    let items: Vec<_> = children(root)
        .into_iter()
        .filter(|n| n.kind() != "comment")
        .collect();
    let [only] = items.as_slice() else {
        return None;
    };
    if only.kind() != "preproc_ifdef" || !syntax.of(*only).starts_with("#ifndef") {
        return None;
    }
    let name = syntax.of(only.child_by_field_name("name")?);
    let define = children(*only)
        .into_iter()
        .find(|n| n.kind() == "preproc_def")?;
    (syntax.of(define.child_by_field_name("name")?) == name).then_some((*only, define))
}

fn is_directives_only(node: Node<'_>) -> bool {
    children(node)
        .into_iter()
        .filter(|n| n.is_named())
        .all(|child| match child.kind() {
            "preproc_include"
            | "preproc_def"
            | "preproc_function_def"
            | "preproc_call"
            | "comment" => true,
            kind if kind.starts_with("preproc_") => is_directives_only(child),
            // The condition or name of this directive.
            _ => {
                node.child_by_field_name("condition") == Some(child)
                    || node.child_by_field_name("name") == Some(child)
            }
        })
}

fn holds_include(node: Node<'_>) -> bool {
    children(node)
        .into_iter()
        .any(|child| child.kind() == "preproc_include" || holds_include(child))
}

/// The start of the first line that begins at or after `at`.
fn line_after(source: &str, at: usize) -> usize {
    if at == 0 || source[..at].ends_with('\n') {
        return at;
    }
    source[at..].find('\n').map_or(source.len(), |n| at + n + 1)
}

fn is_blank_line_at(source: &str, at: usize) -> bool {
    source[at..text::line_end(source, at)].trim().is_empty()
}
