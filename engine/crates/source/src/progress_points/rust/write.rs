//! Writes an insertion into Rust: on which line, with which indentation, and with a semicolon if one is needed.

use tree_sitter::Node;

use super::nodes::{brace, is_jump, is_unit, statements};
use super::place::InsertionPoint;
use crate::progress_points::insert::past_comments;
use crate::syntax::text::{Edit, indent, is_first_on_line, line_start};

/// Writes one insertion.
pub(super) struct Writer<'s> {
    pub(super) text: &'s str,
    pub(super) newline: &'static str,
    pub(super) unit: String,
    pub(super) what: String,
}

impl Writer<'_> {
    /// The edits of the insertion. `None` if braces are missing in the text.
    pub(super) fn write(&self, target: InsertionPoint<'_>) -> Option<Vec<Edit>> {
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

    /// Inserts before the closing brace.
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
        // Attributes belong to the item after them.
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
        // Insertions at the same place keep their order.
        merged(edits)
    }

    /// Whether a node is the value of its block: the last expression, without a semicolon.
    fn is_value(&self, node: Node<'_>) -> bool {
        let is_last = node
            .parent()
            .is_some_and(|block| statements(block).last() == Some(&node));
        let is_declaration = node.kind().ends_with("_item")
            || node.kind().ends_with("_declaration")
            || matches!(node.kind(), "empty_statement" | "macro_definition");
        is_last && !is_declaration && !self.text[node.byte_range()].ends_with(';')
    }

    /// Adds the semicolon that turns an expression into a statement. None after a block.
    fn closed(&self, node: Node<'_>) -> Vec<Edit> {
        if self.text[node.byte_range()].ends_with('}') && node.kind() == "expression_statement" {
            return Vec::new();
        }
        vec![Edit::insert(node.end_byte(), ";")]
    }
}

/// Joins two insertions at the same place.
fn merged(edits: Vec<Edit>) -> Vec<Edit> {
    match edits.as_slice() {
        [first, second] if first.start == second.start => {
            let both = format!("{}{}", first.new_text, second.new_text);
            vec![Edit::insert(first.start, both)]
        }
        _ => edits,
    }
}
