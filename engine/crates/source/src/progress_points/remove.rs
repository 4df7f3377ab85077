//! Removes a progress point.

use tree_sitter::Node;

use crate::progress_points::{include, rust};
use crate::syntax::language::Language;
use crate::syntax::text::{Edit, line_end, line_start};
use crate::syntax::tree::{Syntax, is_statement, is_unbraced_body};

const MACROS: [&str; 8] = [
    "FULCRUM_PROGRESS",
    "FULCRUM_PROGRESS_NAMED",
    "FULCRUM_BEGIN",
    "FULCRUM_END",
    "COZ_PROGRESS",
    "COZ_PROGRESS_NAMED",
    "COZ_BEGIN",
    "COZ_END",
];

/// The progress point on the line of byte `at`, the nearest if there are several.
pub(crate) fn find<'a>(syntax: &'a Syntax<'_>, at: usize) -> Option<Node<'a>> {
    let (start, end) = (line_start(syntax.text, at), line_end(syntax.text, at));
    points(syntax)
        .into_iter()
        .filter(|node| node.start_byte() <= end && node.end_byte() >= start)
        .min_by_key(|node| {
            let (first, last) = (node.start_byte(), node.end_byte());
            if (first..last).contains(&at) {
                0
            } else {
                first.abs_diff(at).min(last.abs_diff(at))
            }
        })
}

/// Every statement that uses one of the macros. Searches the text, because a tree can have millions of nodes.
pub(crate) fn points<'a>(syntax: &'a Syntax<'_>) -> Vec<Node<'a>> {
    if syntax.language == Language::Rust {
        return rust::points::points(syntax);
    }
    ["FULCRUM_", "COZ_"]
        .into_iter()
        .flat_map(|prefix| syntax.text.match_indices(prefix))
        .filter_map(|(at, _)| {
            let name = syntax.root().descendant_for_byte_range(at, at + 1)?;
            if name.start_byte() != at || !MACROS.contains(&syntax.of(name)) {
                return None;
            }
            let parent = name.parent()?;
            let statement = match parent.kind() {
                "call_expression" => parent.parent()?,
                _ => parent,
            };
            (statement.kind() == "expression_statement").then_some(statement)
        })
        .collect()
}

/// The edits that remove the progress point `node`, and the include if nothing else needs it.
pub(crate) fn remove(syntax: &Syntax<'_>, node: Node<'_>) -> Vec<Edit> {
    let text = syntax.text;
    // A label needs a statement.
    let closes_label = node.parent().is_some_and(|parent| {
        parent.kind() == "labeled_statement"
            && !parent.next_named_sibling().is_some_and(is_statement)
    });
    let is_only = is_unbraced_body(node) || closes_label;
    let (first, last) = (
        line_start(text, node.start_byte()),
        line_end(text, node.end_byte()),
    );
    let alone = text[first..node.start_byte()].trim().is_empty()
        && text[node.end_byte()..last].trim().is_empty();
    let removal = if is_only {
        Edit {
            start: node.start_byte(),
            end: node.end_byte(),
            new_text: ";".into(),
        }
    } else if alone {
        let end = text[last..].find('\n').map_or(text.len(), |n| last + n + 1);
        Edit {
            start: first,
            end,
            new_text: String::new(),
        }
    } else {
        // Remove the space on one side: before it, or after it at the start of a line.
        let before = text[first..node.start_byte()]
            .trim_end_matches([' ', '\t'])
            .len();
        let behind = text[node.end_byte()..last].len()
            - text[node.end_byte()..last]
                .trim_start_matches([' ', '\t'])
                .len();
        let (start, end) = if before == 0 {
            (node.start_byte(), node.end_byte() + behind)
        } else {
            (first + before, node.end_byte())
        };
        Edit {
            start,
            end,
            new_text: String::new(),
        }
    };
    let mut edits: Vec<_> = include::remove_if_unused(syntax, &node.byte_range())
        .into_iter()
        .collect();
    edits.push(removal);
    edits
}
