//! Writes an insertion: on which line, with which indentation, and with braces if there are none.

use tree_sitter::Node;

use crate::progress_points::insertion_point::InsertionPoint;
use crate::syntax::text::{self, Edit, indent, is_first_on_line, line_end, line_start};
use crate::syntax::tree::{Syntax, children, is_jump, is_statement, is_unbraced_body};

/// The edits that insert `what`, a whole statement, at a point. `None` if braces are missing in the text.
pub(crate) fn insert(
    syntax: &Syntax<'_>,
    target: InsertionPoint<'_>,
    what: &str,
) -> Option<Vec<Edit>> {
    let writer = Writer {
        text: syntax.text,
        newline: text::newline(syntax.text),
        unit: text::indent_unit(syntax.text),
        what,
    };
    match target {
        InsertionPoint::StartOf(body) if body.kind() == "compound_statement" => {
            writer.start_of(body)
        }
        InsertionPoint::EndOf(body) if body.kind() == "compound_statement" => writer.end_of(body),
        InsertionPoint::StartOf(body) => writer.wrap(body, Position::Before),
        InsertionPoint::EndOf(body) => writer.wrap(body, Position::past(body)),
        InsertionPoint::Before(node) => writer.beside(node, Position::Before),
        InsertionPoint::After(node) => writer.beside(node, Position::past(node)),
        InsertionPoint::OnLine(block, at) => Some(vec![Edit::insert(
            at,
            format!("{}{what}{}", writer.inside(block), writer.newline),
        )]),
    }
}

/// Where an insertion goes, relative to a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Before,
    After,
}

impl Position {
    /// After a statement, or before it if control does not pass it.
    fn past(node: Node<'_>) -> Position {
        match is_jump(node) {
            true => Position::Before,
            false => Position::After,
        }
    }
}

struct Writer<'s> {
    text: &'s str,
    newline: &'static str,
    unit: String,
    what: &'s str,
}

