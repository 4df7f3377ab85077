//! Streams: bytes and offsets are those that the programs report.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use fulcrum_wire::transactions::{Address, Record, StreamKind, Via, word};

use crate::support::{Lab, Log, numbers};

/// What a log contains about a stream.
#[derive(Clone, Copy, Debug)]
struct Opened {
    kind: StreamKind,
    via: Via,
    inode: u64,
    peer_inode: u64,
    local: Address,
    peer: Address,
}

fn opened(log: &Log) -> BTreeMap<u32, Opened> {
    let all = log.each(|it| match it.record {
        Record::Open {
            stream,
            kind,
            via,
            inode,
            peer_inode,
            local,
            peer,
        } => Some((
            stream,
            Opened {
                kind,
                via,
                inode,
                peer_inode,
                local,
                peer,
            },
        )),
        _ => None,
    });
    let count = all.len();
    let streams: BTreeMap<_, _> = all.into_iter().collect();
    assert_eq!(streams.len(), count, "each is told once");
    streams
}

/// The log's sends and receives in the program's format.
fn as_said(log: &Log) -> String {
    let mut text = String::new();
    for entry in &log.entries {
        match entry.record {
            Record::Send { offset, length, .. } => {
                writeln!(text, "send {offset} {length}").unwrap();
            }
            Record::Receive {
                offset,
                length,
                head,
                ..
            } => {
                let head: String = head.iter().map(|byte| format!("{byte:02x}")).collect();
                writeln!(text, "receive {offset} {length} {head}").unwrap();
            }
            _ => {}
        }
    }
    text
}

/// The client's and the server's log of this many calls over one kind of connection, which match the programs' reports.
fn calls(kind: &str, rounds: u32) -> [BTreeMap<u32, Opened>; 2] {
    let lab = Lab::build("rpc.c");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let ran = lab.run(&[kind, path, &rounds.to_string()]);
    let errors = String::from_utf8_lossy(&ran.output.stderr);
    assert!(ran.output.status.success(), "{errors}");
    let server = numbers(&ran.text())[0];
    assert_eq!(ran.logs.len(), 2);
    let client = ran.logs.iter().find(|log| log.pid() != server).unwrap();
    let server = ran.log_of(server, 0);
    for (log, name) in [(client, "client"), (server, "server")] {
        let said = fs::read_to_string(folder.path().join(format!("{name}.txt"))).unwrap();
        assert!(said.lines().count() as u32 >= 4 * rounds);
        let logged = as_said(log);
        let differs = logged.lines().zip(said.lines()).position(|(a, b)| a != b);
        assert!(
            logged == said,
            "{kind} {name}: line {differs:?} of {} and {}",
            logged.lines().count(),
            said.lines().count()
        );
        assert_eq!(log.word(word::DROPPED), 0);
        let known = log.each(|it| match it.record {
            Record::Send { .. } | Record::Receive { .. } => Some(it.head.path),
            _ => None,
        });
        assert!(known.iter().all(|path| *path != 0));
    }
    [opened(client), opened(server)]
}

const ROUNDS: u32 = 2000;

/// The only stream.
fn only(streams: &BTreeMap<u32, Opened>) -> Opened {
    assert_eq!(streams.len(), 1, "{streams:?}");
    *streams.values().next().unwrap()
}

#[test]
fn calls_over_tcp_are_told_byte_for_byte() {
    let [client, server] = calls("tcp", ROUNDS).map(|it| only(&it));
    assert_eq!(
        (client.kind, server.kind),
        (StreamKind::Tcp, StreamKind::Tcp)
    );
    assert_eq!((client.via, server.via), (Via::Connected, Via::Accepted));
    assert_eq!((client.local, client.peer), (server.peer, server.local));
    let loopback = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1];
    assert_eq!((client.local.ip, client.peer.ip), (loopback, loopback));
    assert!(client.local.port != 0 && client.peer.port != 0);
}

