//! Event loops: each handler's start and end is seen, and programs handle the same events as without the library.

use fulcrum_wire::transactions::{Interest, Record, StreamKind, Via};

use crate::support::{Lab, Log, Ran, numbers};

fn run(way: &str) -> Ran {
    let ran = Lab::build("events.c").run(&[way]);
    let errors = String::from_utf8_lossy(&ran.output.stderr);
    assert!(ran.output.status.success(), "{way}: {errors}");
    ran
}

/// What the program reports to have handled, in order, and how often it waited.
fn said(ran: &Ran) -> (Vec<u64>, u64) {
    let text = ran.text();
    let of = |first: &'static str| {
        let lines = text.lines().filter(move |line| line.starts_with(first));
        lines.flat_map(numbers).collect::<Vec<_>>()
    };
    (of("handled"), of("waits").first().copied().unwrap_or(0))
}

fn idles(log: &Log) -> u64 {
    log.each(|it| matches!(it.record, Record::Idle { .. }).then_some(()))
        .len() as u64
}

const TIMER: u64 = 99;

#[test]
fn each_event_is_told_before_its_handler_and_names_its_stream() {
    let lab = Lab::build("events.c");
    for way in ["level", "edge", "once"] {
        let ran = run(way);
        let (handled, waits) = said(&ran);
        assert_eq!(handled.len(), 3 * 13);
        let log = ran.log();
        let events = log.each(|it| match it.record {
            Record::Event { stream, data } => Some((stream, data)),
            _ => None,
        });
        assert_eq!(
            events.iter().map(|it| it.1).collect::<Vec<_>>(),
            handled,
            "{way}"
        );
        assert_eq!(idles(log), waits);
        assert_eq!(waits, 3 * 13, "one event a call");
        // A handler receives from the stream of its event.
        let mut current = None;
        let mut received = 0;
        for entry in &log.entries {
            match entry.record {
                Record::Event { stream, data } => {
                    assert_eq!(stream == 0, data == TIMER);
                    current = Some(stream);
                }
                Record::Receive { stream, .. } => {
                    assert_eq!(Some(stream), current, "{way}");
                    received += 1;
                }
                _ => {}
            }
        }
        assert_eq!(received, 3 * 12);
        // Without the library, the program handles the same events in the same order.
        let alone = String::from_utf8(lab.alone(&[way]).stdout).unwrap();
        let alone: Vec<u64> = alone
            .lines()
            .filter(|line| line.starts_with("handled"))
            .flat_map(numbers)
            .collect();
        assert_eq!(alone, handled, "{way}");
    }
}

#[test]
fn what_was_closed_meanwhile_has_no_event() {
    let (handled, _) = said(&run("closed"));
    assert_eq!(handled.len(), 1, "{handled:?}");
}

/// If events were fetched and kept here, the watched descriptor would no longer be ready.
#[test]
fn a_watched_epoll_descriptor_stays_ready_until_all_is_fetched() {
    let ran = run("nested");
    let (handled, waits) = said(&ran);
    assert_eq!((handled.len(), waits), (13, 13));
    assert_eq!(idles(ran.log()), waits);
}

#[test]
fn every_way_to_wait_for_what_comes_next_is_told_and_looking_is_not() {
    let ran = run("idle");
    let (_, waits) = said(&ran);
    assert_eq!(waits, 11);
    let idles = ran.log().each(|it| match it.record {
        Record::Idle { began_ns } => Some((began_ns, it.head.time_ns)),
        _ => None,
    });
    assert_eq!(idles.len() as u64, waits);
    assert!(idles.iter().all(|(began, ended)| began <= ended));
    assert!(idles.windows(2).all(|pair| pair[0].1 <= pair[1].0));
}

/// A connection is announced when it is requested, for the thread's work at that time. Its next event belongs to another
/// handler.
#[test]
fn a_connection_is_told_before_its_first_event() {
    let ran = run("upstream");
    let text = ran.text();
    let mut connections = text.lines().map(numbers);
    let mut open = None;
    for entry in &ran.log().entries {
        match entry.record {
            Record::Open {
                stream,
                kind: StreamKind::Tcp,
                via: Via::Connected,
                local,
                peer,
                ..
            } => open = Some((stream, [local.port, peer.port].map(u64::from))),
            Record::Event { stream, data } => {
                let expected = connections.next().expect("as many as the program says");
                let (opened, ports) = open.take().expect("told before");
                assert_eq!((data, ports), (expected[0], [expected[1], expected[2]]));
                assert_eq!(opened, stream);
            }
            _ => {}
        }
    }
    assert_eq!(connections.next(), None);
}

/// The streams of an event's data.
fn stream_of(log: &Log, wanted: u64) -> u32 {
    let found = log.each(|it| match it.record {
        Record::Event { stream, data } if data == wanted => Some(stream),
        _ => None,
    });
    assert!(found.iter().all(|it| *it == found[0]), "{found:?}");
    found[0]
}

/// A registration is recorded once for each work that makes it, unless that is the stream's own, or nobody's.
#[test]
fn a_registration_is_told_when_it_is_made_for_something_else() {
    for way in ["registered", "registered-raw"] {
        let ran = run(way);
        let log = ran.log();
        let server = stream_of(log, 1002);
        let of = |wanted: u32| {
            log.each(|it| match it.record {
                Record::Register { stream, interest } if stream == wanted => Some(interest),
                _ => None,
            })
        };
        // The first one is made before the loop begins.
        let mut expected = vec![Interest::Read];
        expected.extend([Interest::Write; 3 * 2 + 1]);
        expected.push(Interest::Nothing);
        assert_eq!(of(server), expected, "{way}");
        for client in [1000, 1001] {
            assert_eq!(of(stream_of(log, client)), [Interest::Read], "{way}");
        }
        // Each one is between the client's request and the event of the server's connection, and so are the times.
        let mut told = None;
        let mut events = 0;
        for entry in &log.entries {
            match entry.record {
                Record::Register {
                    interest: Interest::Write,
                    ..
                } => told = Some(entry.head.time_ns),
                Record::Event { stream, .. } if stream == server => {
                    let told = told.take().expect("told before");
                    assert!(told <= entry.head.time_ns, "{way}");
                    events += 1;
                }
                _ => {}
            }
        }
        assert_eq!(events, 3 * 2);
    }
}

/// After an event that is for nobody, the loop arms all descriptors again.
#[test]
fn what_is_registered_in_one_place_for_nobody_is_not_told() {
    let ran = run("once");
    let registered = ran.log().each(|it| match it.record {
        Record::Register { stream, .. } => Some(stream),
        _ => None,
    });
    assert_eq!(registered.len(), 12, "only before the loop begins");
}
