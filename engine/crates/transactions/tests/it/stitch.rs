//! Profiles of several processes as one: the paper's figures and tables, rebuilt from records.

use std::sync::Arc;

use fulcrum_model::call_tree::FrameKind;
use fulcrum_paths::{CallTreeProfile, ProfileInterface};
use fulcrum_transactions::crosstalk::Holder;
use fulcrum_transactions::stitch::{Ending, Stitched, TypeProfile};
use fulcrum_transactions::{Activity, Cuts, Flow, FlowKind, LockId, NamingRule, Step, Synopsis};

use crate::support::bookstore::{MS, Process, TABLE_1, bookstore};
use crate::support::{path, request};

fn named<'a>(types: &'a [TypeProfile], name: &str) -> &'a TypeProfile {
    let found = types.iter().find(|it| it.name == name);
    found.unwrap_or_else(|| panic!("no {name} in {types:#?}"))
}

/// The shares of MySQL's CPU time in Table 1, with types named by their servlets.
#[test]
fn table_1_mysqls_time_is_told_by_interaction() {
    let rules = TABLE_1.map(|(interaction, ..)| NamingRule {
        name: interaction.into(),
        through: vec!["Thread.run".into(), format!("{interaction}.doGet")],
    });
    let stitched = Stitched::of(bookstore(false), rules.into()).unwrap();
    let types = stitched.types();
    let all: u64 = TABLE_1.iter().map(|(_, cpu, _)| cpu).sum();
    for (interaction, cpu, wait) in TABLE_1 {
        let found = named(&types, interaction);
        assert_eq!(found.cpu.cpu_ns, cpu * MS, "{interaction}");
        assert_eq!(found.stages.len(), 1);
        assert_eq!(
            (&*found.stages[0].process, &*found.stages[0].thread),
            ("mysqld", "connection")
        );
        assert_eq!(found.wait_ns, 4 * wait * 1000);
        let total = (all + 20) as f64;
        assert!(
            (found.cpu.of_all - cpu as f64 / total).abs() < 1e-9,
            "{found:?}"
        );
    }
    assert_eq!(&*types[0].name, "BestSellers");
    // As in the paper, Squid and Tomcat cannot tell interactions apart before the servlet is chosen.
    let with_context = |context: &[&str]| types.iter().find(|it| it.context == context).unwrap();
    let in_tomcat = with_context(&["squid: httpAccept", "squid: main > forward"]);
    assert_eq!((in_tomcat.cpu.cpu_ns, in_tomcat.latency), (20 * MS, None));
    // The nearest ranks are the tenth, nineteenth and last of 1 to 20 ms.
    let latency = with_context(&["squid: httpAccept"]).latency.unwrap();
    assert_eq!(
        (
            latency.p50_ns,
            latency.p95_ns,
            latency.p99_ns,
            latency.count
        ),
        (10 * MS, 19 * MS, 20 * MS, 20)
    );
    let stages = stitched.stages().into_iter();
    let stages: Vec<_> = stages
        .map(|it| (it.process, it.thread, it.cpu.cpu_ns))
        .collect();
    let stage = |process: &str, thread: &str, ms| (process.into(), thread.into(), ms * MS);
    assert_eq!(
        stages,
        [
            stage("mysqld", "connection", all),
            stage("java", "exec", 20)
        ]
    );
    assert_eq!(stitched.total_cpu_ns(), (all + 20) * MS);
    assert_eq!(
        stitched.notes(),
        ["In mysqld (3), 20 waits had an unknown holder."]
    );
}

/// A recognised request is part of the context, so the tiers behind it are told apart by it.
#[test]
fn a_recognised_request_names_a_type_in_all_tiers_behind_it() {
    let stitched = Stitched::of(bookstore(true), Vec::new()).unwrap();
    let types = stitched.types();
    let found = named(&types, "GET /BestSellers");
    assert_eq!(
        found.context,
        [
            "squid: httpAccept",
            "squid: main > forward",
            "java: GET /BestSellers"
        ]
    );
    let stages: Vec<_> = found
        .stages
        .iter()
        .map(|it| (&*it.process, it.cpu.cpu_ns))
        .collect();
    assert_eq!(stages, [("mysqld", 5150 * MS), ("java", 4 * MS)]);
    let names: Vec<&str> = types
        .iter()
        .map(|it| &*it.name)
        .filter(|it| it.starts_with("GET"))
        .collect();
    assert_eq!(names.len(), TABLE_1.len());
}

