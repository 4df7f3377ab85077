//! Progress points in Rust: where `fulcrum_progress::progress!();` goes.
//!
//! The macros are named by their full path, which needs no `use`; a file that imports them gets the short names. Rust has
//! braces around every body, but blocks have values: nothing may come after the expression that is one.

pub(crate) mod points;

use tree_sitter::Node;

use crate::insert::past_comments;
use crate::insertion_point::snap;
use crate::kind::{ProgressPointKind, Refused};
use crate::names;
use crate::syntax::{Syntax, children, is_one_line, upwards};
use crate::text::{self, Edit, indent, is_first_on_line, line_end, line_start};
use points::{CRATE, is_imported, uses};

/// The edits that insert a point. [`ProgressPointKind::Remove`] is not one.
pub(crate) fn insert(
    syntax: &Syntax<'_>,
    at: usize,
    kind: ProgressPointKind,
) -> Result<Vec<Edit>, Refused> {
    let line = syntax.text[..at].matches('\n').count() + 1;
    let target = find_target(syntax, at, kind, line)?;
    let (name, argument) = match kind {
        ProgressPointKind::LatencyBegin => ("begin", latency_name(syntax, at, kind)),
        ProgressPointKind::LatencyEnd => ("end", latency_name(syntax, at, kind)),
        _ => ("progress", String::new()),
    };
    let path = if is_imported(syntax, name) {
        name.to_owned()
    } else {
        format!("{CRATE}::{name}")
    };
    let writer = Writer {
        text: syntax.text,
        newline: text::newline(syntax.text),
        unit: text::indent_unit(syntax.text),
        what: format!("{path}!({argument});"),
    };
    writer.write(target).ok_or(Refused::unparseable(line))
}

/// In quotes.
fn latency_name(syntax: &Syntax<'_>, at: usize, kind: ProgressPointKind) -> String {
    let used = |name| {
        uses(syntax, name)
            .into_iter()
            .filter_map(|invocation| {
                let arguments = children(invocation)
                    .into_iter()
                    .find(|child| child.kind() == "token_tree")?;
                let name = syntax.of(arguments.named_child(0)?);
                let name = name.strip_prefix('"')?.strip_suffix('"')?;
                Some((invocation.start_byte(), name.to_owned()))
            })
            .collect::<Vec<_>>()
    };
    let function = || {
        let node = syntax.root().descendant_for_byte_range(at, at)?;
        let function = upwards(node).find(|node| node.kind() == "function_item")?;
        Some(
            syntax
                .of(function.child_by_field_name("name")?)
                .trim_start_matches("r#")
                .to_owned(),
        )
    };
    format!(
        "\"{}\"",
        names::choose(&used("begin"), &used("end"), at, kind, function)
    )
}

