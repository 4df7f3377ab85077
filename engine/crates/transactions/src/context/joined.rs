//! The contexts of all processes in one table. Synopses are replaced with the contexts that they stand for (Whodunit §7.4).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::chain::{Link, UnknownLink};
use super::contexts::{Contexts, Limits};
use super::export::{ExportError, Exported, Imported};
use super::names::{NO_TRANSACTION, Name, Names};
use super::step::Step;
use crate::Synopsis;
use crate::ids::ProcessId;

/// An element of a context across processes. Processes of one program are not told apart, because their transactions have
/// the same types.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Hop {
    /// A step in a process of a program.
    Step {
        /// The program.
        program: Name,
        /// The step.
        step: Step,
    },
    /// The part of an unknown process.
    Missing(ProcessId),
}

/// The contexts of all processes.
#[derive(Clone, Debug)]
pub struct Joined {
    names: Names,
    contexts: Contexts<Hop>,
    processes: BTreeMap<ProcessId, Process>,
    programs: BTreeSet<Name>,
    resolved: HashMap<Link, Synopsis>,
    missing: BTreeMap<ProcessId, BTreeSet<Synopsis>>,
}

#[derive(Clone, Debug)]
struct Process {
    program: Name,
    /// By number, from 1.
    contexts: Vec<(Synopsis, Imported)>,
}

/// The most elements of a context across processes.
const LENGTH: u32 = 256;

