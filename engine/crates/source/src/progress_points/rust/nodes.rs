//! The meaning of nodes in a Rust syntax tree.

use tree_sitter::Node;

use crate::syntax::tree::{Syntax, children, is_one_line};

/// Whether a node is a loop.
pub(super) fn is_loop(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "for_expression" | "while_expression" | "loop_expression"
    )
}

/// Whether a node is a function, closure or async block, beyond which an enclosing loop does not count. One on a single line is treated as
/// an expression, as a reader sees it.
pub(super) fn is_function(node: Node<'_>) -> bool {
    match node.kind() {
        "function_item" => true,
        "closure_expression" | "async_block" | "gen_block" => {
            !is_one_line(node) && body(node).is_some()
        }
        _ => false,
    }
}

/// The body of a loop or function.
pub(super) fn body(node: Node<'_>) -> Option<Node<'_>> {
    node.child_by_field_name("body")
        .or_else(|| children(node).into_iter().rfind(|it| it.kind() == "block"))
        .filter(|body| body.kind() == "block" && !body.is_missing())
}

pub(super) fn is_const(syntax: &Syntax<'_>, function: Node<'_>) -> bool {
    children(function)
        .into_iter()
        .filter(|child| child.kind() == "function_modifiers")
        .any(|modifiers| {
            syntax
                .of(modifiers)
                .split_whitespace()
                .any(|it| it == "const")
        })
}

/// Whether a child of a block is a statement or the block's value, not a comment, label, brace or attribute.
pub(super) fn is_statement(node: Node<'_>) -> bool {
    node.is_named()
        && !node.is_extra()
        && !node.is_missing()
        && !matches!(
            node.kind(),
            "label" | "attribute_item" | "inner_attribute_item"
        )
}

pub(super) fn statements(block: Node<'_>) -> Vec<Node<'_>> {
    let mut all = children(block);
    all.retain(|child| is_statement(*child));
    all
}

/// Whether control does not pass this statement.
pub(super) fn is_jump(node: Node<'_>) -> bool {
    let expression = match node.kind() {
        "expression_statement" => node.named_child(0),
        _ => Some(node),
    };
    expression.is_some_and(|it| {
        matches!(
            it.kind(),
            "return_expression" | "break_expression" | "continue_expression"
        )
    })
}

/// Whether a block is known to have type `()`: the body of a loop, or of a function without a return type.
pub(super) fn is_unit(block: Node<'_>) -> bool {
    block.parent().is_some_and(|owner| match owner.kind() {
        "function_item" => owner.child_by_field_name("return_type").is_none(),
        _ => is_loop(owner),
    })
}

/// One of a block's braces, if it is in the text.
pub(super) fn brace<'a>(block: Node<'a>, which: &str) -> Option<Node<'a>> {
    let found = children(block).into_iter().find(|it| it.kind() == which);
    found.filter(|it| !it.is_missing())
}