/// Contexts with the same name have a common prefix.
#[test]
fn a_name_joins_contexts_and_shows_what_they_have_in_common() {
    let rule = |name: &str, through: [&str; 2]| NamingRule {
        name: name.into(),
        through: through.map(String::from).into(),
    };
    let rules = vec![
        rule("in the wrong order", ["execute", "forward"]),
        rule("all interactions", ["forward", "execute"]),
        rule("too late", ["httpAccept", "execute"]),
    ];
    let stitched = Stitched::of(bookstore(false), rules).unwrap();
    let types = stitched.types();
    let found = named(&types, "all interactions");
    assert_eq!(found.cpu.cpu_ns, 9946 * MS);
    assert_eq!(
        found.context,
        ["squid: httpAccept", "squid: main > forward"]
    );
    assert_eq!(
        types.len(),
        3,
        "and those before a servlet is chosen: {types:#?}"
    );
}

/// Requests and replies (Figure 7), and the places of waits.
#[test]
fn messages_are_flows_and_pairs_have_their_locks_and_paths() {
    let stitched = Stitched::of(bookstore(true), Vec::new()).unwrap();
    let flow = |from: &str, to: &str, count| Flow {
        kind: FlowKind::Message,
        from: from.into(),
        to: to.into(),
        count,
    };
    let expect = [
        flow("execute", "read_message", 20),
        flow("forward", "read_message", 20),
        flow("net_flush", "read_message", 20),
        flow("respond", "read_message", 20),
    ];
    assert_eq!(stitched.flows(), expect);
    let programs: Vec<_> = stitched
        .placed_flows()
        .into_iter()
        .map(|it| format!("{} {} → {}", it.from.program, it.from.name, it.to.program))
        .collect();
    let expect = [
        "java execute → mysqld",
        "java respond → squid",
        "mysqld net_flush → java",
        "squid forward → java",
    ];
    assert_eq!(programs, expect);
    let first = stitched.crosstalk().swap_remove(0);
    assert_eq!(stitched.type_name(first.waiter), "GET /AdminConfirm");
    assert_eq!(
        (first.holder, &*first.lock, first.kind.name()),
        (Holder::Unknown, "item", "rwlock")
    );
    assert_eq!((first.count, first.mean_ns()), (4, 93.76e6));
    let (paths, wait_ns) = &first.paths[0];
    assert_eq!(paths.waiter, "mysqld: do_command > lock_table");
    assert_eq!((&paths.holder, *wait_ns), (&None, first.wait_ns));
}

/// A type's tree is an ordinary profile: bottleneck search finds its paths.
#[test]
fn the_tree_of_a_type_can_be_searched() {
    let stitched = Stitched::of(bookstore(true), Vec::new()).unwrap();
    let types = stitched.types();
    let tree = stitched
        .tree(named(&types, "GET /SearchResult").id)
        .unwrap();
    let roots: Vec<_> = tree
        .roots()
        .map(|it| (tree.frame(it).kind, &*tree.frame(it).name))
        .collect();
    assert_eq!(
        roots,
        [
            (FrameKind::Container, "java"),
            (FrameKind::Container, "mysqld")
        ]
    );
    let profile = CallTreeProfile::new(Arc::new(tree), 0);
    let sort = profile.summary_of(&["mysql_execute", "filesort"]).unwrap();
    assert_eq!(profile.cum_of(&sort), (4328 * MS) as i64);
    assert_eq!(profile.top_extensions(&sort), ["do_command"]);
    assert_eq!(profile.total(), (4332 * MS) as i64);
    assert!(
        profile.summary_of(&["BestSellers.doGet"]).is_err(),
        "another type's"
    );
}

