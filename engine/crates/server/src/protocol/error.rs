//! Why the server ended with an error.

use std::fmt;

/// Why the server ended with an error. `Display` is one sentence.
#[derive(Debug)]
pub struct ServerError(String);

impl ServerError {
    pub(crate) fn new(doing: &str, error: &dyn fmt::Display) -> ServerError {
        ServerError(format!("{doing}: {error}"))
    }

    pub(crate) fn exit_without_shutdown() -> ServerError {
        ServerError("the client sent exit without shutdown".into())
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ServerError {}
