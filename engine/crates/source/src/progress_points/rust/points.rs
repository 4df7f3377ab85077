//! Finds the progress points in a Rust file.

use tree_sitter::Node;

use crate::syntax::tree::{Syntax, upwards};

pub(crate) const CRATE: &str = "fulcrum_progress";
const MACROS: [&str; 4] = ["progress", "begin", "end", "scope"];

/// Every statement that uses one of the macros. Searches the text, because a tree can have millions of nodes.
pub(crate) fn points<'a>(syntax: &'a Syntax<'_>) -> Vec<Node<'a>> {
    let mut found: Vec<Node<'a>> = MACROS
        .into_iter()
        .flat_map(|name| uses(syntax, name))
        .map(statement_of)
        .collect();
    found.sort_by_key(Node::start_byte);
    found
}

/// The invocations of one of the macros.
pub(crate) fn uses<'a>(syntax: &'a Syntax<'_>, name: &str) -> Vec<Node<'a>> {
    let long = format!("{CRATE}::{name}");
    let is_short = is_imported(syntax, name);
    syntax
        .text
        .match_indices(&format!("{name}!"))
        .filter_map(|(at, _)| {
            let node = syntax.root().descendant_for_byte_range(at, at + 1)?;
            let invocation = upwards(node)
                .take(4)
                .find(|node| node.kind() == "macro_invocation")?;
            let path = invocation.child_by_field_name("macro")?;
            let written = syntax.of(path).trim_start_matches("::");
            let is_ours = written == long || (is_short && written == name);
            (path.end_byte() == at + name.len() && is_ours).then_some(invocation)
        })
        .collect()
}

/// The statement of an invocation: `progress!();` or `let _guard = scope!("x");`.
fn statement_of(invocation: Node<'_>) -> Node<'_> {
    invocation
        .parent()
        .filter(|parent| matches!(parent.kind(), "expression_statement" | "let_declaration"))
        .unwrap_or(invocation)
}

/// Whether the file imports a macro: `use fulcrum_progress::{progress, …};`.
pub(crate) fn is_imported(syntax: &Syntax<'_>, name: &str) -> bool {
    syntax.text.match_indices(CRATE).any(|(at, _)| {
        let Some(node) = syntax.root().descendant_for_byte_range(at, at + 1) else {
            return false;
        };
        let import = upwards(node).find(|node| node.kind() == "use_declaration");
        import.is_some_and(|import| {
            syntax
                .of(import)
                .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '*'))
                .any(|word| word == name || word == "*")
        })
    })
}
