//! A dictionary as plain data, which a process writes and [`Joined`](crate::Joined) reads.

use std::fmt;

use super::chain::Link;
use super::dictionary::{Dictionary, Element};
use super::names::Name;
use super::step::{CallPath, Step};
use crate::Synopsis;
use crate::ids::ProcessId;

/// The contexts of a process. Both lists only grow while the process runs, so a writer can append what is new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The process.
    pub process: ProcessId,
    /// The program that it executes, such as `apache2`. Types are told apart by it.
    pub program: String,
    /// Names by number.
    pub names: Vec<String>,
    /// Contexts by number, from 1. 0 is the empty context.
    pub contexts: Vec<ExportedContext>,
}

/// A context: a shorter one, and the element that follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedContext {
    /// The number of the shorter context, which is smaller than its own.
    pub prefix: u32,
    /// The element that follows.
    pub last: ExportedElement,
}

/// The last element of a context. Name numbers are indices into [`Exported::names`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportedElement {
    /// Another process's part.
    Received(Link),
    /// A call path, outermost function first.
    Path(Vec<u32>),
    /// An event handler.
    Handler(u32),
    /// A stage.
    Stage(u32),
    /// A named request.
    Request(u32),
    /// The context continued, but was cut off here.
    Cut,
}

/// What is wrong with an exported dictionary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportError {
    /// A context continues one that does not precede it.
    Prefix {
        /// The process.
        process: ProcessId,
        /// The number of the context.
        context: u32,
        /// The number of the context that it continues.
        prefix: u32,
    },
    /// A context uses a name that does not exist.
    Name {
        /// The process.
        process: ProcessId,
        /// The number of the context.
        context: u32,
        /// The number of the name.
        name: u32,
    },
    /// A process was recorded twice.
    Twice(ProcessId),
}

impl Dictionary {
    /// All contexts, for a process that executes this program.
    pub fn export(&self, program: impl Into<String>) -> Exported {
        let contexts = self.contexts();
        let row = |context: Synopsis| ExportedContext {
            prefix: contexts.prefix(context).number(),
            last: match contexts.last_element(context) {
                None => ExportedElement::Cut,
                Some(Element::Received(link)) => ExportedElement::Received(*link),
                Some(Element::Step(step)) => step.into(),
            },
        };
        Exported {
            process: self.process(),
            program: program.into(),
            names: self.names.all().iter().map(|it| (**it).into()).collect(),
            contexts: contexts.all().map(row).collect(),
        }
    }
}

impl From<&Step> for ExportedElement {
    fn from(step: &Step) -> Self {
        match step {
            Step::Path(path) => {
                ExportedElement::Path(path.names().iter().map(|it| it.number()).collect())
            }
            Step::Handler(name) => ExportedElement::Handler(name.number()),
            Step::Stage(name) => ExportedElement::Stage(name.number()),
            Step::Request(name) => ExportedElement::Request(name.number()),
        }
    }
}

/// An element whose names are those of another table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Imported {
    Received(Link),
    Step(Step),
    Cut,
}

impl Exported {
    /// The contexts as prefix and last element. `names` maps name numbers to names of another table.
    pub(crate) fn import(&self, names: &[Name]) -> Result<Vec<(Synopsis, Imported)>, ExportError> {
        (1..)
            .zip(&self.contexts)
            .map(|(number, it)| self.import_one(number, it, names))
            .collect()
    }

    fn import_one(
        &self,
        context: u32,
        exported: &ExportedContext,
        names: &[Name],
    ) -> Result<(Synopsis, Imported), ExportError> {
        let process = self.process;
        let prefix = exported.prefix;
        if prefix >= context {
            return Err(ExportError::Prefix {
                process,
                context,
                prefix,
            });
        }
        let name = |&name: &u32| {
            let error = ExportError::Name {
                process,
                context,
                name,
            };
            names.get(name as usize).copied().ok_or(error)
        };
        let last = match &exported.last {
            ExportedElement::Received(link) => Imported::Received(*link),
            ExportedElement::Path(path) => {
                let path: Vec<Name> = path.iter().map(name).collect::<Result<_, _>>()?;
                Imported::Step(Step::Path(CallPath::new(path)))
            }
            ExportedElement::Handler(it) => Imported::Step(Step::Handler(name(it)?)),
            ExportedElement::Stage(it) => Imported::Step(Step::Stage(name(it)?)),
            ExportedElement::Request(it) => Imported::Step(Step::Request(name(it)?)),
            ExportedElement::Cut => Imported::Cut,
        };
        Ok((Synopsis::from_number(prefix), last))
    }
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExportError::Prefix {
                process,
                context,
                prefix,
            } => write!(
                f,
                "context {context} of process {process} continues context {prefix}, expected an earlier one"
            ),
            ExportError::Name {
                process,
                context,
                name,
            } => write!(
                f,
                "context {context} of process {process} has the name {name}, which is not in its list of names"
            ),
            ExportError::Twice(process) => {
                write!(
                    f,
                    "process {process} is recorded twice, expected each process once"
                )
            }
        }
    }
}

impl std::error::Error for ExportError {}
