//! Windows: in pauses, nothing that happens to transactions is recorded, and what later windows need is kept up.

use fulcrum_wire::transactions::{Record, word};

use crate::support::{Lab, Log, Ran};

fn run(way: &str) -> Ran {
    let lab = Lab::build("windows.c");
    let ran = lab.run(&[way]);
    let errors = String::from_utf8_lossy(&ran.output.stderr);
    assert_eq!(ran.output.status.code(), Some(3), "{way}: {errors}");
    ran
}

/// What was sent and received, in order: whether it was sent, by the stream's end, offset and length.
fn passed(log: &Log) -> Vec<(char, u64, u64)> {
    log.each(|it| match it.record {
        Record::Send { offset, length, .. } => Some(('s', offset, length)),
        Record::Receive { offset, length, .. } if length > 0 => Some(('r', offset, length)),
        _ => None,
    })
}

/// A request of two parts and its answer, after so many bytes each.
fn request(asked: u64, answered: u64) -> [(char, u64, u64); 6] {
    [
        ('s', asked, 10),
        ('r', asked, 10),
        ('s', asked + 10, 1),
        ('r', asked + 10, 1),
        ('s', answered, 5),
        ('r', answered, 5),
    ]
}

#[test]
fn offsets_go_on_through_pauses() {
    let ran = run("streams");
    let mut expect = [request(0, 0), request(33, 15)].concat();
    // The rest of a request that came in part in a pause is left out where it arrives.
    expect.extend([('s', 54, 1), ('s', 20, 5), ('r', 20, 5)]);
    expect.extend(request(55, 25));
    assert_eq!(passed(ran.log()), expect);
    assert_eq!(ran.log().word(word::MESSAGES), 18);
}

#[test]
fn what_passed_before_a_connection_was_identified_counts() {
    let ran = run("connection");
    let mut expect = vec![('s', 21, 1), ('s', 5, 5), ('r', 5, 5)];
    expect.extend(request(22, 10));
    assert_eq!(passed(ran.log()), expect);
}

/// Programs get all events at once while nothing is recorded. What a thread then does in the window is not recorded, because it is
/// not known for which event.
#[test]
fn a_thread_that_was_told_of_several_events_in_a_pause_is_recorded_from_the_next_wait_on() {
    let ran = run("events");
    assert_eq!(ran.text(), "told 1 2 1\n");
    let events = ran.log().each(|it| match it.record {
        Record::Event { data, .. } => Some(data),
        _ => None,
    });
    assert_eq!(events.len(), 2);
    let received = |it: &(char, u64, u64)| it.0 == 'r';
    assert_eq!(
        passed(ran.log()).iter().filter(|it| received(it)).count(),
        0
    );
}

#[test]
fn an_event_tells_its_stream_that_was_registered_in_a_pause() {
    let ran = run("registered");
    let events = ran.log().each(|it| match it.record {
        Record::Event { stream, data } => Some((stream, data)),
        _ => None,
    });
    let answered = ran.log().each(|it| match it.record {
        Record::Send {
            stream, length: 5, ..
        } => Some(stream),
        _ => None,
    });
    assert_eq!(answered.len(), 2);
    assert_eq!(events, [(answered[0], 0), (answered[1], 1)]);
}

#[test]
fn what_flows_through_memory_in_pauses_is_not_recorded() {
    let ran = run("memory");
    assert_eq!(ran.text(), format!("seen {}\n", 55 + 5050 + 1000 + 55));
    let consumed = ran.log().each(|it| match it.record {
        Record::Consume { item, .. } => Some(item),
        _ => None,
    });
    assert_eq!(consumed.len(), 20, "{consumed:?}");
    let demoted = ran
        .log()
        .each(|it| matches!(it.record, Record::Demote { .. }).then_some(()));
    assert_eq!(demoted, []);
}

#[test]
fn waits_in_pauses_are_not_recorded() {
    let ran = run("locks");
    let waits = ran.log().each(|it| match it.record {
        Record::Wait { .. } => Some(it.thread),
        _ => None,
    });
    assert_eq!(waits, [4], "the last thread");
    // Threads come and go in pauses too.
    assert_eq!(ran.log().ids.len(), 4);
}