impl Writer<'_> {
    /// The indentation of statements in a braced block.
    fn inside(&self, block: Node<'_>) -> String {
        let own_line = children(block)
            .into_iter()
            .filter(|child| is_statement(*child))
            .filter(|child| !matches!(child.kind(), "labeled_statement" | "case_statement"))
            .filter(|child| !child.kind().starts_with("preproc"))
            .rfind(|child| is_first_on_line(self.text, child.start_byte()));
        match own_line {
            Some(statement) => indent(self.text, statement.start_byte()).to_owned(),
            None if block.kind().starts_with("preproc") => block
                .parent()
                .map_or_else(String::new, |parent| self.inside(parent)),
            None => format!("{}{}", indent(self.text, block.start_byte()), self.unit),
        }
    }

    fn start_of(&self, block: Node<'_>) -> Option<Vec<Edit>> {
        let open = block
            .child(0)
            .filter(|c| c.kind() == "{" && !c.is_missing())?
            .end_byte();
        let first = children(block)
            .into_iter()
            .find(|child| is_statement(*child));
        if let Some(first) = first
            && is_first_on_line(self.text, first.start_byte())
        {
            return self.beside(first, Position::Before);
        }
        if first.is_none() {
            return self.end_of(block);
        }
        Some(vec![Edit::insert(open, format!(" {}", self.what))])
    }

    fn end_of(&self, block: Node<'_>) -> Option<Vec<Edit>> {
        let all = children(block);
        let close = all
            .last()
            .filter(|c| c.kind() == "}" && !c.is_missing())?
            .start_byte();
        all.first().filter(|c| c.kind() == "{" && !c.is_missing())?;
        let last = all.iter().rev().find(|child| is_statement(**child));
        if let Some(last) = last.filter(|last| is_jump(**last)) {
            return self.beside(*last, Position::Before);
        }
        let (what, newline) = (self.what, self.newline);
        if is_first_on_line(self.text, close) {
            let at = line_start(self.text, close);
            return Some(vec![Edit::insert(
                at,
                format!("{}{what}{newline}", self.inside(block)),
            )]);
        }
        if last.is_none() && self.text[block.start_byte() + 1..close].trim().is_empty() {
            let outer = indent(self.text, block.start_byte());
            return Some(vec![Edit {
                start: block.start_byte() + 1,
                end: close,
                new_text: format!("{newline}{outer}{}{what}{newline}{outer}", self.unit),
            }]);
        }
        let space = if self.text[..close].ends_with([' ', '\t']) {
            ""
        } else {
            " "
        };
        Some(vec![Edit::insert(close, format!("{space}{what} "))])
    }

    /// Inserts before or after a statement. If it is not in a block, it gets one.
    fn beside(&self, node: Node<'_>, position: Position) -> Option<Vec<Edit>> {
        if is_unbraced_body(node) {
            return self.wrap(node, position);
        }
        let (what, newline) = (self.what, self.newline);
        // Before: between a label and its statement. After: past both.
        let anchor = labelled(node);
        let own_line = is_first_on_line(self.text, anchor.start_byte());
        let own_indent = indent(self.text, anchor.start_byte());
        if position == Position::Before {
            let at = anchor.start_byte();
            return Some(vec![if own_line {
                Edit::insert(
                    line_start(self.text, at),
                    format!("{own_indent}{what}{newline}"),
                )
            } else {
                Edit::insert(at, format!("{what} "))
            }]);
        }
        let (at, ends_line) = past_comments(self.text, node.end_byte());
        Some(vec![if own_line && ends_line {
            Edit::insert(at, format!("{newline}{own_indent}{what}"))
        } else {
            Edit::insert(node.end_byte(), format!(" {what}"))
        }])
    }

    /// Puts braces around a statement that has none.
    fn wrap(&self, node: Node<'_>, position: Position) -> Option<Vec<Edit>> {
        let owner = node.parent()?;
        let header = children(owner)
            .into_iter()
            .rfind(|child| child.end_byte() <= node.start_byte() && child.kind() != "comment")?;
        let (what, newline) = (self.what, self.newline);
        let outer = indent(self.text, owner.start_byte());
        let gap = &self.text[header.end_byte()..node.start_byte()];
        let own_line = is_first_on_line(self.text, node.start_byte());
        let inner = if own_line && indent(self.text, node.start_byte()).len() > outer.len() {
            indent(self.text, node.start_byte()).to_owned()
        } else {
            format!("{outer}{}", self.unit)
        };
        let (first, last) = match position {
            Position::Before => (format!("{what}{newline}{inner}"), String::new()),
            Position::After => (String::new(), format!("{newline}{inner}{what}")),
        };

        // `for (;;);`
        if &self.text[node.byte_range()] == ";" {
            let start = if gap.trim().is_empty() {
                header.end_byte()
            } else {
                node.start_byte()
            };
            return Some(vec![Edit {
                start,
                end: node.end_byte(),
                new_text: format!(" {{{newline}{inner}{what}{newline}{outer}}}"),
            }]);
        }
        let (end, ends_line) = past_comments(self.text, node.end_byte());
        let end = if ends_line { end } else { node.end_byte() };
        let mut edits = Vec::new();
        if own_line {
            edits.push(Edit::insert(header.end_byte(), " {"));
            if position == Position::Before {
                edits.push(Edit::insert(node.start_byte(), first));
            }
        } else if gap.trim().is_empty() {
            edits.push(Edit {
                start: header.end_byte(),
                end: node.start_byte(),
                new_text: format!(" {{{newline}{inner}{first}"),
            });
        } else {
            edits.push(Edit::insert(
                node.start_byte(),
                format!("{{{newline}{inner}{first}"),
            ));
        }
        edits.push(Edit::insert(end, format!("{last}{newline}{outer}}}")));
        Some(edits)
    }
}

/// The end of the comments after `at` on its line, and whether the line ends there.
pub(crate) fn past_comments(text: &str, at: usize) -> (usize, bool) {
    let end = line_end(text, at);
    let rest = text[at..end].trim_start();
    let to_the_end = rest.is_empty()
        || rest.starts_with("//")
        || (rest.starts_with("/*")
            && rest.trim_end().ends_with("*/")
            && rest.matches("*/").count() == 1);
    // A `//` comment that ends with a backslash continues on the next line.
    (
        at + text[at..end].trim_end().len(),
        to_the_end && !rest.trim_end().ends_with('\\'),
    )
}

/// The statement after its labels.
fn labelled(node: Node<'_>) -> Node<'_> {
    match node.kind() {
        "labeled_statement" => children(node)
            .into_iter()
            .rfind(|child| is_statement(*child))
            .map_or(node, labelled),
        _ => node,
    }
}
