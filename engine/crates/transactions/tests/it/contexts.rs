//! Contexts through events, stages and messages, as in the paper's figures.

use fulcrum_transactions::{
    Activity, Arrival, Chain, Dictionary, Limits, Link, ProcessId, Step, Synopsis, TakenOver,
    UnknownLink,
};

use crate::support::{handler, path, request, shown, stage};

/// Runs an event library's loop (Figure 4). Returns the context after each handler, where each event was added by the
/// previous handler.
fn events(dictionary: &mut Dictionary, handlers: &[&str]) -> Vec<Synopsis> {
    let mut activity = Activity::default();
    let mut seen = Vec::new();
    for name in handlers {
        let event_context = activity.context();
        activity.rest();
        let step = handler(dictionary, name);
        activity.execute(dictionary, event_context, step);
        seen.push(activity.context());
    }
    seen
}

fn check_events(handlers: &[&str], expect: &[&str]) {
    let mut dictionary = Dictionary::new(ProcessId(1));
    let last = events(&mut dictionary, handlers).pop().unwrap();
    assert_eq!(shown(&dictionary, last), expect, "{handlers:?}");
}

/// §4.1.
#[test]
fn handlers_that_run_again_count_once_and_a_kept_connection_is_a_loop() {
    check_events(&["accept", "read", "write"], &["accept", "read", "write"]);
    check_events(&["A", "B", "B", "B", "C"], &["A", "B", "C"]);
    check_events(&["accept", "read", "write", "read"], &["accept", "read"]);
    check_events(
        &["accept", "read", "write", "read", "write", "read", "write"],
        &["accept", "read", "write"],
    );
}

/// Figure 9.
#[test]
fn squids_hits_and_misses_are_two_contexts_of_one_handler() {
    let mut dictionary = Dictionary::new(ProcessId(1));
    let hit = ["httpAccept", "clientReadRequest", "commHandleWrite"];
    let miss = [
        "httpAccept",
        "clientReadRequest",
        "commConnectHandle",
        "httpReadReply",
        "commHandleWrite",
    ];
    let (hits, misses) = (
        events(&mut dictionary, &hit),
        events(&mut dictionary, &miss),
    );
    assert_eq!(hits[..2], misses[..2], "the same until the cache is asked");
    assert_ne!(hits[2], misses[4]);
    assert_eq!(shown(&dictionary, hits[2]), hit);
    assert_eq!(shown(&dictionary, misses[4]), miss);
    assert_eq!(
        events(&mut dictionary, &hit),
        hits,
        "the next hit is of the same type"
    );
}

/// Figures 5 and 10: queue elements carry the context.
#[test]
fn haboobs_write_stage_is_reached_by_hit_and_by_miss() {
    let mut dictionary = Dictionary::new(ProcessId(1));
    let start = [
        "ListenStage",
        "HttpServer",
        "ReadStage",
        "HttpRecv",
        "CacheStage",
    ];
    let mut through = |stages: &[&str]| {
        let mut element = Synopsis::EMPTY;
        for name in start.iter().chain(stages) {
            let mut worker = Activity::default();
            let step = stage(&mut dictionary, name);
            worker.execute(&mut dictionary, element, step);
            element = worker.context();
        }
        element
    };
    let hit = through(&["WriteStage"]);
    let miss = through(&["MissStage", "File I/O Stage", "WriteStage"]);
    assert_ne!(hit, miss);
    assert_eq!(shown(&dictionary, hit).len(), 6);
    assert_eq!(
        shown(&dictionary, miss)[5..],
        ["MissStage", "File I/O Stage", "WriteStage"]
    );
}