impl Joined {
    /// Joins the dictionaries that processes exported.
    ///
    /// # Errors
    /// [`ExportError`], if a dictionary is damaged.
    pub fn of<'a>(exported: impl IntoIterator<Item = &'a Exported>) -> Result<Self, ExportError> {
        let limits = Limits {
            contexts: 1 << 22,
            elements: 1 << 22,
            length: LENGTH,
        };
        let mut joined = Joined {
            names: Names::new(),
            contexts: Contexts::with_limits(limits),
            processes: BTreeMap::new(),
            programs: BTreeSet::new(),
            resolved: HashMap::new(),
            missing: BTreeMap::new(),
        };
        for it in exported {
            joined.add(it)?;
        }
        Ok(joined)
    }

    fn add(&mut self, exported: &Exported) -> Result<(), ExportError> {
        let program = self.names.intern(&exported.program);
        let names = exported.names.iter();
        let names: Vec<Name> = names.map(|it| self.names.intern(it)).collect();
        let process = Process {
            program,
            contexts: exported.import(&names)?,
        };
        self.programs.insert(program);
        match self.processes.insert(exported.process, process) {
            None => Ok(()),
            Some(_) => Err(ExportError::Twice(exported.process)),
        }
    }

    /// The names used by the steps.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The contexts.
    pub fn contexts(&self) -> &Contexts<Hop> {
        &self.contexts
    }

    /// The context that a synopsis of a process stands for.
    ///
    /// Parts that other processes did not record become [`Hop::Missing`].
    ///
    /// # Errors
    /// [`UnknownLink`], if the process is missing or has no such context.
    pub fn resolve(&mut self, link: Link) -> Result<Synopsis, UnknownLink> {
        if let Some(&known) = self.resolved.get(&link) {
            return Ok(known);
        }
        let (mut context, mut since) = (Synopsis::EMPTY, Synopsis::EMPTY);
        for (program, element) in self.elements(link)? {
            context = match element {
                Imported::Received(part) => {
                    since = self.append_part(context, part);
                    since
                }
                Imported::Step(step) => self.append_step(&mut since, context, program, step),
                Imported::Cut => self.contexts.cut(context),
            };
        }
        self.resolved.insert(link, context);
        Ok(context)
    }

    /// Appends a step. A loop stays within one process, and since its request: another process of the same program doing
    /// the same is another stage.
    fn append_step(
        &mut self,
        since: &mut Synopsis,
        to: Synopsis,
        program: Name,
        step: Step,
    ) -> Synopsis {
        let is_request = matches!(step, Step::Request(_));
        let hop = Hop::Step { program, step };
        let context = self.contexts.append_since(*since, to, hop);
        if is_request {
            *since = context;
        }
        context
    }

    /// The result of an earlier [`Self::resolve`] for this link.
    pub fn resolved(&self, link: Link) -> Option<Synopsis> {
        self.resolved.get(&link).copied()
    }

    /// Like [`Self::resolve`], for a link that may be damaged or lost: then the whole context is missing.
    pub fn resolve_or_missing(&mut self, link: Link) -> Synopsis {
        self.resolve(link)
            .unwrap_or_else(|_| self.append_missing(Synopsis::EMPTY, link))
    }

    /// Appends another process's part. Only its steps are appended, because what it received precedes it in the chain.
    fn append_part(&mut self, to: Synopsis, part: Link) -> Synopsis {
        let Ok(elements) = self.elements(part) else {
            return self.append_missing(to, part);
        };
        let mut since = to;
        elements
            .into_iter()
            .fold(to, |to, (program, element)| match element {
                Imported::Received(_) => to,
                Imported::Step(step) => self.append_step(&mut since, to, program, step),
                Imported::Cut => self.contexts.cut(to),
            })
    }

    fn append_missing(&mut self, to: Synopsis, part: Link) -> Synopsis {
        let missing = self.missing.entry(part.process).or_default();
        missing.insert(part.synopsis);
        self.contexts.append(to, Hop::Missing(part.process))
    }

    /// The elements of a context in its process, in order of execution.
    fn elements(&self, link: Link) -> Result<Vec<(Name, Imported)>, UnknownLink> {
        let process = self.processes.get(&link.process);
        let process = process.ok_or(UnknownLink::Process(link))?;
        let mut elements = Vec::new();
        let mut at = link.synopsis;
        while !at.is_empty() {
            let row = process.contexts.get(at.number() as usize - 1);
            let (prefix, element) = row.ok_or(UnknownLink::Context(link))?;
            elements.push((process.program, element.clone()));
            at = *prefix;
        }
        elements.reverse();
        Ok(elements)
    }

    /// Processes with missing parts, and the number of contexts concerned.
    pub fn missing(&self) -> impl Iterator<Item = (ProcessId, usize)> {
        self.missing
            .iter()
            .map(|(&process, contexts)| (process, contexts.len()))
    }

    /// The context as text, one string for each element: `listener_thread > ap_queue_push`. Steps are prefixed with their
    /// program if there are several.
    pub fn texts(&self, context: Synopsis) -> Vec<String> {
        let elements = self.contexts.elements(context).into_iter();
        let mut texts: Vec<String> = elements.map(|it| self.text(it)).collect();
        if self.contexts.is_cut(context) {
            texts.push("…".into());
        }
        texts
    }

    /// The functions, handlers and stages that a context goes through, in order of execution. Omits other elements, such as
    /// requests.
    pub fn functions(&self, context: Synopsis) -> Vec<String> {
        let elements = self.contexts.elements(context).into_iter();
        let steps = elements.filter_map(|it| match it {
            Hop::Step { step, .. } if !matches!(step, Step::Request(_)) => Some(step),
            Hop::Step { .. } | Hop::Missing(_) => None,
        });
        let names = steps.flat_map(|it| it.names());
        let names = names.filter(|&&it| it != Name::CUT);
        names.map(|&it| self.names.text(it).to_owned()).collect()
    }

    fn text(&self, hop: &Hop) -> String {
        match hop {
            Hop::Missing(process) => format!("process {process}, not recorded"),
            Hop::Step { program, step } if self.programs.len() > 1 => {
                format!("{}: {}", self.names.text(*program), step.text(&self.names))
            }
            Hop::Step { step, .. } => step.text(&self.names),
        }
    }

    /// The program in which a context ends, or `None` if it has no step or that part was not recorded.
    pub fn program(&self, context: Synopsis) -> Option<&str> {
        match self.contexts.elements(context).last() {
            Some(Hop::Step { program, .. }) => Some(self.names.text(*program)),
            None | Some(Hop::Missing(_)) => None,
        }
    }

    /// The short name of a flow's end here: the innermost function, the handler, or the stage.
    pub fn short_text(&self, context: Synopsis) -> String {
        match self.contexts.elements(context).last() {
            None => NO_TRANSACTION.into(),
            Some(Hop::Step { step, .. }) => self.names.text(step.short_name()).into(),
            Some(missing @ Hop::Missing(_)) => self.text(missing),
        }
    }
}
