//! A process's contexts, and what it sends and receives about them in messages (Whodunit §5, §7.4).

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
    /// Another process's part, identified by its synopsis there. Comes before all steps.
    Received(Link),
    /// A step in this process.
    Step(Step),
}

/// The contexts of one process.
#[derive(Clone, Debug)]
pub struct Dictionary {
    process: ProcessId,
    /// The names used by its steps.
    pub names: Names,
    contexts: Contexts<Element>,
    /// The context in which each chain was sent, without the call path of the send.
    origins: HashMap<Chain, Synopsis>,
}

/// What a message means to the process that receives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A request: the receiver takes on the sender's context.
    Request(Synopsis),
    /// The reply to a request of this process: the context becomes again that of the request.
    Reply(Synopsis),
}

impl Arrival {
    /// The receiver's new context.
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

    /// The context that continues with this step.
    ///
    /// A process executes one request at a time on behalf of a context, so a request ends an earlier one of this process
    /// and what followed it: on a persistent connection, `GET /b` replaces `GET /a`. What follows a request is no loop back
    /// to before the request, because a handler may well read the request first and then what others have answered for it.
    ///
    /// # Panics
    /// If the context belongs to another dictionary.
    pub fn append(&mut self, context: Synopsis, step: Step) -> Synopsis {
        let request = self.request(context);
        let (since, to) = match (request, &step) {
            (Some(request), Step::Request(_)) => (Synopsis::EMPTY, self.contexts.prefix(request)),
            (Some(request), _) => (request, context),
            (None, _) => (Synopsis::EMPTY, context),
        };
        self.contexts.append_since(since, to, Element::Step(step))
    }

    /// The context up to this process's request that it executes.
    fn request(&self, context: Synopsis) -> Option<Synopsis> {
        let is_request = |&it: &Synopsis| {
            let last = self.contexts.last_element(it);
            matches!(last, Some(Element::Step(Step::Request(_))))
        };
        self.contexts.prefixes(context).find(is_request)
    }

    /// The context before this process began its request, or the context itself if there is none.
    ///
    /// # Panics
    /// If the context belongs to another dictionary.
    pub fn before_request(&self, context: Synopsis) -> Synopsis {
        let request = self.request(context);
        request.map_or(context, |it| self.contexts.prefix(it))
    }

    /// The chain that accompanies a message sent in a context from this call path: what was received before, and the
    /// synopsis of this process's part (§7.4, the wrapper of `send`).
    ///
    /// # Panics
    /// If the context belongs to another dictionary.
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

    /// What a message with this chain means, and the context in which its receiver continues (§7.4, the wrapper of
    /// `receive`).
    ///
    /// If the chain has a part of this process, the message answers a request that was sent from here. The receiver
    /// inherits neither what others have added since (§5), nor the call path of the request.
    ///
    /// # Errors
    /// [`UnknownLink::Context`], if the chain names a context in which this process never sent anything.
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
