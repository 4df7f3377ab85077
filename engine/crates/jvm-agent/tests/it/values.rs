//! Arguments and results of calls: the log agrees with what the program prints.

use std::collections::BTreeMap;

use fulcrum_events::{CallValues, Closing, Index, Indexed, Trace, What};
use fulcrum_model::Progress;

use crate::common::{Jdk, Program, balanced_calls, jdks, text};

const FILTER: &str =
    "observe_method_invocations\nincludemethod Values$Work *\nobserve_values Values$Work *\n";

/// Calls by thread, in the order of their ends.
type Calls = BTreeMap<String, Vec<String>>;

/// What the program says.
fn own(printed: &str) -> Calls {
    let mut calls = Calls::new();
    for line in printed.lines() {
        let (thread, call) = line.split_once(' ').expect("a thread and a call");
        calls.entry(thread.into()).or_default().push(call.into());
    }
    calls
}

/// What the log says, event by event.
fn logged(trace: &Trace) -> Calls {
    let mut calls = Calls::new();
    for thread in &trace.threads {
        let mut open: Vec<(u32, CallValues)> = Vec::new();
        for event in trace.thread_events(thread.id) {
            let (method, thrown) = match event.what {
                What::Enter { method } => {
                    open.push((method, CallValues::default()));
                    continue;
                }
                What::Arguments { method, given } => {
                    let (of, values) = open.last_mut().expect("a call");
                    assert_eq!(*of, method);
                    assert_eq!(values.arguments.replace(given), None);
                    continue;
                }
                What::Returned { method, value } => {
                    let (of, values) = open.last_mut().expect("a call");
                    assert_eq!(*of, method);
                    assert_eq!(values.returned.replace(value), None);
                    continue;
                }
                What::Exit { method, thrown } => (method, thrown),
                _ => continue,
            };
            let (of, values) = open.pop().expect("a call");
            assert_eq!(of, method);
            let name = &trace.methods[&method].name;
            let thrown = if thrown { " thrown" } else { "" };
            let call = format!("{name}{}{thrown}", values.shown(trace));
            calls.entry(thread.name.clone()).or_default().push(call);
        }
    }
    calls
}

/// The values of rows that are looked up one by one.
fn in_rows(trace: Trace) -> Calls {
    let progress = Progress::default();
    let index = Index::with_interval(&trace, 100, &progress).unwrap();
    let indexed = Indexed { trace, index };
    let mut calls = Calls::new();
    for thread in &indexed.trace.threads {
        let mut ends = Vec::new();
        add_below(&indexed, (thread.id, None), &mut ends);
        if !ends.is_empty() {
            calls.insert(thread.name.clone(), ends);
        }
    }
    calls
}

/// The calls below a node of a thread, in the order of their ends.
fn add_below(indexed: &Indexed, (thread, node): (u32, Option<u64>), ends: &mut Vec<String>) {
    let rows = indexed.children(thread, node, 0, usize::MAX, &Progress::default());
    for row in rows.unwrap().expect("the node is there") {
        let Some(method) = row.method() else { continue };
        add_below(indexed, (thread, Some(row.node)), ends);
        let values = indexed.values_of(&row);
        let values = values.map_or_else(String::new, |it| it.shown(&indexed.trace));
        let thrown = match row.closing {
            Closing::Thrown => " thrown",
            _ => "",
        };
        let name = &indexed.trace.methods[&method].name;
        ends.push(format!("{name}{values}{thrown}"));
    }
}

