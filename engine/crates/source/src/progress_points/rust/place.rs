//! Insertion points in Rust: which loop, statement or block a progress point belongs to, for a position of the cursor.

use tree_sitter::Node;

use super::nodes::{body, is_const, is_function, is_loop, is_statement, statements};
use crate::progress_points::insertion_point::snap;
use crate::progress_points::kind::{ProgressPointKind, Refused};
use crate::syntax::text::{is_first_on_line, line_end, line_start};
use crate::syntax::tree::{Syntax, upwards};

/// Where a macro goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum InsertionPoint<'a> {
    /// First in this block.
    StartOf(Node<'a>),
    /// Last in this block, before a closing jump or the block's value.
    EndOf(Node<'a>),
    /// Before this statement.
    Before(Node<'a>),
    /// After this statement, or before it if control does not pass it or it is the block's value.
    After(Node<'a>),
    /// On the empty line at this byte of this block.
    OnLine(Node<'a>, usize),
}

/// Finds the insertion point for a cursor at byte `at`, which is on `line`.
pub(super) fn find_target<'a>(
    syntax: &'a Syntax<'_>,
    at: usize,
    kind: ProgressPointKind,
    line: usize,
) -> Result<InsertionPoint<'a>, Refused> {
    let at = snap(syntax.text, at);
    let node = statement_beside(syntax, at);
    let (function, inner_loop) = surroundings(syntax, node, line)?;
    if is_const(syntax, function) {
        return Err(Refused::constant(line));
    }
    let ends = |block| match kind {
        ProgressPointKind::LatencyBegin => InsertionPoint::StartOf(block),
        _ => InsertionPoint::EndOf(block),
    };
    if let Some(body) = inner_loop.and_then(body) {
        let is_in_header = !(body.start_byte() + 1..body.end_byte()).contains(&at);
        if kind == ProgressPointKind::Throughput || is_in_header {
            return Ok(ends(body));
        }
    }
    if node.kind() == "block"
        && let Some(target) = in_block(syntax, node, at, &ends)
    {
        return Ok(target);
    }
    let mut up = node;
    while up != function {
        let Some(parent) = up.parent() else { break };
        if parent.kind() == "block" && is_statement(up) {
            return Ok(match kind {
                ProgressPointKind::LatencyBegin => InsertionPoint::Before(up),
                _ => InsertionPoint::After(up),
            });
        }
        up = parent;
    }
    body(function).map(ends).ok_or(Refused::outside(line))
}

/// The function around a node, and the innermost loop between them.
fn surroundings<'a>(
    syntax: &Syntax<'_>,
    node: Node<'a>,
    line: usize,
) -> Result<(Node<'a>, Option<Node<'a>>), Refused> {
    let mut inner_loop = None;
    for up in upwards(node) {
        match up.kind() {
            "macro_definition" => return Err(Refused::in_macro(line)),
            "ERROR" => return Err(Refused::unparseable(line)),
            "const_block" => return Err(Refused::constant(line)),
            _ => {}
        }
        if inner_loop.is_none() && is_loop(up) {
            inner_loop = Some(up);
        }
        if is_function(up) {
            return Ok((up, inner_loop));
        }
    }
    Err(if syntax.root().is_error() {
        Refused::unparseable(line)
    } else {
        Refused::outside(line)
    })
}

/// The insertion point for a cursor on a brace of the block itself, or on an empty line in it.
fn in_block<'a>(
    syntax: &Syntax<'_>,
    block: Node<'a>,
    at: usize,
    ends: &dyn Fn(Node<'a>) -> InsertionPoint<'a>,
) -> Option<InsertionPoint<'a>> {
    if at == block.start_byte() {
        return Some(ends(block));
    }
    if at + 1 == block.end_byte() {
        return Some(InsertionPoint::EndOf(block));
    }
    let rest = &syntax.text[at..line_end(syntax.text, at)];
    (is_first_on_line(syntax.text, at) && rest.trim().is_empty())
        .then(|| InsertionPoint::OnLine(block, line_start(syntax.text, at)))
}

/// The innermost node at a byte. For a comment, the statement that it describes.
fn statement_beside<'a>(syntax: &'a Syntax<'_>, at: usize) -> Node<'a> {
    let root = syntax.root();
    let node = root.named_descendant_for_byte_range(at, at).unwrap_or(root);
    if node.kind() == "block" {
        let start = line_start(syntax.text, at);
        return statements(node)
            .into_iter()
            .rfind(|it| (start..=at).contains(&it.end_byte()))
            .unwrap_or(node);
    }
    let Some(comment) = upwards(node)
        .take(3)
        .find(|node| node.kind().ends_with("_comment"))
    else {
        return node;
    };
    let row = comment.start_position().row;
    if let Some(before) = comment.prev_named_sibling()
        && before.end_position().row == row
    {
        return before;
    }
    let mut next = comment.next_named_sibling();
    while let Some(other) = next.filter(|node| node.kind().ends_with("_comment")) {
        next = other.next_named_sibling();
    }
    next.or(comment.prev_named_sibling()).unwrap_or(comment)
}