#[test]
fn addresses_of_six_are_told_as_they_are() {
    let [client, server] = calls("tcp6", 20).map(|it| only(&it));
    assert_eq!((client.local, client.peer), (server.peer, server.local));
    assert_eq!(client.local.ip, std::net::Ipv6Addr::LOCALHOST.octets());
}

#[test]
fn calls_over_unix_sockets_are_told_byte_for_byte() {
    let [client, server] = calls("unix", ROUNDS).map(|it| only(&it));
    assert_eq!(
        (client.kind, server.kind),
        (StreamKind::Unix, StreamKind::Unix)
    );
    assert_eq!((client.via, server.via), (Via::Connected, Via::Accepted));
    assert_ne!(client.inode, server.inode);
    // The client may have asked before the connection was accepted.
    assert_eq!(server.peer_inode, client.inode);
    assert!([0, server.inode].contains(&client.peer_inode));
}

#[test]
fn the_ends_of_a_pair_know_each_other() {
    let [client, server] = calls("pair", 50).map(|it| only(&it));
    assert_eq!((client.via, server.via), (Via::Made, Via::Inherited));
    assert_eq!(
        (client.inode, client.peer_inode),
        (server.peer_inode, server.inode)
    );
}

#[test]
fn calls_over_pipes_are_told_byte_for_byte() {
    let [client, server] = calls("pipe", ROUNDS);
    let of = |streams: &BTreeMap<u32, Opened>| {
        let pipes = streams.values().filter(|it| it.kind == StreamKind::Pipe);
        let mut inodes: Vec<u64> = pipes.map(|it| it.inode).collect();
        inodes.sort_unstable();
        inodes
    };
    assert_eq!(of(&client).len(), 2);
    assert_eq!(of(&client), of(&server));
    assert!(server.values().all(|it| it.via == Via::Inherited));
}

/// The transfers of each stream, in order of stream numbers: the kind, and the lengths of sends and receives.
fn transfers(log: &Log) -> Vec<(StreamKind, Vec<u64>, Vec<u64>)> {
    let opened = opened(log);
    let of = |stream: u32| {
        let sent = log.each(|it| match it.record {
            Record::Send {
                stream: it, length, ..
            } if it == stream => Some(length),
            _ => None,
        });
        let received = log.each(|it| match it.record {
            Record::Receive {
                stream: it, length, ..
            } if it == stream => Some(length),
            _ => None,
        });
        (opened[&stream].kind, sent, received)
    };
    opened.keys().map(|stream| of(*stream)).collect()
}

#[test]
fn bytes_that_the_program_never_sees_are_counted() {
    let lab = Lab::build("rpc.c");
    let folder = tempfile::tempdir().unwrap();
    let ran = lab.run(&["moves", folder.path().to_str().unwrap()]);
    let expected = "sendfile 700\nsplice in 600\ntee 500\nsplice out 550\nrest 550\nsecond 500\nvmsplice 300\ntaken 300\n";
    assert_eq!(ran.text(), expected);
    use StreamKind::{Pipe, Unix};
    // The ends of the pair, then the pipes.
    let expected = [
        (Unix, vec![700], vec![550]),
        (Unix, vec![550], vec![600]),
        (Pipe, vec![600], vec![550]),
        (Pipe, vec![500, 300], vec![500, 300]),
    ];
    assert_eq!(transfers(ran.log()), expected);
}

#[test]
fn a_stream_is_one_under_all_its_numbers_and_a_number_is_several_in_turn() {
    let lab = Lab::build("rpc.c");
    let folder = tempfile::tempdir().unwrap();
    let ran = lab.run(&["descriptors", folder.path().to_str().unwrap()]);
    assert_eq!(ran.text(), "done\n");
    let log = ran.log();
    use StreamKind::{Pipe, Unix};
    // One end of the first pair; the pipe, also under the number it was passed as; both ends of the second pair.
    let expected = [
        (Unix, vec![1; 5], vec![]),
        (Pipe, vec![1, 1], vec![1]),
        (Unix, vec![1], vec![]),
        (Unix, vec![], vec![1]),
    ];
    assert_eq!(transfers(log), expected);
    let closed = log.each(|it| match it.record {
        Record::Close { stream } => Some(stream),
        _ => None,
    });
    let streams: Vec<u32> = opened(log).into_keys().collect();
    assert_eq!(closed.len(), streams.len());
    assert_eq!(
        closed[..2],
        [streams[0], streams[2]],
        "closed in this order"
    );
}