/// Runs the program with these options of the agent, and compares all calls except those that are left out.
fn check(jdk: &Jdk, options: &str, left_out: Option<&str>) -> Trace {
    let program = Program::new(jdk, "Values");
    let alone = program.alone(jdk).arg(&program.main).output().unwrap();
    let mut java = program.traced(jdk, FILTER, 1 << 30);
    std::fs::write(program.run().join("agent.options"), options).unwrap();
    let output = java.arg(&program.main).output().unwrap();
    assert_eq!(text(&output.stderr), "", "JDK {}", jdk.version);
    assert!(alone.status.success() && output.status.success());
    let (mine, own) = (own(&text(&alone.stdout)), own(&text(&output.stdout)));
    // Threads end in any order.
    assert_eq!(own, mine);
    let trace = program.trace();
    balanced_calls(&trace);
    let found = logged(&trace);
    assert_eq!(
        found.keys().collect::<Vec<_>>(),
        own.keys().collect::<Vec<_>>()
    );
    let wanted = |calls: &[String]| -> Vec<String> {
        let wanted = calls.iter().filter(|it| Some(it.as_str()) != left_out);
        wanted.cloned().collect()
    };
    for (thread, calls) in &own {
        let (found, calls) = (wanted(&found[thread]), wanted(calls));
        for (n, (logged, said)) in found.iter().zip(&calls).enumerate() {
            assert_eq!(logged, said, "call {n} of {thread}, JDK {}", jdk.version);
        }
        assert_eq!(found.len(), calls.len(), "{thread}");
    }
    trace
}

#[test]
fn values_are_those_that_the_program_says() {
    for jdk in jdks() {
        let trace = check(jdk, "limit=1073741824\n", None);
        assert_eq!(trace.notes, Vec::<String>::new(), "JDK {}", jdk.version);
        let expect = logged(&trace);
        assert_eq!(in_rows(trace), expect, "JDK {}", jdk.version);
    }
}

/// Methods whose values are logged have no gate, whatever the rule says; constructors have one.
#[test]
fn values_are_told_while_gates_shut() {
    let options = "limit=1073741824\nrule=inherent wall >= 1s after 1\n";
    check(&jdks()[0], options, Some("<init>"));
}

#[test]
fn only_what_is_chosen_has_values_and_limits_hold() {
    let jdk = &jdks()[0];
    let program = Program::new(jdk, "Values");
    let filter = "observe_method_invocations\nincludemethod Values$Work *\nobserve_values Values$Work text\n\
                  observe_values Values$Work many\nobserve_values Nobody *\nmaximum_values 1\nmaximum_text 3\n";
    let output = program.run_traced(jdk, filter, &[]);
    assert_eq!(text(&output.stderr), "");
    let trace = program.trace();
    let note = "No method that was observed is named by line 5 of the filter, observe_values Nobody *: it has no values.";
    assert_eq!(trace.notes, [note]);
    let calls = &logged(&trace)["worker-0"];
    for call in calls {
        let name = call.split('(').next().unwrap();
        let has = matches!(name, "text" | "many");
        assert_eq!(call != name && !call.ends_with(" thrown"), has, "{call}");
    }
    for expect in [
        "many(1, …) → -9223372036854775808",
        "text(\"pla\"…, …) → \"pla\"…",
        "text(\"é\"…, …) → \"é\"…",
        "text(null, …) → null",
    ] {
        assert!(calls.iter().any(|it| it == expect), "{expect}: {calls:?}");
    }
}

/// Older versions of Fulcrum can read logs without values.
#[test]
fn only_logs_with_values_are_of_the_new_version() {
    let jdk = &jdks()[0];
    let program = Program::new(jdk, "Values");
    for (filter, version) in [
        (FILTER, fulcrum_wire::log::VALUES_VERSION),
        (
            "observe_method_invocations\n",
            fulcrum_wire::log::PLAIN_VERSION,
        ),
    ] {
        program.run_traced(jdk, filter, &[]);
        let files = std::fs::read_dir(program.run()).unwrap().flatten();
        let mut logs = files.filter(|it| it.path().extension().is_some_and(|it| it == "log"));
        let bytes = std::fs::read(logs.next().unwrap().path()).unwrap();
        let word = u64::from_le_bytes(bytes[8..16].try_into().unwrap());
        assert_eq!(word, version, "{filter}");
    }
}
