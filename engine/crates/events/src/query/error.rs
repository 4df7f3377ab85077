//! Errors in queries.

use std::fmt;

/// An error in a query. `Display` shows the query with a caret below the position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError {
    /// The message, in one line, without the position.
    pub message: String,
    /// The byte offset in the query.
    pub at: usize,
    query: String,
}

impl QueryError {
    pub(crate) fn new(query: &str, at: usize, message: String) -> QueryError {
        QueryError {
            message,
            at,
            query: query.to_owned(),
        }
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let before = &self.query[..self.at];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = self.query[line_start..].lines().next().unwrap_or("");
        // Tabs stay tabs, so that the caret is at the right position in any terminal.
        let indent = before[line_start..]
            .chars()
            .map(|c| if c == '\t' { '\t' } else { ' ' });
        let indent: String = indent.collect();
        write!(f, "{}\n  {line}\n  {indent}^", self.message)
    }
}

impl std::error::Error for QueryError {}
