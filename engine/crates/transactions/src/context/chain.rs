//! What accompanies a message: concatenated synopses (Whodunit §7.4).

use std::fmt;

use crate::Synopsis;
use crate::ids::ProcessId;

/// A process's part of a context: *synopsis(α)*.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Link {
    /// The process whose dictionary contains the synopsis.
    pub process: ProcessId,
    /// What the process did itself, without what it had received.
    pub synopsis: Synopsis,
}

/// A whole context across processes, *synopsis(α)#synopsis(β)*: each process's part, in order of execution.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Chain(Vec<Link>);

impl Chain {
    /// The most links. A longer chain keeps its oldest links.
    pub const MOST: usize = 16;

    /// A chain of these links.
    pub fn new(links: impl IntoIterator<Item = Link>) -> Self {
        Chain(links.into_iter().take(Chain::MOST).collect())
    }

    /// The links, the oldest first.
    pub fn links(&self) -> &[Link] {
        &self.0
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.process, self.synopsis.number())
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, link) in self.0.iter().enumerate() {
            let delimiter = if n == 0 { "" } else { "#" };
            write!(f, "{delimiter}{link}")?;
        }
        Ok(())
    }
}

/// A link names an unknown context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownLink {
    /// The process is unknown.
    Process(Link),
    /// The process has no such context.
    Context(Link),
}

impl fmt::Display for UnknownLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnknownLink::Process(Link { process, .. }) => {
                write!(
                    f,
                    "expected a context of process {process}, which was not recorded"
                )
            }
            UnknownLink::Context(Link { process, synopsis }) => write!(
                f,
                "expected a context of process {process}, which has none with the number {}",
                synopsis.number()
            ),
        }
    }
}

impl std::error::Error for UnknownLink {}