/// Figures 6 and 7: one service, called by `foo` and by `bar`.
#[test]
fn a_callee_keeps_callers_apart_and_a_reply_brings_the_callers_context_back() {
    let mut caller = Dictionary::new(ProcessId(1));
    let mut callee = Dictionary::new(ProcessId(2));
    let served = ["foo", "bar"].map(|function| {
        let mut client = Activity::default();
        let handler = handler(&mut caller, "request");
        client.execute(&mut caller, Synopsis::EMPTY, handler);
        let call = path(&mut caller, &format!("main > {function} > rpc > send"));
        let sent = client.send(&mut caller, call);
        assert_eq!(sent.links().len(), 1);

        let mut server = Activity::default();
        let received = server.receive(&mut callee, &sent).unwrap();
        let server_context = server.context();
        assert_eq!(received, Arrival::Request(server_context));
        let respond = path(&mut callee, "main > service > send");
        let response = server.send(&mut callee, respond);
        assert_eq!(
            response.links()[0],
            sent.links()[0],
            "the caller's is a prefix"
        );

        // Meanwhile the client continued with something else.
        let before = client.context();
        client.rest();
        let reply = client.receive(&mut caller, &response).unwrap();
        assert_eq!(reply, Arrival::Reply(before));
        assert_eq!(shown(&caller, client.context()), ["request"]);
        server_context
    });
    assert_ne!(
        served[0], served[1],
        "the callee's profile is kept by caller"
    );
    // Both responses are sent from the same path, so c_response is one synopsis.
    let responses = served.map(|context| {
        let respond = path(&mut callee, "main > service > send");
        callee.send(context, respond).links()[1]
    });
    assert_eq!(responses[0], responses[1]);
}

/// With a proxy in the middle, the last stage's reply goes to the middle one, and that one's reply to the first.
#[test]
fn replies_find_their_way_through_three_tiers() {
    let mut tiers = [1, 2, 3].map(|it| Dictionary::new(ProcessId(it)));
    let mut threads = [(); 3].map(|()| Activity::default());
    let send = |tiers: &mut [Dictionary; 3], threads: &mut [Activity; 3], at: usize, by: &str| {
        let step = path(&mut tiers[at], by);
        threads[at].send(&mut tiers[at], step)
    };
    let to_app = send(&mut tiers, &mut threads, 0, "squid");
    threads[1].receive(&mut tiers[1], &to_app).unwrap();
    let in_app = threads[1].context();
    let to_db = send(&mut tiers, &mut threads, 1, "tomcat");
    threads[2].receive(&mut tiers[2], &to_db).unwrap();
    let links = to_db.links().iter().map(Link::to_string);
    assert_eq!(links.len(), 2);
    assert!(links.eq(shown(&tiers[2], threads[2].context())));

    let from_db = send(&mut tiers, &mut threads, 2, "mysql");
    let reply = threads[1].receive(&mut tiers[1], &from_db).unwrap();
    assert_eq!(reply, Arrival::Reply(in_app));
    let from_app = send(&mut tiers, &mut threads, 1, "tomcat > respond");
    assert_eq!(from_app.links()[0].process, ProcessId(1));
    let reply = threads[0].receive(&mut tiers[0], &from_app).unwrap();
    assert_eq!(reply, Arrival::Reply(Synopsis::EMPTY));
}

/// The context has reached its maximum length.
#[test]
fn a_reply_is_recognised_in_a_context_that_was_cut_off() {
    let limits = Limits {
        length: 2,
        ..Limits::default()
    };
    let mut caller = Dictionary::with_limits(ProcessId(1), limits);
    let mut callee = Dictionary::new(ProcessId(2));
    let long = events(&mut caller, &["accept", "read", "parse"])[2];
    assert!(caller.contexts().is_cut(long));
    let ask = path(&mut caller, "main > ask");
    let asked = caller.send(long, ask);
    assert!(caller.contexts().is_cut(asked.links()[0].synopsis));
    let served = callee.receive(&asked).unwrap().context();
    let answer = path(&mut callee, "main > answer");
    let answered = callee.send(served, answer);
    assert_eq!(caller.receive(&answered), Ok(Arrival::Reply(long)));
}

#[test]
fn a_reply_to_what_was_never_sent_is_an_error_and_changes_nothing() {
    let mut dictionary = Dictionary::new(ProcessId(1));
    let mut activity = Activity::default();
    let step = handler(&mut dictionary, "h");
    activity.execute(&mut dictionary, Synopsis::EMPTY, step);
    let before = activity.context();
    let link = Link {
        process: ProcessId(1),
        synopsis: Synopsis::from_number(99),
    };
    let refused = activity.receive(&mut dictionary, &Chain::new([link]));
    assert_eq!(refused, Err(UnknownLink::Context(link)));
    assert_eq!(
        UnknownLink::Context(link).to_string(),
        "expected a context of process 1, which has none with the number 99"
    );
    assert_eq!(activity.context(), before);
}

