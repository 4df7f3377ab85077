//! Insertion points: which loop, statement or block a progress point belongs to, for a position of the cursor.

use tree_sitter::Node;

use crate::progress_points::kind::{ProgressPointKind, Refused};
use crate::syntax::text;
use crate::syntax::tree::{
    Syntax, body, children, is_block, is_function, is_loop, is_statement, is_unbraced_body, upwards,
};

/// Where a macro goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum InsertionPoint<'a> {
    /// First in this body, which may be a single statement without braces.
    StartOf(Node<'a>),
    /// Last in this body, before a closing jump.
    EndOf(Node<'a>),
    /// Before this statement.
    Before(Node<'a>),
    /// After this statement, or before it if control does not pass it.
    After(Node<'a>),
    /// On the empty line at this byte of this block.
    OnLine(Node<'a>, usize),
}

/// Finds the insertion point for a cursor at byte `at`.
pub(crate) fn find<'a>(
    syntax: &'a Syntax<'_>,
    at: usize,
    kind: ProgressPointKind,
) -> Result<InsertionPoint<'a>, Refused> {
    let at = snap(syntax.text, at);
    let line = syntax.text[..at].matches('\n').count() + 1;
    let node = statement_beside(syntax, at);
    let mut function = None;
    let mut inner_loop = None;
    for up in upwards(node) {
        match up.kind() {
            "preproc_def" | "preproc_function_def" => return Err(Refused::in_macro(line)),
            "ERROR" => return Err(Refused::unparseable(line)),
            _ => {}
        }
        if inner_loop.is_none() && is_loop(syntax.text, up) {
            inner_loop = Some(up);
        }
        if is_function(up) {
            function = Some(up);
            break;
        }
    }
    let Some(function) = function else {
        return Err(if syntax.root().is_error() {
            Refused::unparseable(line)
        } else {
            Refused::outside(line)
        });
    };
    if is_constexpr(syntax, function) {
        return Err(Refused::constexpr(line));
    }
    if let Some(inner) = inner_loop {
        let body = body(inner)
            .filter(|b| !b.is_missing())
            .ok_or(Refused::unparseable(line))?;
        let braced = body.kind() == "compound_statement";
        let inside = body.start_byte() + usize::from(braced)..body.end_byte();
        let in_header = !inside.contains(&at);
        if kind == ProgressPointKind::Throughput || in_header {
            return Ok(end_of(body, kind));
        }
    }
    let cursor = Cursor { at, line };
    in_function(syntax, node, function, cursor, kind)
}

/// The end of a body for a point of this kind.
fn end_of(body: Node<'_>, kind: ProgressPointKind) -> InsertionPoint<'_> {
    match kind {
        ProgressPointKind::LatencyBegin => InsertionPoint::StartOf(body),
        _ => InsertionPoint::EndOf(body),
    }
}

/// A position of the cursor.
#[derive(Clone, Copy)]
struct Cursor {
    at: usize,
    line: usize,
}

fn in_function<'a>(
    syntax: &'a Syntax<'_>,
    node: Node<'a>,
    function: Node<'a>,
    Cursor { at, line }: Cursor,
    kind: ProgressPointKind,
) -> Result<InsertionPoint<'a>, Refused> {
    if is_block(node) {
        if node.kind() == "case_statement" {
            return case(node, kind, line);
        }
        // White space or a brace of the block itself.
        if syntax.text[at..].starts_with('{') && at == node.start_byte() {
            return Ok(end_of(node, kind));
        }
        if node.kind() == "compound_statement" && at + 1 == node.end_byte() {
            return Ok(InsertionPoint::EndOf(node));
        }
        if text::is_first_on_line(syntax.text, at)
            && syntax.text[at..text::line_end(syntax.text, at)]
                .trim()
                .is_empty()
        {
            return Ok(InsertionPoint::OnLine(
                node,
                text::line_start(syntax.text, at),
            ));
        }
    }
    let mut up = node;
    while up != function {
        let Some(parent) = up.parent() else { break };
        let is_body = is_unbraced_body(up);
        let else_if = parent.kind() == "else_clause" && up.kind() == "if_statement";
        if (is_block(parent) && is_statement(up)) || (is_body && !else_if) {
            return Ok(match kind {
                ProgressPointKind::LatencyBegin => InsertionPoint::Before(up),
                _ => InsertionPoint::After(up),
            });
        }
        if parent.kind() == "case_statement" {
            return case(parent, kind, line);
        }
        up = parent;
    }
    let body = body(function).filter(|b| b.kind() == "compound_statement");
    body.map(|body| end_of(body, kind))
        .ok_or(Refused::outside(line))
}

/// The insertion point for a cursor on `case x:` itself.
fn case(
    node: Node<'_>,
    kind: ProgressPointKind,
    line: usize,
) -> Result<InsertionPoint<'_>, Refused> {
    let statements: Vec<_> = node
        .children(&mut node.walk())
        .filter(|child| is_statement(*child))
        .collect();
    match (kind, statements.as_slice()) {
        (_, []) => Err(Refused::empty_case(line)),
        (ProgressPointKind::LatencyEnd, [.., last]) => Ok(InsertionPoint::After(*last)),
        (_, [first, ..]) => Ok(InsertionPoint::Before(*first)),
    }
}

/// Moves a position in the white space around a line's text to the text itself.
pub(crate) fn snap(source: &str, at: usize) -> usize {
    let mut at = at.min(source.len());
    while !source.is_char_boundary(at) {
        at -= 1;
    }
    let (start, end) = (text::line_start(source, at), text::line_end(source, at));
    let line = &source[start..end.max(start)];
    if line.trim().is_empty() {
        return at.min(end);
    }
    let first = start + line.len() - line.trim_start().len();
    let last = start
        + line
            .trim_end()
            .char_indices()
            .next_back()
            .map_or(0, |(i, _)| i);
    at.clamp(first, last)
}

/// The innermost node at a byte. For a comment, the statement that it describes.
fn statement_beside<'a>(syntax: &'a Syntax<'_>, at: usize) -> Node<'a> {
    let root = syntax.root();
    let node = root.named_descendant_for_byte_range(at, at).unwrap_or(root);
    if is_block(node) {
        return on_line_of(node, at, syntax.text).unwrap_or(node);
    }
    if node.kind() != "comment" {
        return node;
    }
    let row = node.start_position().row;
    if let Some(before) = node.prev_named_sibling()
        && before.end_position().row == row
    {
        return before;
    }
    let mut next = node.next_named_sibling();
    while let Some(comment) = next.filter(|n| n.kind() == "comment") {
        next = comment.next_named_sibling();
    }
    next.or(node.prev_named_sibling()).unwrap_or(node)
}

fn is_constexpr(syntax: &Syntax<'_>, function: Node<'_>) -> bool {
    function
        .children(&mut function.walk())
        .take_while(|child| child.kind() != "compound_statement")
        .any(|child| matches!(syntax.of(child), "constexpr" | "consteval"))
}

/// For a position in the white space between a block's statements, the statement before it on its line.
fn on_line_of<'a>(block: Node<'a>, at: usize, source: &str) -> Option<Node<'a>> {
    let start = text::line_start(source, at);
    children(block)
        .into_iter()
        .filter(|child| is_statement(*child))
        .rfind(|child| (start..=at).contains(&child.end_byte()))
}
