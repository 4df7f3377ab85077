//! A process's contexts, and what it says and hears of them by messages (Whodunit §5, §7.4).

use std::collections::HashMap;

use super::chain::{Chain, Link, UnknownLink};
use super::contexts::{Contexts, Limits};
use super::names::Names;
use super::step::Step;
use crate::Synopsis;
use crate::ids::ProcessId;

/// An element of a context within a process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// The part of another process, known by its synopsis there. Before all steps.
    Received(Link),
    /// A step in this process.
    Step(Step),
}

/// The contexts of one process.
#[derive(Clone, Debug)]
pub struct Dictionary {
    process: ProcessId,
    /// The names that its steps use.
    pub names: Names,
    contexts: Contexts<Element>,
    /// In which context each chain was sent, without the call path that sent it.
    origins: HashMap<Chain, Synopsis>,
}

/// What a message was to the process that received it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A request: the sender's context is now the receiver's.
    Request(Synopsis),
    /// The reply to a request of this process: the context is again that in which it was sent.
    Reply(Synopsis),
}

impl Arrival {
    /// The receiver's context from now on.
    pub fn context(self) -> Synopsis {
        match self {
            Arrival::Request(context) | Arrival::Reply(context) => context,
        }
    }
}

impl Dictionary {
    /// An empty dictionary with the default [`Limits`].
    pub fn new(process: ProcessId) -> Self {
        Dictionary::with_limits(process, Limits::default())
    }

    /// An empty dictionary with these limits.
    pub fn with_limits(process: ProcessId, limits: Limits) -> Self {
        Dictionary {
            process,
            names: Names::new(),
            contexts: Contexts::with_limits(limits),
            origins: HashMap::new(),
        }
    }

    /// The process.
    pub fn process(&self) -> ProcessId {
        self.process
    }

    /// The contexts.
    pub fn contexts(&self) -> &Contexts<Element> {
        &self.contexts
    }

    /// The context that goes on with this step.
    ///
    /// A process executes one request at a time on behalf of a context, so a request ends an earlier one of this process
    /// and what followed it: on a connection that is kept, `GET /b` comes in place of `GET /a`. What follows a request is no
    /// loop back to before it: a handler may well read the request first, and then what others answered for it.
    ///
    /// # Panics
    /// When the context is another dictionary's.
    pub fn append(&mut self, context: Synopsis, step: Step) -> Synopsis {
        let request = self.request(context);
        let (since, to) = match (request, &step) {
            (Some(request), Step::Request(_)) => (Synopsis::EMPTY, self.contexts.prefix(request)),
            (Some(request), _) => (request, context),
            (None, _) => (Synopsis::EMPTY, context),
        };
        self.contexts.append_since(since, to, Element::Step(step))
    }

    /// The context up to the request of this process that it executes.
    fn request(&self, context: Synopsis) -> Option<Synopsis> {
        let is_request = |&it: &Synopsis| {
            let last = self.contexts.last_element(it);
            matches!(last, Some(Element::Step(Step::Request(_))))
        };
        self.contexts.prefixes(context).find(is_request)
    }

    /// The context as it was before this process began its request; without one, the context itself.
    ///
    /// # Panics
    /// When the context is another dictionary's.
    pub fn before_request(&self, context: Synopsis) -> Synopsis {
        let request = self.request(context);
        request.map_or(context, |it| self.contexts.prefix(it))
    }

    /// What is sent beside a message that leaves a context by this call path: what was received before, and the synopsis of
    /// this process's part (§7.4, the wrapper of `send`).
    ///
    /// # Panics
    /// When the context is another dictionary's.
    pub fn send(&mut self, context: Synopsis, at: Step) -> Chain {
        let sent = self.append(context, at);
        let mut links = Vec::new();
        let mut own = Vec::new();
        for element in self.contexts.elements(sent) {
            match element {
                Element::Received(link) => links.push(*link),
                Element::Step(step) => own.push(step.clone()),
            }
        }
        let own = own.into_iter();
        let mut part = own.fold(Synopsis::EMPTY, |to, step| self.append(to, step));
        if self.contexts.is_cut(sent) {
            part = self.contexts.cut(part);
        }
        links.push(Link {
            process: self.process,
            synopsis: part,
        });
        let chain = Chain::new(links);
        self.origins.insert(chain.clone(), context);
        chain
    }

    /// What a message with this chain is, and the context in which its receiver goes on (§7.4, the wrapper of `receive`).
    ///
    /// A part of this process in the chain says that the message answers a request that was sent from here. What others have
    /// added since is not inherited (§5), nor is the call path that sent the request.
    ///
    /// # Errors
    /// [`UnknownLink::Context`], when the chain names a context in which this process never sent anything.
    pub fn receive(&mut self, chain: &Chain) -> Result<Arrival, UnknownLink> {
        let links = chain.links();
        let own = links.iter().position(|it| it.process == self.process);
        let Some(own) = own else {
            return Ok(Arrival::Request(self.received(links)));
        };
        let sent = Chain::new(links[..=own].iter().copied());
        let origin = self.origins.get(&sent).copied();
        origin
            .map(Arrival::Reply)
            .ok_or(UnknownLink::Context(links[own]))
    }

    fn received(&mut self, links: &[Link]) -> Synopsis {
        self.contexts
            .of(links.iter().copied().map(Element::Received))
    }
}