#[test]
fn a_chain_reads_as_in_the_paper_and_is_never_longer_than_its_limit() {
    let link = |it| Link {
        process: ProcessId(it),
        synopsis: Synopsis::from_number(7),
    };
    assert_eq!(Chain::new([link(1), link(2)]).to_string(), "1:7#2:7");
    let long = Chain::new((0..100).map(link));
    assert_eq!(long.links().len(), Chain::MOST);
    assert_eq!(long.links()[0], link(0));
}

/// §3.5, and rule 8 of the findings: workers free objects that the listener takes.
#[test]
fn objects_that_come_back_do_not_make_contexts_grow() {
    let mut dictionary = Dictionary::new(ProcessId(1));
    let (mut listener, mut worker) = (Activity::default(), Activity::default());
    let mut lengths = Vec::new();
    for round in 0..100 {
        let push = path(&mut dictionary, "listener > ap_queue_push");
        let connection = listener.hand_on(&mut dictionary, push);
        assert_eq!(worker.take_over(&dictionary, connection), TakenOver::New);
        let free = path(&mut dictionary, "worker > ap_queue_info_push_pool");
        let pool = worker.hand_on(&mut dictionary, free);
        let taken = listener.take_over(&dictionary, pool);
        assert_eq!(taken, TakenOver::Own, "round {round}");
        assert_eq!(listener.context(), Synopsis::EMPTY, "as after a reply");
        lengths.push(dictionary.contexts().length(worker.context()));
    }
    assert_eq!(lengths, [1; 100]);
    assert_eq!(dictionary.contexts().all().count(), 2);
}

/// A dispatcher and its helper: the result returns to the transaction that requested it.
#[test]
fn a_result_continues_what_asked_for_it_however_often_others_were_asked_since() {
    let mut dictionary = Dictionary::new(ProcessId(1));
    let (mut dispatcher, mut helper) = (Activity::default(), Activity::default());
    let first = request(&mut dictionary, "GET /a");
    dispatcher.go_on(&mut dictionary, first);
    let asking = dispatcher.context();
    let ask = path(&mut dictionary, "dispatch > ask");
    let asked = dispatcher.hand_on(&mut dictionary, ask.clone());
    helper.take_over(&dictionary, asked);
    let answer = path(&mut dictionary, "helper > answer");
    let answered = helper.hand_on(&mut dictionary, answer);
    let second = request(&mut dictionary, "GET /b");
    dispatcher.go_on(&mut dictionary, second);
    for _ in 0..1000 {
        dispatcher.hand_on(&mut dictionary, ask.clone());
    }
    assert_eq!(dispatcher.take_over(&dictionary, answered), TakenOver::Own);
    assert_eq!(dispatcher.context(), asking);
}

#[test]
fn a_request_on_a_kept_connection_replaces_the_one_before() {
    let mut dictionary = Dictionary::new(ProcessId(1));
    let mut activity = Activity::default();
    let accept = handler(&mut dictionary, "accept");
    activity.execute(&mut dictionary, Synopsis::EMPTY, accept);
    for name in ["GET /a", "GET /b"] {
        let step: Step = request(&mut dictionary, name);
        activity.go_on(&mut dictionary, step);
        assert_eq!(shown(&dictionary, activity.context()), ["accept", name]);
        let write = handler(&mut dictionary, "write");
        activity.go_on(&mut dictionary, write);
    }
}

/// One handler reads the request, then another server's answer for it, then the next request on the connection.
#[test]
fn what_follows_a_request_does_not_lead_back_to_before_it() {
    let mut dictionary = Dictionary::new(ProcessId(1));
    let [read, write] = ["read", "write"].map(|it| handler(&mut dictionary, it));
    let first = request(&mut dictionary, "GET /a");
    let steps = [&read, &first, &read, &write, &read];
    let context = steps.into_iter().fold(Synopsis::EMPTY, |to, step| {
        dictionary.append(to, step.clone())
    });
    assert_eq!(shown(&dictionary, context), ["read", "GET /a", "read"]);
    let at = path(&mut dictionary, "main > send");
    let chain = dictionary.send(context, at);
    let sent = shown(&dictionary, chain.links()[0].synopsis);
    assert_eq!(sent, ["read", "GET /a", "read", "main > send"]);
    assert_eq!(dictionary.receive(&chain), Ok(Arrival::Reply(context)));
    let before = dictionary.before_request(context);
    assert_eq!(shown(&dictionary, before), ["read"]);
    let next = request(&mut dictionary, "GET /b");
    let context = dictionary.append(context, next);
    assert_eq!(shown(&dictionary, context), ["read", "GET /b"]);
}