/// Figure 8: the listener's context is a prefix of the workers'.
#[test]
fn apaches_workers_continue_the_listeners_context() {
    let mut apache = Process::new(1, "apache2");
    let (mut listener, mut worker) = (Activity::default(), Activity::default());
    let push = path(&mut apache.dictionary, "listener_thread > ap_queue_push");
    let produced = listener.hand_on(&mut apache.dictionary, push);
    worker.take_over(&apache.dictionary, produced);
    let pop = apache.at("worker_thread > ap_queue_pop");
    let flows = &mut apache.record.flows;
    flows.add(FlowKind::Memory, produced, pop, 3980);
    apache.sample(Synopsis::EMPTY, "listener", "listener_thread > accept", MS);
    apache.sample(
        worker.context(),
        "worker",
        "worker_thread > process_connection",
        3 * MS,
    );
    let stitched = Stitched::of(vec![apache.end()], Vec::new()).unwrap();
    let flow = Flow {
        kind: FlowKind::Memory,
        from: "ap_queue_push".to_owned(),
        to: "ap_queue_pop".to_owned(),
        count: 3980,
    };
    assert_eq!(stitched.flows(), [flow]);
    let types = stitched.types();
    assert_eq!(types.len(), 2);
    assert_eq!(types[0].context, ["listener_thread > ap_queue_push"]);
    assert_eq!(
        (types[0].cpu.of_all, &*types[0].stages[0].thread),
        (0.75, "worker")
    );
    assert_eq!(
        (&*types[1].name, types[1].cpu.of_all),
        ("no transaction", 0.25)
    );
}

/// An unrecorded stage in the middle, and everything else that can be missing.
#[test]
fn what_is_missing_is_told_and_the_rest_is_shown() {
    let mut records = bookstore(true);
    let mut tomcat = records.remove(1);
    let stitched = Stitched::of(records.clone(), Vec::new()).unwrap();
    let types = stitched.types();
    let context = [
        "squid: httpAccept",
        "squid: main > forward",
        "process 2, not recorded",
    ];
    assert_eq!(types[0].context, context);
    assert_eq!(types[0].cpu.cpu_ns, 9946 * MS);
    assert_eq!(
        stitched.notes(),
        [
            "In mysqld (3), 20 waits had an unknown holder.",
            "Process 2 took part in 5 contexts but was not fully recorded: its part is missing.",
            "40 messages to an unknown peer reached a process that was not recorded: the work done there is missing.",
            "40 reads from an unknown peer came from a process that was not recorded: their transactions begin at the receiver.",
        ]
    );

    tomcat.ending = Ending::CutOff;
    tomcat.cuts = Cuts { long: 1, full: 2 };
    tomcat.leftovers.held.push((LockId(0xff), Synopsis::EMPTY));
    tomcat.leftovers.waits = 1;
    records.push(tomcat);
    let stitched = Stitched::of(records, Vec::new()).unwrap();
    assert_eq!(
        stitched.notes(),
        [
            "In mysqld (3), 20 waits had an unknown holder.",
            "The record of java (2) is cut off: the rest is missing.",
            "In java (2), contexts became too long and were cut off, 1 time.",
            "java (2) had too many contexts: some are counted as shorter ones, 2 times.",
            "java (2) ended while 0xff was held.",
            "Not in the crosstalk: 1 wait that had not ended when java (2) did.",
        ]
    );
}

#[test]
fn processes_of_one_program_have_the_same_types() {
    let worker = |id| {
        let mut process = Process::new(id, "postgres");
        let mut activity = Activity::default();
        let step: Step = request(&mut process.dictionary, "SELECT item");
        activity.go_on(&mut process.dictionary, step);
        process.sample(
            activity.context(),
            "postgres",
            "PostgresMain > exec_simple_query",
            MS,
        );
        process.end()
    };
    let stitched = Stitched::of(vec![worker(1), worker(2)], Vec::new()).unwrap();
    let types = stitched.types();
    assert_eq!(types.len(), 1);
    assert_eq!(
        (&*types[0].name, types[0].cpu.cpu_ns),
        ("SELECT item", 2 * MS)
    );
    assert_eq!(types[0].stages.len(), 1);
}