#[test]
fn our_own_descriptors_are_not_open_to_the_program() {
    let lab = Lab::build("rpc.c");
    let ran = lab.run(&["hidden"]);
    let alone = String::from_utf8(lab.alone(&["hidden"]).stdout).unwrap();
    // Descriptors inherited from the test's parent may be open too.
    assert_eq!(ran.text(), alone);
    assert!(alone.starts_with("open "));
}

/// A signal handler that interrupts our code is counted, not logged.
#[test]
fn what_signal_handlers_send_is_counted_whatever_they_interrupt() {
    let ran = Lab::build("rpc.c").run(&["signals"]);
    let [handled, read, other] = numbers(&ran.text())[..] else {
        panic!("{}", ran.text());
    };
    assert_eq!(handled, read);
    let log = ran.log();
    let ends = |of: fn(&Record) -> Option<(u32, u64)>| {
        let mut ends: BTreeMap<u32, u64> = BTreeMap::new();
        for (stream, end) in log.each(|it| of(&it.record)) {
            let known = ends.entry(stream).or_default();
            *known = (*known).max(end);
        }
        ends.into_values().collect::<Vec<_>>()
    };
    // The pipe was made first. The last send into it may not be logged.
    let received = ends(|record| match *record {
        Record::Receive {
            stream,
            offset,
            length,
            ..
        } => Some((stream, offset + length)),
        _ => None,
    });
    assert_eq!(received[0], handled);
    assert!(
        (other - 50..=other).contains(&received[1]),
        "{received:?} {other}"
    );
    let sent = ends(|record| match *record {
        Record::Send {
            stream,
            offset,
            length,
            ..
        } => Some((stream, offset + length)),
        _ => None,
    });
    assert!(
        sent[0] <= handled && sent[1] <= other && sent[1] + 50 >= other,
        "{sent:?}"
    );
    let told = log
        .each(|it| matches!(it.record, Record::Send { .. }).then_some(()))
        .len() as u64;
    let missing = handled + other - told;
    assert!(missing <= log.word(word::DROPPED), "{missing}");
}

#[test]
fn numbers_that_many_threads_use_in_turn_are_not_mixed_up() {
    let ran = Lab::build("rpc.c").run(&["storm"]);
    let [bytes, streams] = numbers(&ran.text())[..] else {
        panic!("{}", ran.text());
    };
    let log = ran.log();
    assert_eq!(log.word(word::DROPPED), 0);
    let opened: Vec<u32> = opened(log).into_keys().collect();
    assert_eq!(opened.len() as u64, streams);
    let mut closed = log.each(|it| match it.record {
        Record::Close { stream } => Some(stream),
        _ => None,
    });
    closed.sort_unstable();
    assert_eq!(closed, opened);
    let mut sent: BTreeMap<u32, u64> = BTreeMap::new();
    let mut received: BTreeMap<u32, u64> = BTreeMap::new();
    for entry in &log.entries {
        let (ends, stream, offset, length) = match entry.record {
            Record::Send {
                stream,
                offset,
                length,
                ..
            } => (&mut sent, stream, offset, length),
            Record::Receive {
                stream,
                offset,
                length,
                ..
            } => (&mut received, stream, offset, length),
            _ => continue,
        };
        let end = ends.entry(stream).or_default();
        assert_eq!(*end, offset, "{entry:?}");
        *end += length;
    }
    assert_eq!(sent.values().sum::<u64>(), bytes);
    assert_eq!(received.values().sum::<u64>(), bytes);
}
