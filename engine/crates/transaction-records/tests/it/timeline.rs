//! When transactions began, worked, waited and ended.

use fulcrum_transaction_records::run::{Options, Run, open_bytes};
use fulcrum_transactions::crosstalk::Holder;
use fulcrum_wire::transactions::{LockKind, Via};

use crate::support::script::{MS, Script};

fn open(script: Script, timeline: bool) -> Run {
    let options = Options {
        timeline,
        ..Options::default()
    };
    let (logs, samples, functions) = script.bytes();
    open_bytes(logs, Some(samples), &options, &functions).unwrap()
}

/// A checkout waits for a report. Also returns when both began, when the wait ended, and when both were answered.
fn checkout_and_report() -> (Script, [u64; 5]) {
    let mut script = Script::default();
    let main = script.process(10, "till");
    let threads = [2, 3].map(|n| script.spawn(main, "main > start", n, "connection"));
    let mut began = Vec::new();
    for ((thread, stream), name) in threads.into_iter().zip([1, 2]).zip(["checkout", "report"]) {
        let ports = (8080, 4000 + stream as u16);
        script.tcp(thread, "accept", stream, Via::Accepted, ports);
        let request = format!("GET /{name} HTTP/1.1\r\n");
        script.receive(thread, "serve > recv", stream, 10, &request);
        began.push(script.now_ns);
    }
    let [checkout, report] = threads;
    script.rest(200);
    script.release(report, "serve > report > unlock", LockKind::Mutex);
    let holder = report.tid(&script);
    script.wait(
        checkout,
        "serve > take > lock",
        LockKind::Mutex,
        150,
        holder,
    );
    let waited = script.now_ns;
    script.send(checkout, "serve > send", 1, 10);
    let answered = script.now_ns;
    script.sample(checkout, "serve > log", 3);
    script.send(report, "serve > send", 2, 10);
    let reported = script.now_ns;
    (script, [began[0], began[1], waited, answered, reported])
}

#[test]
fn a_timeline_has_all_transactions_with_their_work_and_waits() {
    let (script, [checkout, report, waited, answered, reported]) = checkout_and_report();
    let run = open(script, true);
    let timeline = &run.timeline;
    let name = |it| run.stitched.type_name(it);
    let found: Vec<_> = timeline
        .transactions
        .iter()
        .map(|it| (name(it.of), it.began_ns, it.ended_ns))
        .collect();
    assert_eq!(
        found,
        [
            ("GET /checkout", checkout, answered),
            ("GET /report", report, reported)
        ]
    );
    let work: Vec<_> = timeline
        .work
        .iter()
        .map(|it| (it.transaction, it.from_ns, it.to_ns))
        .collect();
    assert_eq!(work, [(0, checkout, answered), (1, report, reported)]);
    let [wait] = &timeline.waits[..] else {
        panic!("{:?}", timeline.waits);
    };
    assert_eq!(
        (wait.transaction, wait.holder, wait.from_ns, wait.to_ns),
        (0, Some(1), waited - 150 * MS, waited)
    );
    let place = &timeline.places[wait.place as usize];
    assert_eq!(name(place.waiter), "GET /checkout");
    assert_eq!(
        place.holder.map(|it| name(it).to_owned()),
        Holder::Transaction("GET /report".into())
    );
    assert_eq!(place.lock, "cart_lock");
    assert_eq!(place.functions, ["serve", "take", "lock"]);
    assert_eq!(timeline.programs[&wait.process], "till");
}

#[test]
fn a_run_has_a_timeline_only_on_request() {
    let (script, _) = checkout_and_report();
    let run = open(script, false);
    assert!(run.timeline.transactions.is_empty() && run.timeline.waits.is_empty());
}
