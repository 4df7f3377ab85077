//! The traces that requests belong to, and transactions as traces.

use fulcrum_transaction_records::run::{self, Options, Run, Traced};
use fulcrum_transactions::recognise::Recognition;
use fulcrum_wire::transactions::{MAX_HEAD, Via};

use crate::support::script::{MS, Script, Thread};

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const OTHER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4737-00f067aa0ba902b8-00";

fn open(script: Script, options: &Options) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let functions = script.write_to(folder.path(), &[]);
    run::open_with(folder.path(), options, &functions).unwrap()
}

/// The traces of the ways.
fn traces_of(run: &Run) -> Vec<Option<String>> {
    let ways = run.ways.iter();
    ways.map(|it| it.trace.map(|it| it.to_string())).collect()
}

fn web(script: &mut Script) -> Thread {
    let web = script.process(10, "web");
    script.tcp(web, "", 1, Via::Accepted, (80, 4000));
    web
}

/// One request, read in these parts, and its answer.
fn request(script: &mut Script, web: Thread, parts: &[&str]) {
    for part in parts {
        script.receive(web, "main > recv", 1, part.len() as u64, part);
    }
    script.send(web, "main > send", 1, 10);
}

#[test]
fn a_request_tells_its_trace_however_it_is_read() {
    let whole = format!("GET /buy HTTP/1.1\r\nHost: shop\r\ntraceparent: {PARENT}\r\n\r\n");
    for cut in [1, 10, 19, 40, whole.len() - 6] {
        let mut script = Script::default();
        let web = web(&mut script);
        let (first, second) = whole.split_at(cut);
        request(&mut script, web, &[first, second]);
        request(
            &mut script,
            web,
            &["GET /list HTTP/1.1\r\nHost: shop\r\n\r\n"],
        );
        let run = open(script, &Options::default());
        assert_eq!(traces_of(&run), [Some(PARENT.to_owned()), None], "{cut}");
    }
}

#[test]
fn nothing_is_read_where_no_names_are_wanted() {
    let mut script = Script::default();
    let web = web(&mut script);
    let whole = format!("GET /buy HTTP/1.1\r\ntraceparent: {PARENT}\r\n\r\n");
    request(&mut script, web, &[&whole]);
    let options = Options {
        recognition: Recognition::Off,
        ..Options::default()
    };
    assert_eq!(traces_of(&open(script, &options)), [None]);
}

#[test]
fn what_is_not_kept_of_a_request_cannot_be_read() {
    let mut script = Script::default();
    let web = web(&mut script);
    let cookie = format!("GET /buy HTTP/1.1\r\nCookie: {}\r\n", "x".repeat(MAX_HEAD));
    let (kept, lost) = cookie.split_at(MAX_HEAD);
    let rest = format!("{lost}traceparent: {PARENT}\r\n\r\n");
    request(&mut script, web, &[kept, &rest]);
    assert_eq!(traces_of(&open(script, &Options::default())), [None]);
}

/// The front end asks the back end within a trace of its own, which no client has named.
#[test]
fn a_transaction_is_of_the_first_trace_that_one_of_its_requests_tells() {
    let mut script = Script::default();
    let front = web(&mut script);
    let back = script.process(20, "db");
    script.tcp(front, "main > dial", 2, Via::Connected, (5000, 8080));
    script.tcp(back, "", 2, Via::Accepted, (8080, 5000));
    for (outer, inner) in [("", PARENT), (PARENT, OTHER)] {
        let header = |it: &str| match it {
            "" => String::new(),
            it => format!("traceparent: {it}\r\n"),
        };
        let head = format!("GET /buy HTTP/1.1\r\n{}\r\n", header(outer));
        script.receive(front, "main > recv", 1, head.len() as u64, &head);
        script.sample(front, "main > parse", 1);
        script.send(front, "main > ask", 2, 100);
        let head = format!("GET /item HTTP/1.1\r\n{}\r\n", header(inner));
        script.receive(back, "serve > recv", 2, 100, &head);
        script.sample(back, "serve > sort", 1);
        script.send(back, "serve > send", 2, 10);
        script.receive(front, "main > ask", 2, 10, "");
        script.send(front, "main > send", 1, 10);
    }
    let options = Options {
        traced: Traced::Sampled,
        ..Options::default()
    };
    let run = open(script, &options);
    assert_eq!(
        traces_of(&run),
        [Some(PARENT.to_owned()), Some(PARENT.to_owned())]
    );
    let asked: Vec<Option<String>> = run
        .traces
        .transactions
        .iter()
        .map(|it| it.asked_in.map(|it| it.to_string()))
        .collect();
    assert_eq!(asked, [None, Some("00f067aa0ba902b7".to_owned())]);
}

/// Each kind of thread is a stage, in any process. Times are those of the wall clock.
#[test]
fn stages_tell_when_threads_worked_for_a_transaction() {
    let mut script = Script::default();
    let began_ns = script.now_ns;
    let front = web(&mut script);
    let back = script.process(20, "db");
    script.tcp(front, "main > dial", 2, Via::Connected, (5000, 8080));
    script.tcp(back, "", 2, Via::Accepted, (8080, 5000));
    for _ in 0..200 {
        script.receive(front, "main > recv", 1, 10, "GET /buy HTTP/1.1\r\n");
        script.send(front, "main > ask", 2, 100);
        script.receive(back, "serve > recv", 2, 100, "");
        script.rest(5);
        script.send(back, "serve > send", 2, 10);
        script.receive(front, "main > ask", 2, 10, "");
        script.send(front, "main > send", 1, 10);
    }
    script.receive(front, "main > recv", 1, 10, "GET /buy HTTP/1.1\r\n");
    script.sample(front, "main > parse", 1);
    script.send(front, "main > send", 1, 10);
    let options = Options {
        traced: Traced::Sampled,
        ..Options::default()
    };
    let run = open(script, &options);
    let traces = run.traces;
    // Those with ways, and the one with the sample.
    assert!((100..=101).contains(&traces.transactions.len()));
    assert!(traces.transactions.is_sorted_by_key(|it| it.id));
    let lanes: Vec<_> = traces.lanes.iter().map(|it| &*it.program).collect();
    assert_eq!(lanes, ["web", "db"]);
    let last = traces.transactions.last().unwrap();
    assert_eq!((last.stages.len(), last.parent), (1, None));
    for trace in &traces.transactions[..100] {
        let [front, back] = trace.stages.as_slice() else {
            continue;
        };
        assert!(trace.from_ns <= front.from_ns, "{trace:?}");
        assert!(front.from_ns < back.from_ns, "{trace:?}");
        assert!((6..20).contains(&(back.worked_ns / MS)), "{trace:?}");
    }
    let unix_ns = 1_700_000_000_000_000_000 + began_ns;
    let first = traces.transactions[0].from_ns;
    let told = first.checked_add_signed(traces.unix_offset_ns).unwrap();
    assert!((unix_ns..unix_ns + 100_000 * MS).contains(&told), "{told}");
}
