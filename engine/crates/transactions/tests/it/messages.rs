//! Messages between processes, randomly split into reads.

use std::collections::BTreeMap;
use std::ops::Range;

use fulcrum_stats::Random;
use fulcrum_transactions::messages::{
    ByteStream, Matches, ProcessMessages, ReceiveRecord, SendRecord, StreamId, match_messages,
};
use fulcrum_transactions::{Link, ProcessId, Synopsis};

/// Messages of random lengths, with their byte ranges in the stream.
fn messages(random: &mut Random, count: u32) -> Vec<(Range<u64>, u32)> {
    let mut at = random.below(1 << 40);
    let mut all = Vec::new();
    for number in 1..=count {
        let longest = [200, 20_000][usize::from(random.below(10) == 0)];
        let length = 1 + random.below(longest);
        all.push((at..at + length, number));
        at += length;
    }
    all
}

/// Reads of a stream with random lengths: one byte, part of a message, or many messages.
fn reads(random: &mut Random, stream: Range<u64>) -> Vec<Range<u64>> {
    let mut all = Vec::new();
    let mut at = stream.start;
    while at < stream.end {
        let longest = [1, 16, 300, 4096, 65_536][random.index(5)];
        let end = (at + 1 + random.below(longest)).min(stream.end);
        all.push(at..end);
        at = end;
    }
    all
}

/// The message that each byte of the read belongs to, in runs, as known to the sender.
fn owners(messages: &[(Range<u64>, u32)], read: &Range<u64>) -> Vec<(u32, bool)> {
    messages
        .iter()
        .filter(|(range, _)| range.start < read.end && read.start < range.end)
        .map(|(range, number)| (*number, read.contains(&range.start)))
        .collect()
}

/// As in the runtime while both processes run: reads come between sends, and what was read is forgotten.
#[test]
fn ten_thousand_messages_in_random_partial_reads_are_all_right() {
    let mut random = Random::new(20_000);
    let (mut total, mut partial, mut begun) = (0, 0, 0);
    for _ in 0..20 {
        let messages = messages(&mut random, 500);
        let all = messages[0].0.start..messages.last().unwrap().0.end;
        let mut stream = ByteStream::with_limit(1000);
        let mut to_send = messages.iter().peekable();
        for read in reads(&mut random, all) {
            while let Some((range, number)) = to_send.next_if(|(range, _)| range.start < read.end) {
                stream.sent(range.clone(), *number).unwrap();
            }
            let receipt = stream.received(read.clone());
            let found: Vec<_> = receipt
                .messages
                .iter()
                .map(|it| (*it.what, it.begins))
                .collect();
            assert_eq!(found, owners(&messages, &read), "{read:?}");
            assert_eq!(receipt.unknown_bytes, 0);
            total += 1;
            partial += usize::from(found.iter().any(|(_, begins)| !begins));
            begun += found.iter().filter(|(_, begins)| *begins).count();
            stream.forget_before(read.end);
            assert!(
                stream.len() <= 1,
                "only what is read in part is still needed"
            );
        }
    }
    assert_eq!(begun, 10_000);
    assert!(
        partial * 2 > total,
        "{partial} of {total} reads begin within a message"
    );
}

/// The same records after the run, in any order and from several processes.
#[test]
fn records_match_in_any_order_and_whatever_the_clocks_say() {
    let mut random = Random::new(5);
    let (client, server) = (ProcessId(1), ProcessId(2));
    let mut processes = BTreeMap::from([
        (client, ProcessMessages::default()),
        (server, ProcessMessages::default()),
    ]);
    let mut expect: BTreeMap<(Link, Link), u64> = BTreeMap::new();
    for number in 0..40 {
        let (from, to) = match number % 2 {
            0 => (client, server),
            _ => (server, client),
        };
        let stream = StreamId(number);
        let sent = messages(&mut random, 50);
        let all = sent[0].0.start..sent.last().unwrap().0.end;
        let reads = reads(&mut random, all);
        for (range, message) in &sent {
            let context = Synopsis::from_number(message % 7 + 1);
            processes.get_mut(&from).unwrap().sends.push(SendRecord {
                stream,
                range: range.clone(),
                context,
            });
            // For the read that has the first byte.
            let read = reads
                .iter()
                .position(|it| it.contains(&range.start))
                .unwrap();
            let link = |process, synopsis| Link { process, synopsis };
            let at = Synopsis::from_number(100 + read as u32 % 3);
            *expect
                .entry((link(from, context), link(to, at)))
                .or_default() += 1;
        }
        for (n, range) in reads.into_iter().enumerate() {
            let at = Synopsis::from_number(100 + n as u32 % 3);
            processes
                .get_mut(&to)
                .unwrap()
                .receives
                .push(ReceiveRecord { stream, range, at });
        }
    }
    for messages in processes.values_mut() {
        random.shuffle(&mut messages.sends);
        random.shuffle(&mut messages.receives);
    }
    let records: Vec<_> = processes.iter().map(|(id, it)| (*id, it)).collect();
    let matches = match_messages(&records);
    assert_eq!(matches.flows.values().sum::<u64>(), 2000);
    assert_eq!(
        matches,
        Matches {
            flows: expect,
            ..Matches::default()
        }
    );
}

fn send(stream: u64, range: Range<u64>) -> SendRecord {
    SendRecord {
        stream: StreamId(stream),
        range,
        context: Synopsis::from_number(1),
    }
}

fn receive(stream: u64, range: Range<u64>) -> ReceiveRecord {
    ReceiveRecord {
        stream: StreamId(stream),
        range,
        at: Synopsis::from_number(2),
    }
}

/// An unrecorded database, an unrecorded queue, clients of an accepted connection, which need no record, and bytes that
/// bypassed the hooks.
#[test]
fn what_was_not_recorded_is_counted_by_peer() {
    let server = ProcessMessages {
        sends: vec![
            send(1, 0..10),
            send(1, 10..20),
            send(2, 0..10),
            send(2, 5..15),
            send(2, 30..40),
            send(6, 0..10),
        ],
        receives: vec![
            receive(3, 0..10),
            receive(4, 0..10),
            receive(4, 10..12),
            receive(5, 0..10),
        ],
        peers: [
            (StreamId(1), "10.0.0.5:5432".to_owned()),
            (StreamId(3), "a queue".to_owned()),
            (StreamId(4), "a queue".to_owned()),
        ]
        .into(),
        accepted: [StreamId(5), StreamId(6)].into(),
    };
    let other = ProcessMessages {
        receives: vec![receive(2, 0..40)],
        ..ProcessMessages::default()
    };
    let matches = match_messages(&[(ProcessId(1), &server), (ProcessId(2), &other)]);
    let database = &matches.unread["10.0.0.5:5432"];
    assert_eq!((database.streams.len(), database.calls), (1, 2));
    let queue = &matches.unwritten["a queue"];
    assert_eq!((queue.streams.len(), queue.calls), (2, 3));
    assert_eq!((matches.unread.len(), matches.unwritten.len()), (1, 1));
    assert_eq!((matches.unseen_bytes, matches.overlaps), (20, 1));
    assert_eq!(matches.flows.values().sum::<u64>(), 2);
}
