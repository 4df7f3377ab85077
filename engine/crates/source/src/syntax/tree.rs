//! The syntax tree of one file, and the meaning of its nodes.

use tree_sitter::{InputEdit, Node, Parser, Point, Tree};

use crate::syntax::language::Language;
use crate::syntax::text::Edit;

/// A parsed file.
pub(crate) struct Syntax<'t> {
    pub(crate) text: &'t str,
    pub(crate) language: Language,
    tree: Tree,
}

/// Parses a text, incrementally if `old` is the tree of a text that differs by known edits.
pub(crate) fn parse_tree(text: &str, language: Language, old: Option<&Tree>) -> Tree {
    let mut parser = Parser::new();
    parser
        .set_language(&language.grammar())
        .expect("the grammars are built against this tree-sitter");
    parser
        .parse(text, old)
        .expect("parsing has neither a time limit nor a cancellation flag")
}

impl<'t> Syntax<'t> {
    #[cfg(test)]
    pub(crate) fn parse(text: &'t str, language: Language) -> Syntax<'t> {
        Syntax {
            text,
            language,
            tree: parse_tree(text, language, None),
        }
    }

    /// A tree and its text.
    pub(crate) fn new(text: &'t str, language: Language, tree: &Tree) -> Syntax<'t> {
        Syntax {
            text,
            language,
            tree: tree.clone(),
        }
    }

    /// The file after `edits`, which turned its text into `now`. Only the edited parts are parsed again.
    pub(crate) fn edited<'n>(&self, edits: &[Edit], now: &'n str) -> Syntax<'n> {
        let mut old = self.tree.clone();
        // From last to first, so that the other offsets stay valid.
        for edit in edits.iter().rev() {
            let start = point(self.text, edit.start);
            old.edit(&InputEdit {
                start_byte: edit.start,
                old_end_byte: edit.end,
                new_end_byte: edit.start + edit.new_text.len(),
                start_position: start,
                old_end_position: point(self.text, edit.end),
                new_end_position: advance(start, &edit.new_text),
            });
        }
        Syntax {
            text: now,
            language: self.language,
            tree: parse_tree(now, self.language, Some(&old)),
        }
    }

    pub(crate) fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    pub(crate) fn of(&self, node: Node<'_>) -> &'t str {
        &self.text[node.byte_range()]
    }

    /// The number of error and missing nodes: how badly the file parses.
    pub(crate) fn errors(&self) -> usize {
        self.all(
            |node| node.is_error() || node.is_missing(),
            |node| node.has_error(),
        )
        .len()
    }

    /// Every node for which `matches` holds, in text order. Only nodes for which `enter` holds are searched.
    pub(crate) fn all<'a>(
        &'a self,
        matches: impl Fn(&Node<'a>) -> bool,
        enter: impl Fn(&Node<'a>) -> bool,
    ) -> Vec<Node<'a>> {
        let mut found = Vec::new();
        let mut stack = vec![self.root()];
        while let Some(node) = stack.pop() {
            if matches(&node) {
                found.push(node);
            }
            if enter(&node) {
                let mut cursor = node.walk();
                let children: Vec<_> = node.children(&mut cursor).collect();
                stack.extend(children.into_iter().rev());
            }
        }
        found
    }
}

fn point(text: &str, at: usize) -> Point {
    advance(Point::new(0, 0), &text[..at])
}

fn advance(from: Point, text: &str) -> Point {
    match text.rfind('\n') {
        None => Point::new(from.row, from.column + text.len()),
        Some(last) => Point::new(from.row + text.matches('\n').count(), text.len() - last - 1),
    }
}

/// The node and its ancestors, innermost first.
pub(crate) fn upwards<'a>(node: Node<'a>) -> impl Iterator<Item = Node<'a>> {
    std::iter::successors(Some(node), |node| node.parent())
}

pub(crate) fn children<'a>(node: Node<'a>) -> Vec<Node<'a>> {
    node.children(&mut node.walk()).collect()
}

