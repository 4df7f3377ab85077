//! The text of an insertion: on which line, with which indentation, and with braces where there were none.

use tree_sitter::Node;

use crate::insertion_point::InsertionPoint;
use crate::syntax::{Syntax, children, is_jump, is_statement, is_unbraced_body};
use crate::text::{self, Edit, indent, is_first_on_line, line_end, line_start};

/// The edits that put `what` (a whole statement) at the target. `None`: the braces there are not in the text.
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
        InsertionPoint::StartOf(body) => writer.wrap(body, true),
        InsertionPoint::EndOf(body) => writer.wrap(body, is_jump(body)),
        InsertionPoint::Before(node) => writer.beside(node, true),
        InsertionPoint::After(node) => writer.beside(node, is_jump(node)),
        InsertionPoint::OnLine(block, at) => Some(vec![Edit::insert(
            at,
            format!("{}{what}{}", writer.inside(block), writer.newline),
        )]),
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
            return self.beside(first, true);
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
            return self.beside(*last, true);
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

    /// Before or after a statement, which is one of a block or gets a block of its own.
    fn beside(&self, node: Node<'_>, before: bool) -> Option<Vec<Edit>> {
        if is_unbraced_body(node) {
            return self.wrap(node, before);
        }
        let (what, newline) = (self.what, self.newline);
        // Between a label and its statement when before, past both when after.
        let anchor = labelled(node);
        let own_line = is_first_on_line(self.text, anchor.start_byte());
        let own_indent = indent(self.text, anchor.start_byte());
        if before {
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

    /// Puts braces around a statement that stands without them.
    fn wrap(&self, node: Node<'_>, before: bool) -> Option<Vec<Edit>> {
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
        let first = if before {
            format!("{what}{newline}{inner}")
        } else {
            String::new()
        };
        let last = if before {
            String::new()
        } else {
            format!("{newline}{inner}{what}")
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
            if before {
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

/// Past the comments behind `at` on its line, and whether the line ends there.
pub(crate) fn past_comments(text: &str, at: usize) -> (usize, bool) {
    let end = line_end(text, at);
    let rest = text[at..end].trim_start();
    let to_the_end = rest.is_empty()
        || rest.starts_with("//")
        || (rest.starts_with("/*")
            && rest.trim_end().ends_with("*/")
            && rest.matches("*/").count() == 1);
    // A `//` comment that ends in a backslash goes on.
    (
        at + text[at..end].trim_end().len(),
        to_the_end && !rest.trim_end().ends_with('\\'),
    )
}

/// The statement behind its labels.
fn labelled(node: Node<'_>) -> Node<'_> {
    match node.kind() {
        "labeled_statement" => children(node)
            .into_iter()
            .rfind(|child| is_statement(*child))
            .map_or(node, labelled),
        _ => node,
    }
}
