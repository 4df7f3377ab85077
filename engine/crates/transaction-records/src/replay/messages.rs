//! Messages (Whodunit §5): which bytes were sent for whom, and for whom whoever receives them works then.

use std::ops::Range;
use std::rc::Rc;

use fulcrum_transactions::messages::{ReceiveRecord, SendRecord, Stream, StreamId};
use fulcrum_transactions::{Arrival, Step, Synopsis};
use fulcrum_wire::transactions::{Head, MAX_HEAD, Record, Via};

use super::process::Outgoing;
use super::requests::{InstanceId, Origin, Request, Role, Sender, TaskId};
use super::thread::{Doing, Moment};
use super::waits::WaitsFor;
use super::world::{Cause, ThreadRow, World};
use crate::index::{ChannelId, EndId, Index};

/// One direction of a stream. Offsets are those of all its writers together.
#[derive(Debug)]
pub(super) struct Direction {
    stream: Stream<Rc<Message>>,
    writers: Vec<EndId>,
    /// Sends that are still to come.
    sends_left: u64,
    sent: u64,
    received: u64,
    /// Everything before was received.
    done: u64,
}

/// What a process sent by one call.
#[derive(Debug)]
struct Message {
    outgoing: Rc<Outgoing>,
    origin: Rc<Origin>,
    instance: Option<InstanceId>,
}

/// How the offsets of one process are those of all.
#[derive(Clone, Copy, Debug, Default)]
struct Counter {
    /// What is added to the process's offsets.
    shift: u64,
    /// The offset with which the process goes on.
    next: u64,
    has_begun: bool,
}

/// An end of a stream in a process.
#[derive(Clone, Debug, Default)]
pub(super) struct EndState {
    /// For whom it was last used.
    pub used: Doing,
    /// For whom something was last sent by it.
    sent: Option<Doing>,
    sends: Counter,
    receives: Counter,
}

/// One call that received bytes.
struct Received<'a> {
    thread: ThreadRow,
    end: EndId,
    began_ns: u64,
    time_ns: u64,
    path: u32,
    head: &'a [u8],
}

impl Direction {
    /// Both directions of a channel, by the side that sends.
    pub fn both(index: &Index, channel: ChannelId) -> [Direction; 2] {
        let channel = &index.channels[channel];
        [0, 1].map(|side| {
            let sends = |end: &&EndId| index.ends[**end].sends > 0;
            let writers: Vec<EndId> = channel.sides[side].iter().filter(sends).copied().collect();
            Direction {
                stream: Stream::with_limit(usize::MAX),
                sends_left: writers.iter().map(|&it| index.ends[it].sends).sum(),
                writers,
                sent: 0,
                received: 0,
                done: 0,
            }
        })
    }
}

impl Counter {
    /// Where among all bytes the process's bytes from `offset` on are. `all` were there before.
    ///
    /// Threads of a process may tell of their calls in another order than they made them, so an offset may be left out at
    /// first and come later.
    fn place(&self, all: u64, offset: u64, is_continued: bool) -> u64 {
        let next = match (self.has_begun, is_continued) {
            (true, _) => self.next,
            // What the process's own count began with is not known.
            (false, true) => offset,
            (false, false) => 0,
        };
        match offset.checked_sub(next) {
            Some(left_out) => all.wrapping_add(left_out),
            None => offset.wrapping_add(self.shift),
        }
    }

    fn count(&mut self, all: &mut u64, offset: u64, length: u64, is_continued: bool) -> Range<u64> {
        let start = self.place(*all, offset, is_continued);
        self.shift = start.wrapping_sub(offset);
        let end = offset.saturating_add(length);
        self.next = if self.has_begun {
            self.next.max(end)
        } else {
            end
        };
        self.has_begun = true;
        let range = start..start.saturating_add(length);
        *all = (*all).max(range.end);
        range
    }
}