/// Whether a node starts and ends on the same line.
pub(crate) fn is_one_line(node: Node<'_>) -> bool {
    node.start_position().row == node.end_position().row
}

/// Whether a node is a function or lambda, beyond which an enclosing loop does not count. A lambda on a single line
/// (`[](int a) { return -a; }`) is treated as an expression, as a reader sees it.
pub(crate) fn is_function(node: Node<'_>) -> bool {
    match node.kind() {
        "function_definition" => !is_macro_block(node),
        "lambda_expression" => !is_one_line(node),
        _ => false,
    }
}

/// Whether a node is a macro with a block inside a function, such as `FOREACH(x, list) { … }`, which the grammar takes for a function.
pub(crate) fn is_macro_block(node: Node<'_>) -> bool {
    node.kind() == "function_definition"
        && node.child_by_field_name("type").is_none()
        && node.parent().is_some_and(|parent| {
            upwards(parent).any(|a| matches!(a.kind(), "compound_statement" | "case_statement"))
        })
}

/// Whether a node is a loop, or a macro with a block whose name suggests a loop.
pub(crate) fn is_loop(text: &str, node: Node<'_>) -> bool {
    match node.kind() {
        "for_statement" | "while_statement" | "do_statement" | "for_range_loop" => true,
        "function_definition" if is_macro_block(node) => {
            let head = text[node.byte_range()]
                .split('(')
                .next()
                .unwrap_or("")
                .to_lowercase();
            ["for", "each", "loop", "while"]
                .iter()
                .any(|word| head.contains(word))
        }
        _ => false,
    }
}

/// Whether a node contains a sequence of statements.
pub(crate) fn is_block(node: Node<'_>) -> bool {
    let parent_kind = node.parent().map_or("", |parent| parent.kind());
    match node.kind() {
        // The value of `({ …; x; })` is its last statement, so nothing may be inserted there.
        "compound_statement" => match parent_kind {
            "parenthesized_expression" => false,
            "lambda_expression" => node.parent().is_some_and(is_function),
            _ => true,
        },
        "case_statement" => true,
        "preproc_if" | "preproc_ifdef" | "preproc_else" | "preproc_elif" | "preproc_elifdef" => {
            node.parent().is_some_and(is_block)
        }
        _ => false,
    }
}

/// The body of a loop or another statement.
pub(crate) fn body<'a>(node: Node<'a>) -> Option<Node<'a>> {
    let body = node.child_by_field_name("body")?;
    if body.kind() == "try_statement" {
        return body.child_by_field_name("body");
    }
    Some(body)
}

/// Whether `node` is the unbraced body of a loop, an `if` or an `else`.
pub(crate) fn is_unbraced_body(node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else {
        return false;
    };
    if node.kind() == "compound_statement" {
        return false;
    }
    match parent.kind() {
        "if_statement" => parent.child_by_field_name("consequence") == Some(node),
        "else_clause" => node.is_named() && node.kind() != "comment",
        "for_statement" | "while_statement" | "do_statement" | "for_range_loop" => {
            parent.child_by_field_name("body") == Some(node)
        }
        _ => false,
    }
}

/// Whether control does not pass this statement.
pub(crate) fn is_jump(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "return_statement"
            | "break_statement"
            | "continue_statement"
            | "goto_statement"
            | "throw_statement"
            | "co_return_statement"
    ) || (node.kind() == "labeled_statement"
        && children(node).last().is_some_and(|last| is_jump(*last)))
}

/// Whether a child of a block is a statement, not a comment, brace, label value or directive.
pub(crate) fn is_statement(node: Node<'_>) -> bool {
    node.is_named()
        && !node.is_extra()
        && !node.is_missing()
        && (node.kind().ends_with("_statement")
            || matches!(
                node.kind(),
                "declaration"
                    | "for_range_loop"
                    | "function_definition"
                    | "using_declaration"
                    | "alias_declaration"
                    | "type_definition"
                    | "static_assert_declaration"
            )
            || is_block(node))
}
