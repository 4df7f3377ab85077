//! What is wrong with a query.

use std::fmt;

/// What is wrong with a query. `Display` has the query and a caret below the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError {
    /// One line, without the place.
    pub message: String,
    /// Where in the query, bytes.
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
        // Tabs stay tabs, so that the caret is below the place in any terminal.
        let indent = before[line_start..]
            .chars()
            .map(|c| if c == '\t' { '\t' } else { ' ' });
        let indent: String = indent.collect();
        write!(f, "{}\n  {line}\n  {indent}^", self.message)
    }
}

impl std::error::Error for QueryError {}