/// Where a macro goes.
#[derive(Clone, Copy, Debug)]
enum InsertionPoint<'a> {
    /// First in this block.
    StartOf(Node<'a>),
    /// Last in this block, before a closing jump or the block's value.
    EndOf(Node<'a>),
    /// Before this statement.
    Before(Node<'a>),
    /// After this statement, or before it when control does not come past it or it is the block's value.
    After(Node<'a>),
    /// On the empty line at this byte of this block.
    OnLine(Node<'a>, usize),
}

fn find_target<'a>(
    syntax: &'a Syntax<'_>,
    at: usize,
    kind: ProgressPointKind,
    line: usize,
) -> Result<InsertionPoint<'a>, Refused> {
    let at = snap(syntax.text, at);
    let node = statement_beside(syntax, at);
    let mut function = None;
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

/// A brace of the block itself, or an empty line in it.
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

/// The innermost node at a byte; for a comment, the statement that it is about.
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

fn is_loop(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "for_expression" | "while_expression" | "loop_expression"
    )
}

/// A function, closure or future: what a loop cannot reach across. On one line it is an expression to the reader, and so to
/// us.
fn is_function(node: Node<'_>) -> bool {
    match node.kind() {
        "function_item" => true,
        "closure_expression" | "async_block" | "gen_block" => {
            !is_one_line(node) && body(node).is_some()
        }
        _ => false,
    }
}

/// The block that a loop or function carries out.
fn body(node: Node<'_>) -> Option<Node<'_>> {
    node.child_by_field_name("body")
        .or_else(|| children(node).into_iter().rfind(|it| it.kind() == "block"))
        .filter(|body| body.kind() == "block" && !body.is_missing())
}

fn is_const(syntax: &Syntax<'_>, function: Node<'_>) -> bool {
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

/// A child of a block that is a statement or its value: not a comment, label, brace or attribute.
fn is_statement(node: Node<'_>) -> bool {
    node.is_named()
        && !node.is_extra()
        && !node.is_missing()
        && !matches!(
            node.kind(),
            "label" | "attribute_item" | "inner_attribute_item"
        )
}

fn statements(block: Node<'_>) -> Vec<Node<'_>> {
    let mut all = children(block);
    all.retain(|child| is_statement(*child));
    all
}

/// Control does not come past this statement.
fn is_jump(node: Node<'_>) -> bool {
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

/// Its type is known to be `()`: the body of a loop, or of a function that returns nothing.
fn is_unit(block: Node<'_>) -> bool {
    block.parent().is_some_and(|owner| match owner.kind() {
        "function_item" => owner.child_by_field_name("return_type").is_none(),
        _ => is_loop(owner),
    })
}

/// The text of an insertion: on which line, and with which indentation.
struct Writer<'s> {
    text: &'s str,
    newline: &'static str,
    unit: String,
    what: String,
}

impl Writer<'_> {
    /// `None`: the braces there are not in the text.
    fn write(&self, target: InsertionPoint<'_>) -> Option<Vec<Edit>> {
        match target {
            InsertionPoint::StartOf(block) => self.start_of(block),
            InsertionPoint::EndOf(block) => self.end_of(block),
            InsertionPoint::Before(node) => Some(vec![self.before(node)]),
            InsertionPoint::After(node) => Some(self.after(node)),
            InsertionPoint::OnLine(block, at) => Some(vec![Edit::insert(
                at,
                format!("{}{}{}", self.inside(block), self.what, self.newline),
            )]),
        }
    }

    /// The indentation of statements in a block.
    fn inside(&self, block: Node<'_>) -> String {
        let own_line = statements(block)
            .into_iter()
            .rfind(|it| is_first_on_line(self.text, it.start_byte()));
        match own_line {
            Some(statement) => indent(self.text, statement.start_byte()).to_owned(),
            None => format!("{}{}", indent(self.text, block.start_byte()), self.unit),
        }
    }

    fn start_of(&self, block: Node<'_>) -> Option<Vec<Edit>> {
        let open = brace(block, "{")?.end_byte();
        match statements(block).first() {
            None => self.end_of(block),
            Some(first) if is_first_on_line(self.text, first.start_byte()) => {
                Some(vec![self.before(*first)])
            }
            Some(_) => Some(vec![Edit::insert(open, format!(" {}", self.what))]),
        }
    }

    fn end_of(&self, block: Node<'_>) -> Option<Vec<Edit>> {
        let open = brace(block, "{")?.end_byte();
        let close = brace(block, "}")?.start_byte();
        let last = statements(block).pop();
        if let Some(last) = last
            && (is_jump(last) || self.is_value(last))
        {
            if is_jump(last) || !is_unit(block) {
                return Some(vec![self.before(last)]);
            }
            let mut edits = self.closed(last);
            edits.extend(self.at_end(block, close));
            return Some(merged(edits));
        }
        if last.is_none() && self.text[open..close].trim().is_empty() {
            let (what, newline, unit) = (&self.what, self.newline, &self.unit);
            let outer = indent(self.text, block.start_byte());
            return Some(vec![Edit {
                start: open,
                end: close,
                new_text: format!("{newline}{outer}{unit}{what}{newline}{outer}"),
            }]);
        }
        Some(self.at_end(block, close))
    }

    /// Before the closing brace.
    fn at_end(&self, block: Node<'_>, close: usize) -> Vec<Edit> {
        let (what, newline) = (&self.what, self.newline);
        if is_first_on_line(self.text, close) {
            let at = line_start(self.text, close);
            return vec![Edit::insert(
                at,
                format!("{}{what}{newline}", self.inside(block)),
            )];
        }
        let space = if self.text[..close].ends_with([' ', '\t']) {
            ""
        } else {
            " "
        };
        vec![Edit::insert(close, format!("{space}{what} "))]
    }

    fn before(&self, node: Node<'_>) -> Edit {
        // Attributes belong to what follows them.
        let mut first = node;
        while let Some(attribute) = first
            .prev_named_sibling()
            .filter(|it| it.kind() == "attribute_item")
        {
            first = attribute;
        }
        let (at, what) = (first.start_byte(), &self.what);
        if is_first_on_line(self.text, at) {
            let own = indent(self.text, at);
            let line = format!("{own}{what}{}", self.newline);
            Edit::insert(line_start(self.text, at), line)
        } else {
            Edit::insert(at, format!("{what} "))
        }
    }

    fn after(&self, node: Node<'_>) -> Vec<Edit> {
        let is_value = self.is_value(node);
        let in_unit = node.parent().is_some_and(is_unit);
        if is_jump(node) || (is_value && !in_unit) {
            return vec![self.before(node)];
        }
        let mut edits = if is_value {
            self.closed(node)
        } else {
            Vec::new()
        };
        let (at, ends_line) = past_comments(self.text, node.end_byte());
        let own = indent(self.text, node.start_byte());
        let is_own_line = is_first_on_line(self.text, node.start_byte());
        edits.push(if is_own_line && ends_line {
            Edit::insert(at, format!("{}{own}{}", self.newline, self.what))
        } else {
            Edit::insert(node.end_byte(), format!(" {}", self.what))
        });
        // At one place, what is inserted first stands first.
        merged(edits)
    }

    /// The last expression of a block, without a semicolon: what the block evaluates to.
    fn is_value(&self, node: Node<'_>) -> bool {
        let is_last = node
            .parent()
            .is_some_and(|block| statements(block).last() == Some(&node));
        let is_declaration = node.kind().ends_with("_item")
            || node.kind().ends_with("_declaration")
            || matches!(node.kind(), "empty_statement" | "macro_definition");
        is_last && !is_declaration && !self.text[node.byte_range()].ends_with(';')
    }

    /// The semicolon that makes a statement of an expression; none after a block.
    fn closed(&self, node: Node<'_>) -> Vec<Edit> {
        if self.text[node.byte_range()].ends_with('}') && node.kind() == "expression_statement" {
            return Vec::new();
        }
        vec![Edit::insert(node.end_byte(), ";")]
    }
}

/// Insertions at one place as one.
fn merged(edits: Vec<Edit>) -> Vec<Edit> {
    match edits.as_slice() {
        [first, second] if first.start == second.start => {
            let both = format!("{}{}", first.new_text, second.new_text);
            vec![Edit::insert(first.start, both)]
        }
        _ => edits,
    }
}

fn brace<'a>(block: Node<'a>, which: &str) -> Option<Node<'a>> {
    let found = children(block).into_iter().find(|it| it.kind() == which);
    found.filter(|it| !it.is_missing())
}
