//! Messages (Whodunit §5): the transaction for which bytes were sent, and the one that the receiver then works for.

use std::rc::Rc;

use fulcrum_transactions::Synopsis;
use fulcrum_transactions::messages::{ReceiveRecord, SendRecord, StreamId};
use fulcrum_wire::transactions::{Head, Record, Via};

use super::arrivals::Received;
use crate::index::{ChannelId, EndId};
use crate::replay::state::direction::{Message, Start};
use crate::replay::state::doing::{Doing, Hold, Origin, ThreadRow};
use crate::replay::state::process::Outgoing;
use crate::replay::state::request::Role;
use crate::replay::state::wait::WaitsFor;
use crate::replay::state::world::{Cause, World};

impl World<'_> {
    /// The channel that an end receives from, and the side that sends into it.
    pub(super) fn incoming(&self, end: EndId) -> (ChannelId, usize) {
        let end = &self.index.ends[end];
        match self.index.channels[end.channel].is_pipe {
            true => (end.channel, 0),
            false => (end.channel, 1 - end.side),
        }
    }

    /// Where the offsets of an end's process start.
    fn start(&self, end: EndId) -> Start {
        match self.index.ends[end].via {
            Via::Inherited | Via::Found => Start::Unknown,
            Via::Accepted | Via::Connected | Via::Made => Start::AtZero,
        }
    }

    /// What must happen before these bytes can have been received.
    pub(in crate::replay) fn missing_bytes(
        &self,
        end: EndId,
        offset: u64,
        length: u64,
    ) -> Option<Cause> {
        let (channel, side) = self.incoming(end);
        let direction = &self.directions[channel][side];
        if length == 0 || direction.sends_left == 0 {
            return None;
        }
        let counter = &self.ends[end].receives;
        let start = counter.place(direction.received, offset, self.start(end));
        let range = start..start.saturating_add(length);
        let cause = Some(Cause::Bytes(channel, side));
        if let [writer] = direction.writers[..] {
            // A single writer's own offsets are known, and so is what was not recorded of its sends.
            let sent = &self.index.ends[writer].sent;
            let first = match self.start(writer) {
                Start::Unknown => sent.first().unwrap_or(0),
                Start::AtZero => 0,
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
    pub(in crate::replay) fn opens(&mut self, thread: ThreadRow, stream: u32) {
        let process = self.threads[thread].process;
        if let Some(&end) = self.index.end_of.get(&(process, stream)) {
            self.ends[end].used = self.threads[thread].doing();
            self.touches(end);
        }
    }

    /// Bytes are sent.
    pub(in crate::replay) fn sends(&mut self, thread: ThreadRow, head: Head, record: &Record<'_>) {
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
        self.touches(end);
        self.turns_to(thread, end, head.time_ns);
        let doing = self.threads[thread].doing();
        let outgoing = self.outgoing(process, doing.context, head.path);
        let message = Rc::new(Message {
            outgoing: outgoing.clone(),
            origin: self.origin(thread),
            instance: self.instance_of(doing),
            window: self.window_of(process),
        });
        let begins = self.start(end);
        let (channel, side) = {
            let end = &self.index.ends[end];
            (end.channel, end.side)
        };
        let direction = &mut self.directions[channel][side];
        let counter = &mut self.ends[end].sends;
        let range = counter.count(&mut direction.sent, offset, length, begins);
        direction.sends_left = direction.sends_left.saturating_sub(1);
        // Duplicate sends are reported when the profile is stitched.
        let _ = direction.stream.sent(range.clone(), message);
        self.possible.push(Cause::Bytes(channel, side));
        let stream = self.stream_id(channel, side, process, end);
        self.processes[process].messages.sends.push(SendRecord {
            stream,
            range,
            context: outgoing.sent,
        });
        let state = &mut self.ends[end];
        let hold = self.threads[thread].hold;
        (state.used, state.sent) = (doing, Some((doing, hold)));
        state.registered = None;
        self.sending_side(end).role.get_or_insert(Role::Asks);
        self.answers(end, doing, head.time_ns);
    }

    /// A thread is about to send on a stream. If its transaction is unknown, or its request has ended, it answers the open
    /// request there, or greets a new connection.
    fn turns_to(&mut self, thread: ThreadRow, end: EndId, time_ns: u64) {
        let doing = self.threads[thread].doing();
        let is_free = match doing.task {
            None => doing.context.is_empty(),
            Some(task) => self.tasks[task].is_over,
        };
        let came_last = self.current_task(end);
        let open = match doing.task {
            // Possibly more of an answer.
            None => came_last,
            Some(task) => self.open_task(end).filter(|it| *it != task),
        };
        let is_new = came_last.is_none() && self.side(end).role == Some(Role::IsAsked);
        if let Some(task) = open.filter(|_| is_free) {
            self.drop_idle_waits(thread);
            let context = self.tasks[task].context;
            let task = Some(task);
            self.works_for(thread, Doing { context, task }, time_ns);
            self.threads[thread].hold = Hold::Answered;
        } else if is_new && is_free && doing.task.is_some() {
            self.drop_idle_waits(thread);
            self.works_for(thread, Doing::default(), time_ns);
        } else if came_last.is_some() && came_last == doing.task {
            self.keep_waits(thread, WaitsFor::Answer);
        } else {
            self.keep_waits(thread, WaitsFor::Other);
        }
    }

    pub(in crate::replay) fn outgoing(
        &mut self,
        process: usize,
        context: Synopsis,
        path: u32,
    ) -> Rc<Outgoing> {
        self.processes[process].outgoing(self.index, self.resolver, context, path)
    }

    /// The transaction that a thread works for, and where its request came from.
    pub(in crate::replay) fn origin(&self, thread: ThreadRow) -> Rc<Origin> {
        let it = &self.threads[thread];
        let before = it.task.and_then(|it| self.tasks[it].origin.clone());
        Rc::new(Origin {
            process: it.process,
            doing: it.doing(),
            hold: it.hold,
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
        let id = StreamId(channel.0 as u64 * 2 + side as u64);
        let may_be_paused = self.may_pass_in_pauses(end);
        let messages = &mut self.processes[process].messages;
        let peers = &mut messages.peers;
        peers.entry(id).or_insert_with(|| self.index.peer(end));
        if self.index.ends[end].via == Via::Accepted || may_be_paused {
            messages.accepted.insert(id);
        }
        id
    }

    /// Bytes are received.
    pub(in crate::replay) fn receives(
        &mut self,
        thread: ThreadRow,
        head: Head,
        record: &Record<'_>,
    ) {
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
        let begins = self.start(end);
        let direction = &mut self.directions[channel][side];
        let counter = &mut self.ends[end].receives;
        let range = counter.count(&mut direction.received, offset, length, begins);
        let receipt = direction.stream.received(range.clone());
        let message = receipt.messages.last().map(|it| Rc::clone(it.what));
        if range.start == direction.done || std::mem::take(&mut direction.goes_on) {
            direction.done = range.end;
            direction.stream.forget_before(range.end);
        }
        self.touches(end);
        if self.is_of_earlier_window(end, message.as_deref()) {
            self.continues_unseen(thread, head.time_ns);
            return;
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
        self.arrives(&received, message.as_deref());
        self.ends[end].used = self.threads[thread].doing();
    }
}
