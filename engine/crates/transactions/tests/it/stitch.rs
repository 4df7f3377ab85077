//! Profiles of several processes as one: the paper's figures and tables, rebuilt from records.

use std::sync::Arc;

use fulcrum_model::call_tree::FrameKind;
use fulcrum_paths::{CallTreeProfile, ProfileInterface};
use fulcrum_transactions::crosstalk::{Holder, LockKind, Paths, Wait};
use fulcrum_transactions::latency::Instance;
use fulcrum_transactions::messages::{ReceiveRecord, SendRecord, StreamId};
use fulcrum_transactions::stitch::{Ending, ProcessRecord, StitchError, Stitched, TypeProfile};
use fulcrum_transactions::{
    Activity, Chain, Cuts, Dictionary, ExportError, ExportedContext, ExportedElement, Flow,
    FlowKind, Joined, Link, LockId, NamingRule, ProcessId, Profile, Step, Synopsis, UnknownLink,
};

use crate::support::{path, request};

const MS: u64 = 1_000_000;

/// A process as it runs: what it has recorded so far.
struct Process {
    dictionary: Dictionary,
    profile: Profile,
    record: ProcessRecord,
}

impl Process {
    fn new(id: u64, program: &str) -> Self {
        let dictionary = Dictionary::new(ProcessId(id));
        let record = ProcessRecord::new(dictionary.export(program));
        Process {
            dictionary,
            profile: Profile::default(),
            record,
        }
    }

    fn sample(&mut self, context: Synopsis, thread: &str, stack: &str, ns: u64) {
        let names = &mut self.dictionary.names;
        let stack: Vec<_> = stack.split(" > ").map(|it| names.intern(it)).collect();
        let thread = names.intern(thread);
        self.profile.add(context, thread, &stack, ns);
    }

    fn end(self) -> ProcessRecord {
        ProcessRecord {
            dictionary: self.dictionary.export(self.record.dictionary.program),
            profile: self.profile,
            ..self.record
        }
    }

    /// The context of a call path alone.
    fn at(&mut self, text: &str) -> Synopsis {
        let step = path(&mut self.dictionary, text);
        self.dictionary.append(Synopsis::EMPTY, step)
    }
}

/// A message of ten bytes, and what goes beside it.
fn message(
    from: (&mut Process, &mut Activity, &str),
    to: (&mut Process, &mut Activity),
    stream: u64,
    nth: u64,
) {
    let (sender, activity, call) = from;
    let step = path(&mut sender.dictionary, call);
    let context = sender.dictionary.append(activity.context(), step.clone());
    let chain: Chain = activity.send(&mut sender.dictionary, step);
    let range = 10 * nth..10 * nth + 10;
    let stream = StreamId(stream);
    sender.record.messages.sends.push(SendRecord {
        stream,
        range: range.clone(),
        context,
    });
    let (receiver, activity) = to;
    activity.receive(&mut receiver.dictionary, &chain).unwrap();
    let at = receiver.at("main > read_message");
    receiver
        .record
        .messages
        .receives
        .push(ReceiveRecord { stream, range, at });
}

/// Table 1: interactions with MySQL's CPU profile in parts of 10,000, and their mean crosstalk waits in microseconds.
const TABLE_1: [(&str, u64, u64); 5] = [
    ("BestSellers", 5150, 22_160),
    ("SearchResult", 4328, 5520),
    ("NewProducts", 329, 1590),
    ("AdminConfirm", 82, 93_760),
    ("Home", 57, 1510),
];

/// Squid, Tomcat and MySQL (§8.4). Squid sends every page by one path; Tomcat has a servlet for each interaction.
fn bookstore(named_by_request: bool) -> Vec<ProcessRecord> {
    let (mut squid, mut tomcat, mut mysql) = (
        Process::new(1, "squid"),
        Process::new(2, "java"),
        Process::new(3, "mysqld"),
    );
    for (n, (interaction, cpu, wait)) in TABLE_1.into_iter().enumerate() {
        for instance in 0..4 {
            let nth = 4 * n as u64 + instance;
            let [mut front, mut middle, mut back] = [(); 3].map(|()| Activity::default());
            message(
                (&mut squid, &mut front, "main > forward"),
                (&mut tomcat, &mut middle),
                1,
                nth,
            );
            if named_by_request {
                let step = request(&mut tomcat.dictionary, &format!("GET /{interaction}"));
                middle.go_on(&mut tomcat.dictionary, step);
            }
            let servlet = format!("Thread.run > {interaction}.doGet > execute");
            tomcat.sample(middle.context(), "exec", &servlet, MS);
            message(
                (&mut tomcat, &mut middle, &servlet),
                (&mut mysql, &mut back),
                2,
                nth,
            );
            mysql.sample(
                back.context(),
                "connection",
                "do_command > mysql_execute > filesort",
                cpu * MS / 4,
            );
            let at = mysql.at("do_command > lock_table");
            mysql.record.waits.add(Wait {
                waiter: back.context(),
                holder: Holder::Unknown,
                lock: LockId(0x17),
                kind: LockKind::ReadWrite,
                wait_ns: wait * 1000,
                paths: Paths {
                    waiter: at,
                    holder: None,
                },
            });
            message(
                (&mut mysql, &mut back, "do_command > net_flush"),
                (&mut tomcat, &mut middle),
                3,
                nth,
            );
            message(
                (&mut tomcat, &mut middle, "Thread.run > respond"),
                (&mut squid, &mut front),
                4,
                nth,
            );
            squid.record.instances.push(Instance {
                context: front.context(),
                wall_ns: (nth + 1) * MS,
                replied: true,
            });
        }
    }
    mysql.record.lock_names.insert(LockId(0x17), "item".into());
    [squid, tomcat, mysql].map(Process::end).into()
}

