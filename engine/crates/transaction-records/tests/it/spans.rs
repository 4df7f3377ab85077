//! Spans that SDKs publish for their threads.

use fulcrum_transaction_records::run::{self, Options, Run};
use fulcrum_transactions::recognise::Recognition;
use fulcrum_wire::transactions::{Record, Via};

use crate::support::script::{Script, Thread};

/// The names of attributes 0 and 1, as a process publishes them.
const NAMES: &[u8] = b"\x12\x48\x0a\x1dthreadlocal.attribute_key_map\x12\x27\x2a\x25\x0a\x0c\x0a\x0ahttp.route\x0a\x15\x0a\x13http.request.method";
const BUY: &[u8] = b"\x00\x04/buy\x01\x03GET";

fn open(script: Script, options: &Options) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let functions = script.write_to(folder.path(), &[]);
    run::open_with(folder.path(), options, &functions).unwrap()
}

fn enters(script: &mut Script, thread: Thread, trace: u64, attributes: &[u8]) {
    let record = Record::Span {
        trace: [trace, 0],
        span: trace.min(7),
        flags: 1,
        attributes,
    };
    script.say(thread, "", record);
}

/// Types with CPU time in milliseconds, and their transactions.
fn costs(run: &Run) -> Vec<(String, u64, u64)> {
    let types = run.stitched.types().into_iter();
    let cost = |name: String, cpu_ns: u64, id| {
        (name, cpu_ns / 1_000_000, run.stitched.transactions_of(id))
    };
    let mut all: Vec<_> = types
        .map(|it| cost(it.name, it.cpu.cpu_ns, it.id))
        .collect();
    all.sort();
    all
}

/// A worker gets a job in an unseen way. Its SDK tells what it works for.
fn handed_over(script: &mut Script) {
    let web = script.process(10, "web");
    script.say(web, "", Record::Context(NAMES));
    script.tcp(web, "", 1, Via::Accepted, (80, 4000));
    let worker = script.spawn(web, "main > start", 2, "worker");
    enters(script, worker, 0, b"");
    // The protocol is unknown.
    script.receive(web, "main > recv", 1, 10, "\x01\x02");
    script.sample(web, "main > parse", 1);
    enters(script, web, 5, BUY);
    script.idle(web, "main > poll");
    enters(script, worker, 5, BUY);
    script.sample(worker, "work > sort", 20);
    script.send(worker, "work > send", 1, 10);
    enters(script, worker, 0, b"");
    script.sample(worker, "work > rest", 300);
}

#[test]
fn threads_work_for_the_transactions_that_their_sdk_tells() {
    let mut script = Script::default();
    handed_over(&mut script);
    let run = open(script, &Options::default());
    let found = costs(&run);
    let buy = found.iter().find(|it| it.0 == "GET /buy").unwrap();
    assert_eq!((buy.1, buy.2), (20, 1), "{found:?}");
    let way = &run.ways[0];
    let told = way.trace.unwrap();
    assert_eq!(told.trace.to_string(), format!("05{}", "00".repeat(15)));
    let threads: Vec<&str> = way.stays.iter().map(|it| &*it.thread).collect();
    assert!(threads.contains(&"worker"), "{threads:?}");
}

#[test]
fn without_names_attributes_name_nothing() {
    let mut script = Script::default();
    handed_over(&mut script);
    let options = Options {
        recognition: Recognition::Off,
        ..Options::default()
    };
    let found = costs(&open(script, &options));
    assert!(found.iter().all(|it| it.0 != "GET /buy"), "{found:?}");
}

/// What the request itself tells stays, and the span adds its trace.
#[test]
fn a_request_with_a_name_keeps_it() {
    let mut script = Script::default();
    let web = script.process(10, "web");
    script.say(web, "", Record::Context(NAMES));
    script.tcp(web, "", 1, Via::Accepted, (80, 4000));
    script.receive(web, "main > recv", 1, 10, "GET /list HTTP/1.1\r\n\r\n");
    enters(&mut script, web, 3, BUY);
    script.sample(web, "main > work", 2);
    script.send(web, "main > send", 1, 10);
    enters(&mut script, web, 0, b"");
    let run = open(script, &Options::default());
    assert_eq!(costs(&run), [("GET /list".to_owned(), 2, 1)]);
    assert!(run.ways[0].trace.is_some());
}

/// Two processes without any visible connection except a trace.
#[test]
fn a_transaction_goes_on_in_another_process_by_its_trace() {
    let mut script = Script::default();
    let web = script.process(10, "web");
    let queue = script.process(20, "queue");
    script.say(web, "", Record::Context(NAMES));
    script.tcp(web, "", 1, Via::Accepted, (80, 4000));
    script.receive(web, "main > recv", 1, 10, "GET /list HTTP/1.1\r\n\r\n");
    enters(&mut script, web, 3, b"");
    script.sample(web, "main > work", 2);
    enters(&mut script, queue, 3, b"");
    script.sample(queue, "take > sort", 30);
    enters(&mut script, queue, 0, b"");
    script.sample(queue, "take > wait", 400);
    script.send(web, "main > send", 1, 10);
    let run = open(script, &Options::default());
    let found = costs(&run);
    let of = |name: &str| found.iter().find(|it| it.0 == name).map(|it| it.1);
    assert_eq!(of("GET /list"), Some(32), "{found:?}");
    assert_eq!(of("no transaction"), Some(400), "{found:?}");
}
