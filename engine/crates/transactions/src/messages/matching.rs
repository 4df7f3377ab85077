//! Matches the messages of all processes after the run (Whodunit §5, "post mortem").

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use super::StreamId;
use super::stream::ByteStream;
use crate::Synopsis;
use crate::context::chain::Link;
use crate::ids::ProcessId;

/// A process sent bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendRecord {
    /// The stream.
    pub stream: StreamId,
    /// The bytes' offsets since the start of the stream.
    pub range: Range<u64>,
    /// The context, with the call path of the sending call.
    pub context: Synopsis,
}

/// A process received bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiveRecord {
    /// The stream.
    pub stream: StreamId,
    /// The bytes' offsets since the start of the stream.
    pub range: Range<u64>,
    /// The call path alone, without what was executed before.
    pub at: Synopsis,
}

/// The messages that a process recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessMessages {
    /// What it sent.
    pub sends: Vec<SendRecord>,
    /// What it received.
    pub receives: Vec<ReceiveRecord>,
    /// The peers, in readable form: `10.0.0.5:5432`.
    pub peers: HashMap<StreamId, String>,
    /// Streams whose other ends need not be recorded: those of connections that it accepted, since clients often are not, and those
    /// that are used while recording pauses. What is sent and read there is not reported as missing.
    pub accepted: HashSet<StreamId>,
}

/// The matching messages, and those without a counterpart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// The number of messages from a sender's context to a receiver's call path.
    pub flows: BTreeMap<(Link, Link), u64>,
    /// Messages into streams that no recorded process read, by peer.
    pub unread: BTreeMap<String, Unmatched>,
    /// Reads from streams that no recorded process wrote, by peer.
    pub unwritten: BTreeMap<String, Unmatched>,
    /// Bytes that were not seen to be sent, in streams that some recorded process wrote.
    pub unseen_bytes: u64,
    /// Sends at offsets where something had already been sent. These were left out.
    pub overlaps: u64,
}

/// Messages to or from a peer that was not recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unmatched {
    /// The streams.
    pub streams: BTreeSet<StreamId>,
    /// The number of calls that sent or received.
    pub calls: u64,
}

impl Unmatched {
    fn add(&mut self, stream: StreamId) {
        self.streams.insert(stream);
        self.calls += 1;
    }
}

/// Matches what processes sent with what they received. The order of records does not matter.
pub fn match_messages(processes: &[(ProcessId, &ProcessMessages)]) -> Matches {
    let mut matches = Matches::default();
    let mut streams: HashMap<StreamId, ByteStream<Link>> = HashMap::new();
    let each_send = || {
        processes
            .iter()
            .flat_map(|(id, it)| it.sends.iter().map(move |send| (*id, *it, send)))
    };
    let each_receive = || {
        processes
            .iter()
            .flat_map(|(id, it)| it.receives.iter().map(move |receive| (*id, *it, receive)))
    };
    let read: BTreeSet<StreamId> = each_receive().map(|(_, _, it)| it.stream).collect();
    for (process, messages, send) in each_send() {
        if !read.contains(&send.stream) && !messages.accepted.contains(&send.stream) {
            let peer = messages.peer(send.stream);
            matches.unread.entry(peer).or_default().add(send.stream);
        }
        let link = Link {
            process,
            synopsis: send.context,
        };
        let stream = streams.entry(send.stream);
        let stream = stream.or_insert_with(|| ByteStream::with_limit(usize::MAX));
        if stream.sent(send.range.clone(), link).is_err() {
            matches.overlaps += 1;
        }
    }
    for (process, messages, receive) in each_receive() {
        let Some(stream) = streams.get(&receive.stream) else {
            if !messages.accepted.contains(&receive.stream) {
                let peer = messages.peer(receive.stream);
                let unwritten = matches.unwritten.entry(peer).or_default();
                unwritten.add(receive.stream);
            }
            continue;
        };
        let receipt = stream.received(receive.range.clone());
        matches.unseen_bytes = matches.unseen_bytes.saturating_add(receipt.unknown_bytes);
        let to = Link {
            process,
            synopsis: receive.at,
        };
        for message in receipt.messages.iter().filter(|it| it.begins) {
            *matches.flows.entry((*message.what, to)).or_default() += 1;
        }
    }
    matches
}

impl ProcessMessages {
    fn peer(&self, stream: StreamId) -> String {
        let known = self.peers.get(&stream).cloned();
        known.unwrap_or_else(|| "an unknown peer".into())
    }
}