impl World<'_> {
    /// The row of a channel and the side that sends what this end receives.
    fn incoming(&self, end: EndId) -> (ChannelId, usize) {
        let end = &self.index.ends[end];
        match self.index.channels[end.channel].is_pipe {
            true => (end.channel, 0),
            false => (end.channel, 1 - end.side),
        }
    }

    fn is_continued(&self, end: EndId) -> bool {
        matches!(self.index.ends[end].via, Via::Inherited | Via::Found)
    }

    /// What has to happen before these bytes can have been received.
    pub(super) fn missing_bytes(&self, end: EndId, offset: u64, length: u64) -> Option<Cause> {
        let (channel, side) = self.incoming(end);
        let direction = &self.directions[channel][side];
        if length == 0 || direction.sends_left == 0 {
            return None;
        }
        let counter = &self.ends[end].receives;
        let start = counter.place(direction.received, offset, self.is_continued(end));
        let range = start..start.saturating_add(length);
        let cause = Some(Cause::Bytes(channel, side));
        if let [writer] = direction.writers[..] {
            // One writer's own offsets are known, and so is what it was not seen to send.
            let sent = &self.index.ends[writer].sent;
            let first = match self.is_continued(writer) {
                true => sent.first().unwrap_or(0),
                false => 0,
            };
            let own = range.start.saturating_add(first)..range.end.saturating_add(first);
            let unknown = direction.stream.received(range.clone()).unknown_bytes;
            let is_sent = (range.end - range.start) - unknown >= sent.covered(own);
            return if is_sent { None } else { cause };
        }
        if direction.sent >= range.end {
            None
        } else {
            cause
        }
    }

    /// A stream is used for the first time.
    pub(super) fn opens(&mut self, thread: ThreadRow, stream: u32) {
        let process = self.threads[thread].process;
        if let Some(&end) = self.index.end_of.get(&(process, stream)) {
            self.ends[end].used = self.threads[thread].doing();
        }
    }

    /// Bytes go out.
    pub(super) fn sends(&mut self, thread: ThreadRow, head: Head, record: &Record<'_>) {
        let process = self.threads[thread].process;
        let &Record::Send {
            stream,
            offset,
            length,
            ..
        } = record
        else {
            return;
        };
        let Some(&end) = self.index.end_of.get(&(process, stream)) else {
            return;
        };
        self.adopt_request(thread, end, head.time_ns);
        self.keep_waits(thread, WaitsFor::Answer);
        let doing = self.threads[thread].doing();
        let outgoing = self.outgoing(process, doing.context, head.path);
        let message = Rc::new(Message {
            outgoing: outgoing.clone(),
            origin: self.origin(process, doing),
            instance: self.instance_of(doing),
        });
        let is_continued = self.is_continued(end);
        let (channel, side) = {
            let end = &self.index.ends[end];
            (end.channel, end.side)
        };
        let direction = &mut self.directions[channel][side];
        let counter = &mut self.ends[end].sends;
        let range = counter.count(&mut direction.sent, offset, length, is_continued);
        direction.sends_left = direction.sends_left.saturating_sub(1);
        // What was sent twice is told when the profile is stitched.
        let _ = direction.stream.sent(range.clone(), message);
        self.possible.push(Cause::Bytes(channel, side));
        let stream = self.stream_id(channel, side, process, end);
        self.processes[process].messages.sends.push(SendRecord {
            stream,
            range,
            context: outgoing.sent,
        });
        let state = &mut self.ends[end];
        (state.used, state.sent) = (doing, Some(doing));
        self.sending_side(end).role.get_or_insert(Role::Asks);
        self.answers(end, doing, head.time_ns);
    }

    /// A thread of which it is not known for whom it works, or that has answered its request, sends by a stream on which
    /// another request is open: it answers that.
    fn adopt_request(&mut self, thread: ThreadRow, end: EndId, time_ns: u64) {
        let doing = self.threads[thread].doing();
        let is_free = match doing.task {
            None => doing.context.is_empty(),
            Some(task) => self.tasks[task].is_answered,
        };
        let open = self.open_task(end).filter(|it| Some(*it) != doing.task);
        if let Some(task) = open.filter(|_| is_free) {
            self.drop_idle_waits(thread);
            let context = self.tasks[task].context;
            let task = Some(task);
            self.works_for(thread, Doing { context, task }, time_ns);
        }
    }

    pub(super) fn outgoing(
        &mut self,
        process: usize,
        context: Synopsis,
        path: u32,
    ) -> Rc<Outgoing> {
        self.processes[process].outgoing(self.index, self.resolver, context, path)
    }

    /// Who sends, and who had asked for it.
    pub(super) fn origin(&self, process: usize, doing: Doing) -> Rc<Origin> {
        let before = doing.task.and_then(|it| self.tasks[it].origin.clone());
        Rc::new(Origin {
            process,
            doing,
            before,
        })
    }

    fn stream_id(
        &mut self,
        channel: ChannelId,
        side: usize,
        process: usize,
        end: EndId,
    ) -> StreamId {
        let id = StreamId(channel as u64 * 2 + side as u64);
        let messages = &mut self.processes[process].messages;
        let peers = &mut messages.peers;
        peers.entry(id).or_insert_with(|| self.index.peer(end));
        if self.index.ends[end].via == Via::Accepted {
            messages.accepted.insert(id);
        }
        id
    }

    /// Bytes come in.
    pub(super) fn receives(&mut self, thread: ThreadRow, head: Head, record: &Record<'_>) {
        let process = self.threads[thread].process;
        let &Record::Receive {
            stream,
            offset,
            length,
            began_ns,
            head: first_bytes,
        } = record
        else {
            return;
        };
        let Some(&end) = self.index.end_of.get(&(process, stream)) else {
            return;
        };
        if length == 0 {
            return;
        }
        let (channel, side) = self.incoming(end);
        let is_continued = self.is_continued(end);
        let direction = &mut self.directions[channel][side];
        let counter = &mut self.ends[end].receives;
        let range = counter.count(&mut direction.received, offset, length, is_continued);
        let receipt = direction.stream.received(range.clone());
        let message = receipt.messages.last().map(|it| Rc::clone(it.what));
        if range.start == direction.done {
            direction.done = range.end;
            direction.stream.forget_before(range.end);
        }
        let at = self.alone(process, head.path);
        let id = self.stream_id(channel, side, process, end);
        let received = ReceiveRecord {
            stream: id,
            range,
            at,
        };
        self.processes[process].messages.receives.push(received);
        let received = Received {
            thread,
            end,
            began_ns,
            time_ns: head.time_ns,
            path: head.path,
            head: first_bytes,
        };
        self.remember_head(&received);
        match message {
            Some(message) => self.comes_from_process(&received, &message),
            None => self.comes_from_outside(&received),
        }
        self.ends[end].used = self.threads[thread].doing();
    }

    fn remember_head(&mut self, received: &Received<'_>) {
        let head = &mut self.side(received.end).head;
        let room = MAX_HEAD - head.len().min(MAX_HEAD);
        head.extend_from_slice(&received.head[..received.head.len().min(room)]);
    }

    /// The handler that an event loop called for the stream that bytes came by.
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
        // Who asks may be greeted first.
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
                self.is_answered(received, Doing { context, task });
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

    /// What this process asked for has come: it goes on where it asked.
    fn is_answered(&mut self, received: &Received<'_>, origin: Doing) {
        let process = self.index.ends[received.end].process;
        self.side(received.end).role.get_or_insert(Role::Asks);
        let context = match self.handler(received) {
            Some(handler) => self.append(process, origin.context, handler),
            None => origin.context,
        };
        self.keep_waits(received.thread, WaitsFor::Other);
        let doing = Doing { context, ..origin };
        self.works_for(received.thread, doing, received.time_ns);
    }

    fn comes_from_outside(&mut self, received: &Received<'_>) {
        let end = received.end;
        let role = *self.side(end).role.get_or_insert(Role::IsAsked);
        if role == Role::Asks {
            if let Some(sent) = self.ends[end].sent {
                self.is_answered(received, sent);
            }
            return;
        }
        if self.goes_on(received, None) {
            return;
        }
        let context = self.first_context(received);
        self.begins_request(received, context, None, None, None);
    }

    /// The task of a request that has no name and no answer yet, and of which more comes by another call path of its sender:
    /// as the paper has it, the context changes with each message.
    fn takes_turn(&mut self, received: &Received<'_>, sender: Option<Sender>) -> Option<TaskId> {
        let task = self.open_task(received.end)?;
        let request = self.side(received.end).request.as_mut()?;
        let of = |it: Sender| (it.process, it.doing);
        let is_more = !request.is_named && request.sender.map(of) == sender.map(of);
        is_more.then(|| request.sender = sender);
        is_more.then_some(task)
    }

    /// More of the request that came last by the stream.
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

    /// The context in which a request from outside begins: the call path that receives it (§2), or the handlers up to here.
    fn first_context(&mut self, received: &Received<'_>) -> Synopsis {
        let process = self.index.ends[received.end].process;
        let thread = &self.threads[received.thread];
        let (doing, thread_base) = (thread.doing(), thread.base);
        if let Some(handler) = self.handler(received) {
            // What an earlier request on the connection added is over.
            let dictionary = &mut self.processes[process].dictionary;
            let before = dictionary.before_request(doing.context);
            return dictionary.append(before, handler);
        }
        let is_told = thread.event.as_ref().is_some_and(|it| it.handler.is_some());
        let known = self.side(received.end).base;
        let known = known.filter(|(of, _)| *of == process).map(|(_, it)| it);
        let base = match (doing.task, doing.context.is_empty()) {
            (None, false) => doing.context,
            (None, true) if !thread_base.is_empty() => thread_base,
            _ => known.unwrap_or_default(),
        };
        self.side(received.end).base.get_or_insert((process, base));
        if is_told && doing.task.is_none() {
            return base;
        }
        self.append_path(process, base, received.path)
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
            sender,
        });
        let context = self.named(end, context).unwrap_or(context);
        let task = Some(task);
        let doing = Doing { context, task };
        let from_ns = self.comes_to(received, doing);
        self.works_for(thread, doing, from_ns);
    }

    /// A request does not flow from the one that came before it on the connection.
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

    /// From when on the thread works for a request that it has received: since it was told that there is one, or since it
    /// has it. Until then it waited for it.
    fn comes_to(&mut self, received: &Received<'_>, doing: Doing) -> u64 {
        let instance = self.instance_of(doing);
        let is_told = self.handler(received).is_some();
        let thread = &mut self.threads[received.thread];
        let told_ns = thread.event.as_ref().map(|it| it.time_ns);
        let since_told =
            told_ns.filter(|it| thread.moments.last().is_none_or(|last| last.time_ns <= *it));
        if let Some(told_ns) = since_told.filter(|_| is_told) {
            return told_ns;
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

    /// A context with the name of the request that came last by an end, when its first bytes tell what it is.
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

    /// Names a request of which more has come.
    fn name_request(&mut self, received: &Received<'_>) {
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
