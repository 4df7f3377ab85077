//! What received bytes mean to their receiver (Whodunit §5): a request, more of a request, or an answer.

use std::rc::Rc;

use fulcrum_transactions::{Arrival, Step, Synopsis};
use fulcrum_wire::transactions::MAX_HEAD;

use crate::index::EndId;
use crate::replay::state::direction::Message;
use crate::replay::state::doing::{Doing, Hold, InstanceId, Moment, Origin, TaskId, ThreadRow};
use crate::replay::state::request::{Request, Role, Sender};
use crate::replay::state::wait::WaitsFor;
use crate::replay::state::world::World;

/// A call that received bytes.
pub(in crate::replay) struct Received<'a> {
    pub(crate) thread: ThreadRow,
    pub(crate) end: EndId,
    pub(crate) began_ns: u64,
    pub(crate) time_ns: u64,
    pub(crate) path: u32,
    pub(crate) head: &'a [u8],
}

impl World<'_> {
    /// Bytes have arrived. `message` is the last message they belong to, if it was recorded.
    pub(in crate::replay) fn arrives(
        &mut self,
        received: &Received<'_>,
        message: Option<&Message>,
    ) {
        self.remember_head(received);
        match message {
            Some(message) => self.comes_from_process(received, message),
            None => self.comes_from_outside(received),
        }
    }

    fn remember_head(&mut self, received: &Received<'_>) {
        let head = &mut self.side(received.end).head;
        let room = MAX_HEAD - head.len().min(MAX_HEAD);
        head.extend_from_slice(&received.head[..received.head.len().min(room)]);
    }

    /// The handler that an event loop called for the stream of these bytes.
    fn handler(&self, received: &Received<'_>) -> Option<Step> {
        let event = self.threads[received.thread].event.as_ref()?;
        let is_of_stream = event.end == Some(received.end);
        event.handler.clone().filter(|_| is_of_stream)
    }

    fn comes_from_process(&mut self, received: &Received<'_>, message: &Message) {
        let end = received.end;
        let process = self.index.ends[end].process;
        if let Some(origin) = message.origin.find(process) {
            self.is_answered(received, origin);
            return;
        }
        // The asking side may be greeted first.
        let is_asker = self.side(end).role == Some(Role::Asks);
        if is_asker && message.instance.is_none() {
            return;
        }
        let sender = Some(Sender {
            process: message.origin.process,
            doing: message.origin.doing,
            sent: message.outgoing.sent,
        });
        if self.goes_on(received, sender) {
            return;
        }
        let chain = &message.outgoing.chain;
        // The chain has no part of this process, or its origin is remembered.
        let arrival = self.processes[process].dictionary.receive(chain);
        let context = match arrival {
            Ok(Arrival::Request(context)) => context,
            Ok(Arrival::Reply(context)) => {
                let task = None;
                self.is_answered(received, (Doing { context, task }, Hold::Seen));
                return;
            }
            Err(_) => Synopsis::EMPTY,
        };
        let context = match self.handler(received) {
            Some(handler) => self.append(process, context, handler),
            None => context,
        };
        if let Some(task) = self.takes_turn(received, sender) {
            let task = Some(task);
            self.works_for(received.thread, Doing { context, task }, received.time_ns);
            self.name_request(received);
            return;
        }
        let origin = Some(message.origin.clone());
        self.begins_request(received, context, message.instance, origin, sender);
    }

    /// An answer to this process has arrived: the thread continues where it asked.
    fn is_answered(&mut self, received: &Received<'_>, (origin, hold): (Doing, Hold)) {
        let process = self.index.ends[received.end].process;
        self.side(received.end).role.get_or_insert(Role::Asks);
        let context = match self.handler(received) {
            Some(handler) => self.append(process, origin.context, handler),
            None => origin.context,
        };
        self.keep_waits(received.thread, WaitsFor::Other);
        let doing = Doing { context, ..origin };
        self.works_for(received.thread, doing, received.time_ns);
        self.threads[received.thread].hold = hold;
    }

    fn comes_from_outside(&mut self, received: &Received<'_>) {
        let end = received.end;
        let role = *self.side(end).role.get_or_insert(Role::IsAsked);
        if role == Role::Asks {
            if let Some(asker) = self.awaits_answer(end) {
                self.is_answered(received, asker);
            }
            return;
        }
        if self.goes_on(received, None) {
            return;
        }
        let context = self.first_context(received);
        self.begins_request(received, context, None, None, None);
    }

    /// The task of an unnamed, unanswered request that continues with a message from another call path of its sender. As in
    /// the paper, the context changes with each message.
    fn takes_turn(&mut self, received: &Received<'_>, sender: Option<Sender>) -> Option<TaskId> {
        let task = self.open_task(received.end)?;
        let request = self.side(received.end).request.as_mut()?;
        let of = |it: Sender| (it.process, it.doing);
        let is_more = !request.is_named && request.sender.map(of) == sender.map(of);
        if !is_more {
            return None;
        }
        request.sender = sender;
        Some(task)
    }

    /// More of the latest request on the stream has arrived.
    fn goes_on(&mut self, received: &Received<'_>, sender: Option<Sender>) -> bool {
        let Some(task) = self.open_task(received.end) else {
            return false;
        };
        let request = self.side(received.end).request.as_ref();
        let of = |it: Sender| (it.process, it.doing);
        let is_more = request.is_some_and(|it| {
            it.sender == sender || it.is_named && it.sender.map(of) == sender.map(of)
        });
        if !is_more {
            return false;
        }
        let doing = self.threads[received.thread].doing();
        if doing.task != Some(task) {
            self.keep_waits(received.thread, WaitsFor::Other);
            let context = self.tasks[task].context;
            let task = Some(task);
            self.works_for(received.thread, Doing { context, task }, received.time_ns);
        }
        self.name_request(received);
        true
    }

    /// The initial context of a request from outside: the call path that receives it (§2), or the handlers up to here.
    fn first_context(&mut self, received: &Received<'_>) -> Synopsis {
        let process = self.index.ends[received.end].process;
        let thread = &self.threads[received.thread];
        let (doing, thread_base) = (thread.doing(), thread.base);
        if let Some(handler) = self.handler(received) {
            // What an earlier request on the connection added has ended.
            let dictionary = &mut self.processes[process].dictionary;
            let before = dictionary.before_request(doing.context);
            return dictionary.append(before, handler);
        }
        let is_notified = thread.event.as_ref().is_some_and(|it| it.handler.is_some());
        let known = self.side(received.end).base;
        let known = known.filter(|(of, _)| *of == process).map(|(_, it)| it);
        let base = match (doing.task, doing.context.is_empty()) {
            (None, false) => doing.context,
            (None, true) if !thread_base.is_empty() => thread_base,
            _ => known.unwrap_or_default(),
        };
        self.side(received.end).base.get_or_insert((process, base));
        if is_notified && doing.task.is_none() {
            return base;
        }
        let (index, resolver) = (self.index, self.resolver);
        self.processes[process].append_program_path(index, resolver, base, received.path)
    }

    fn begins_request(
        &mut self,
        received: &Received<'_>,
        context: Synopsis,
        instance: Option<InstanceId>,
        origin: Option<Rc<Origin>>,
        sender: Option<Sender>,
    ) {
        let (thread, end) = (received.thread, received.end);
        let process = self.index.ends[end].process;
        self.drop_idle_waits(thread);
        self.flows_anew(received);
        let task = self.begin_task(process, instance, origin, received.time_ns);
        let side = self.side(end);
        side.role.get_or_insert(Role::IsAsked);
        side.request = Some(Request {
            task,
            is_answered: false,
            is_named: false,
            is_looked_through: false,
            sender,
        });
        let context = self.named(end, context).unwrap_or(context);
        self.look_for_trace(end);
        let task = Some(task);
        let doing = Doing { context, task };
        let from_ns = self.comes_to(received, doing);
        self.works_for(thread, doing, from_ns);
    }

    /// A request does not flow from the previous one on its connection.
    fn flows_anew(&mut self, received: &Received<'_>) {
        let process = self.index.ends[received.end].process;
        let Some(handler) = self.handler(received) else {
            return;
        };
        let Some(event) = &mut self.threads[received.thread].event else {
            return;
        };
        if let Some((from, to)) = &mut event.flow {
            let dictionary = &mut self.processes[process].dictionary;
            *from = dictionary.before_request(*from);
            *to = dictionary.append(*from, handler);
        }
    }

    /// When the thread started to work for a request that it received: when it was told about it, or when it received it.
    /// Before that, it waited for it.
    fn comes_to(&mut self, received: &Received<'_>, doing: Doing) -> u64 {
        let instance = self.instance_of(doing);
        let is_notified = self.handler(received).is_some();
        let thread = &mut self.threads[received.thread];
        let event_ns = thread.event.as_ref().map(|it| it.time_ns);
        let since_event =
            event_ns.filter(|it| thread.moments.last().is_none_or(|last| last.time_ns <= *it));
        if let Some(event_ns) = since_event.filter(|_| is_notified) {
            return event_ns;
        }
        if received.began_ns >= thread.last_ns {
            thread.remember(Moment {
                time_ns: received.began_ns,
                context: doing.context,
                instance,
                is_to_come: true,
            });
        }
        received.time_ns
    }

    /// The context with the name of the latest request at an end, if its first bytes tell.
    fn named(&mut self, end: EndId, context: Synopsis) -> Option<Synopsis> {
        let process = self.index.ends[end].process;
        let recognition = self.recognition;
        let side = self.side(end);
        let request = side.request.as_mut().filter(|it| !it.is_named)?;
        let name = recognition.name(&side.head)?;
        request.is_named = true;
        let dictionary = &mut self.processes[process].dictionary;
        let step = Step::Request(dictionary.names.intern(&name));
        Some(dictionary.append(context, step))
    }

    /// Names a request of which more has arrived.
    fn name_request(&mut self, received: &Received<'_>) {
        self.look_for_trace(received.end);
        let doing = self.threads[received.thread].doing();
        if let Some(context) = self.named(received.end, doing.context) {
            self.works_for(
                received.thread,
                Doing { context, ..doing },
                received.time_ns,
            );
        }
    }
}