fn named<'a>(types: &'a [TypeProfile], name: &str) -> &'a TypeProfile {
    let found = types.iter().find(|it| it.name == name);
    found.unwrap_or_else(|| panic!("no {name} in {types:#?}"))
}

/// Of MySQL's CPU time, the parts of Table 1; types are named by their servlets.
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
    // As in the paper, Squid and Tomcat do not tell interactions apart before the servlet is chosen.
    let before = types
        .iter()
        .find(|it| it.context == ["squid: main > forward"])
        .unwrap();
    assert_eq!(before.stages[0].cpu.cpu_ns, 20 * MS);
    assert_eq!(before.latency.unwrap().count, 20);
    // The nearest rank: the tenth, the nineteenth and the last of 1 to 20 ms.
    let latency = before.latency.unwrap();
    assert_eq!(
        (latency.p50_ns, latency.p95_ns, latency.p99_ns),
        (10 * MS, 19 * MS, 20 * MS)
    );
    assert_eq!(stitched.total_cpu_ns(), (all + 20) * MS);
    assert_eq!(stitched.notes(), [] as [String; 0]);
}

/// A recognised request is part of the context, so the tiers behind it are told apart by it.
#[test]
fn a_recognised_request_names_a_type_in_all_tiers_behind_it() {
    let stitched = Stitched::of(bookstore(true), Vec::new()).unwrap();
    let types = stitched.types();
    let found = named(&types, "GET /BestSellers");
    assert_eq!(
        found.context,
        ["squid: main > forward", "java: GET /BestSellers"]
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

/// The contexts of one name share what they begin with.
#[test]
fn a_name_joins_contexts_and_shows_what_they_have_in_common() {
    let rule = NamingRule {
        name: "all interactions".into(),
        through: vec!["forward".into(), "execute".into()],
    };
    let stitched = Stitched::of(bookstore(false), vec![rule]).unwrap();
    let types = stitched.types();
    let found = named(&types, "all interactions");
    assert_eq!(found.cpu.cpu_ns, 9946 * MS);
    assert_eq!(found.context, ["squid: main > forward"]);
    assert_eq!(
        types.len(),
        2,
        "and those before a servlet is chosen: {types:#?}"
    );
}

/// Requests and replies (Figure 7), and where the waits were.
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

/// A type's tree is a profile like any other: bottleneck search finds its paths.
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

/// Figure 8: the listener's context is the beginning of the workers'.
#[test]
fn apaches_workers_continue_the_listeners_context() {
    let mut apache = Process::new(1, "apache2");
    let (mut listener, mut worker) = (Activity::default(), Activity::default());
    let push = path(&mut apache.dictionary, "listener_thread > ap_queue_push");
    let produced = listener.hand_on(&mut apache.dictionary, push);
    worker.take_over(&apache.dictionary, produced);
    let pop = apache.at("worker_thread > ap_queue_pop");
    apache.record.flows.push(Flow {
        kind: FlowKind::Memory,
        from: produced,
        to: pop,
        count: 3980,
    });
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

/// A stage in the middle that was not recorded, and everything else that can be missing.
#[test]
fn what_is_missing_is_told_and_the_rest_is_shown() {
    let mut records = bookstore(true);
    let mut tomcat = records.remove(1);
    let stitched = Stitched::of(records.clone(), Vec::new()).unwrap();
    let types = stitched.types();
    let context = ["squid: main > forward", "process 2, not recorded"];
    assert_eq!(types[0].context, context);
    assert_eq!(types[0].cpu.cpu_ns, 9946 * MS);
    assert_eq!(
        stitched.notes(),
        [
            "Process 2 took part in 5 contexts and was not recorded whole: its part is missing from them.",
            "40 messages to an unknown peer met no recorded process: what was done there is missing.",
            "40 reads from an unknown peer came from no recorded process: transactions begin where they arrived.",
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
            "The record of java (2) was cut off: what came later is missing.",
            "In java (2), contexts that had become too long were cut off, 1 time.",
            "java (2) had too many contexts: some count as what they began with, 2 times.",
            "java (2) ended while 0xff was held.",
            "java (2) ended during 1 wait, which are not in the crosstalk.",
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

#[test]
fn damaged_records_are_refused_with_the_place() {
    let dictionary = || Process::new(7, "p").end().dictionary;
    let check = |dictionary, error: ExportError, text: &str| {
        let refused = Stitched::of(vec![ProcessRecord::new(dictionary)], Vec::new()).map(|_| ());
        assert_eq!(refused, Err(StitchError::Export(error.clone())));
        assert_eq!(error.to_string(), text);
    };
    let process = ProcessId(7);
    let mut loops = dictionary();
    loops.contexts.push(ExportedContext {
        prefix: 1,
        last: ExportedElement::Cut,
    });
    let error = ExportError::Prefix {
        process,
        context: 1,
        prefix: 1,
    };
    check(
        loops,
        error,
        "context 1 of process 7 continues context 1, expected an earlier one",
    );
    let mut nameless = dictionary();
    nameless.contexts.push(ExportedContext {
        prefix: 0,
        last: ExportedElement::Path(vec![0, 9]),
    });
    let error = ExportError::Name {
        process,
        context: 1,
        name: 9,
    };
    check(
        nameless,
        error,
        "context 1 of process 7 has the name 9, which is not in its list of names",
    );

    let twice = [dictionary(), dictionary()].map(ProcessRecord::new);
    let refused = Stitched::of(twice.into(), Vec::new()).map(|_| ());
    assert_eq!(
        refused,
        Err(StitchError::Export(ExportError::Twice(process)))
    );

    // A sample with a name of another process.
    let mut other = Dictionary::new(ProcessId(8));
    let name = other.names.intern("f");
    let mut record = ProcessRecord::new(dictionary());
    record.profile.add(Synopsis::EMPTY, name, &[], 1);
    let refused = Stitched::of(vec![record], Vec::new()).map(|_| ());
    assert_eq!(refused, Err(StitchError::Name { process, name: 1 }));
}

/// A part that claims to have received itself.
#[test]
fn a_damaged_chain_has_an_end() {
    let mut dictionary = Process::new(1, "p").end().dictionary;
    let link = Link {
        process: ProcessId(1),
        synopsis: Synopsis::from_number(1),
    };
    dictionary.contexts.push(ExportedContext {
        prefix: 0,
        last: ExportedElement::Received(link),
    });
    let mut joined = Joined::of([&dictionary]).unwrap();
    assert_eq!(joined.resolve(link), Ok(Synopsis::EMPTY));
}

/// §7.4: a synopsis is joined by its process.
#[test]
fn synopses_are_resolved_across_processes_and_unknown_ones_are_errors() {
    let mut front = Process::new(1, "front");
    let mut back = Process::new(2, "back");
    let (mut client, mut server) = (Activity::default(), Activity::default());
    message(
        (&mut front, &mut client, "main > call"),
        (&mut back, &mut server),
        1,
        0,
    );
    let serve = path(&mut back.dictionary, "main > serve");
    let deep = server.hand_on(&mut back.dictionary, serve);
    let link = |process, synopsis| Link {
        process: ProcessId(process),
        synopsis,
    };
    let exported = [front.end().dictionary, back.end().dictionary];
    let mut joined = Joined::of(&exported).unwrap();
    let context = joined.resolve(link(2, deep)).unwrap();
    assert_eq!(
        joined.texts(context),
        ["front: main > call", "back: main > serve"]
    );
    assert_eq!(joined.resolve(link(2, deep)), Ok(context));
    for (unknown, text) in [
        (
            UnknownLink::Process(link(9, deep)),
            "expected a context of process 9, which was not recorded",
        ),
        (
            UnknownLink::Context(link(1, Synopsis::from_number(50))),
            "expected a context of process 1, which has none with the number 50",
        ),
    ] {
        let (UnknownLink::Process(asked) | UnknownLink::Context(asked)) = unknown;
        assert_eq!(joined.resolve(asked), Err(unknown));
        assert_eq!(unknown.to_string(), text);
    }
    let missing = joined.resolve_or_missing(link(9, deep));
    assert_eq!(joined.texts(missing), ["process 9, not recorded"]);
    assert_eq!(joined.missing().collect::<Vec<_>>(), [(ProcessId(9), 1)]);
}
