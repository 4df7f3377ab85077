//! The log says what happened, on every installed JDK.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{Program, balanced_calls, count, jdks, text, threads};
use fulcrum_events::{Trace, What};

/// The name of the thread that started the one with this name.
fn parent<'a>(trace: &'a Trace, name: &str) -> Option<&'a str> {
    let [id] = threads(trace, name)[..] else {
        return None;
    };
    Some(&trace.thread(trace.thread(id)?.parent)?.name)
}

#[test]
fn threads_have_parents_and_virtual_ones_have_trees_of_their_own() {
    for jdk in jdks() {
        let program = Program::new(jdk, "Threads");
        let filter = "observe_method_invocations\nincludemethod Threads *\n";
        let output = program.run_traced(jdk, filter, &[]);
        assert_eq!(text(&output.stderr), "");
        let many = if jdk.version >= 21 { 50 } else { 0 };
        let printed = text(&output.stdout);
        let (printed, cpu) = printed.trim_end().rsplit_once('\n').unwrap();
        assert_eq!(printed, format!("not twice\nvirtual {many}"));
        let process_cpu: u64 = cpu.parse().expect("a number");
        let trace = program.trace();
        assert_eq!(trace.notes, Vec::<String>::new(), "JDK {}", jdk.version);
        assert_eq!(parent(&trace, "child"), Some("main"));
        assert_eq!(parent(&trace, "grandchild"), Some("child"));
        let calls = balanced_calls(&trace);
        // 15 calls for 5, 9 for 4, 5 for 3.
        assert_eq!(calls["Threads.fib"], 5 + many * (15 + 9));
        assert_eq!(calls.get("Threads.sleepy").copied().unwrap_or(0), many);
        let (mut found, mut cpu) = (0, 0);
        for thread in &trace.threads {
            let mut is_virtual = false;
            let mut enters = 0;
            let mut last = 0;
            for event in trace.thread_events(thread.id) {
                match event.what {
                    What::ThreadStart { virtual_thread, .. } => is_virtual = virtual_thread,
                    What::Enter { .. } => enters += 1,
                    _ => {}
                }
                last = event.cpu_ns.unwrap_or(0);
            }
            if is_virtual {
                cpu += last;
                // The first one only works for a long time. Others have a body and `sleepy` beside the calls of `fib`.
                found += usize::from(enters == 2 + 15 + 9);
                assert!(enters == 1 || enters == 2 + 15 + 9, "{enters}");
            }
        }
        // One thread carries all of them, and has worked for a long time before: if its time counted as theirs, their sum would
        // be many times what the process took. (Two clocks are compared: a hundredth is allowed.)
        assert!(
            cpu < process_cpu + process_cpu / 100,
            "{cpu} of {process_cpu} ns"
        );
        assert_eq!(cpu > 0, many > 0);
        assert_eq!(found, many);
    }
}

#[test]
fn virtual_threads_have_the_parents_that_started_them() {
    for jdk in jdks().iter().filter(|jdk| jdk.version >= 21) {
        let program = Program::new(jdk, "Virtual");
        let filter = "observe_method_invocations\nincludemethod Virtual *\n";
        let output = program.run_traced(jdk, filter, &[]);
        assert_eq!(
            (text(&output.stdout), text(&output.stderr)),
            ("done\n".into(), String::new())
        );
        let trace = program.trace();
        assert_eq!(trace.notes, Vec::<String>::new(), "JDK {}", jdk.version);
        for (name, by) in [
            ("of main", "main"),
            ("of a virtual one", "of main"),
            ("platform", "of main"),
            ("of its platform thread", "platform"),
            ("submitter", "main"),
            ("task 0", "submitter"),
            ("task 1", "submitter"),
        ] {
            assert_eq!(parent(&trace, name), Some(by), "{name}");
        }
        let named = |name: &'static str| trace.threads.iter().filter(move |it| it.name == name);
        let [main] = threads(&trace, "main")[..] else {
            panic!("{:?}", trace.threads)
        };
        assert_eq!(named("one of many").count(), 300);
        assert!(named("one of many").all(|it| it.parent == main));
        // A thread that had no name yet when it started.
        let [of_main] = threads(&trace, "of main")[..] else {
            panic!("{:?}", trace.threads)
        };
        let nameless: Vec<u32> = named("").map(|it| it.parent).collect();
        assert_eq!(nameless, [of_main]);
        // The method that starts them is not one of the program.
        let methods = trace.methods.values();
        assert!(methods.map(|it| &it.class).all(|class| class == "Virtual"));
    }
}

#[test]
fn what_is_too_deep_is_counted_and_its_cost_is_known() {
    let jdk = &jdks()[0];
    let program = Program::new(jdk, "Threads");
    let filter = "observe_method_invocations\nincludemethod Threads *\nmaximum_depth 3\n";
    program.run_traced(jdk, filter, &[]);
    let trace = program.trace();
    let [thread] = threads(&trace, "grandchild")[..] else {
        panic!("{:?}", trace.threads)
    };
    let events: Vec<_> = trace.thread_events(thread).collect();
    let entered = events
        .iter()
        .filter(|it| matches!(it.what, What::Enter { .. }));
    // The thread's body, fib of 3, of 2 and 1; below are fib of 1 and 0.
    assert_eq!(entered.count(), 4);
    assert_eq!(events.iter().map(|it| it.skipped).sum::<u64>(), 2);
    balanced_calls(&trace);
    let costs = trace.costs;
    let all = [costs.inside_ns, costs.outside_ns, costs.skipped_ns];
    assert!(all.iter().all(|it| *it > 0.0), "{costs:?}");
}

#[test]
fn objects_of_chosen_classes_are_followed_and_others_sampled() {
    for jdk in jdks().iter().filter(|jdk| jdk.version >= 11) {
        let program = Program::new(jdk, "Objects");
        let filter = "observe_object_allocation Objects$Wanted\nobserve_object_allocation Objects$Spec*\n\
                      observe_class_loading\nobserve_garbage_collection\n";
        // Threads of the machine report released objects and unloaded classes at any time later.
        let output = program.run_until(jdk, filter, |trace| {
            let of = count(trace, |event| match event.what {
                What::Release { .. } => Some("released"),
                What::ClassUnload { class } => {
                    (trace.class_name(class) == "Objects$Wanted").then_some("unloaded")
                }
                _ => None,
            });
            of.get("released") >= Some(&741) && of.get("unloaded") >= Some(&1)
        });
        assert_eq!(
            (text(&output.stdout), text(&output.stderr)),
            ("true\ndone\n".into(), String::new())
        );
        let trace = program.trace();
        let mut objects = BTreeSet::new();
        let made = count(&trace, |event| match event.what {
            What::Allocation {
                object,
                class,
                interval: 0,
                ..
            } => {
                assert!(objects.insert(object), "object {object} twice");
                Some(trace.class_name(class).to_owned())
            }
            _ => None,
        });
        // A copy is made without a constructor.
        let expect = [
            ("Objects$Special".to_owned(), 41),
            ("Objects$Wanted".to_owned(), 700),
        ];
        assert_eq!(made, BTreeMap::from(expect), "JDK {}", jdk.version);
        // When classes are observed, the agent itself counts the bytes of the others for each thread: it samples one object for at
        // least 512 KiB, and of these arrays for less than 612.
        let [main] = threads(&trace, "main")[..] else {
            panic!("{:?}", trace.threads)
        };
        let arrays = count(&trace, |event| match event.what {
            What::Allocation {
                class,
                interval,
                bytes,
                ..
            } if interval > 0 && event.thread == main => {
                assert_eq!(interval, 512 << 10);
                (bytes > 100 << 10).then(|| trace.class_name(class).to_owned())
            }
            _ => None,
        });
        let all = 100 * 100;
        assert!(
            (all / 613 - 1..=all / 512 + 1).contains(&arrays["byte[]"]),
            "{arrays:?}"
        );
        let kinds = count(&trace, |event| match event.what {
            What::Release { object } => objects.remove(&object).then_some("released"),
            What::ClassLoad { class, .. } => {
                (trace.class_name(class) == "Objects$Wanted").then_some("loaded")
            }
            What::ClassUnload { class } => {
                (trace.class_name(class) == "Objects$Wanted").then_some("unloaded")
            }
            What::GcStart => Some("collections"),
            What::GcEnd => Some("collected"),
            _ => None,
        });
        assert_eq!(objects, BTreeSet::new(), "never released");
        assert_eq!(
            (kinds["released"], kinds["loaded"], kinds["unloaded"]),
            (741, 2, 1)
        );
        assert!(kinds["collections"] >= 3 && kinds["collections"] == kinds["collected"]);
    }
}

/// JPMT, Figure 4: the machine itself counts how often a thread was blocked.
#[test]
fn contention_is_what_the_program_counts() {
    for jdk in jdks() {
        let program = Program::new(jdk, "Contended");
        let filter = "observe_method_invocations\nobserve_monitor_contention\n\
                      includemethod Contended$Counter increment\nincludemethod Contended counting\n\
                      includemethod Contended counted\n";
        let output = program.run_traced(jdk, filter, &[]);
        let trace = program.trace();
        let printed = text(&output.stdout);
        let mut all = 0;
        for line in printed.lines() {
            let Some((name, blocked)) = line.split_once(' ') else {
                panic!("{printed}")
            };
            let blocked: usize = blocked.parse().unwrap();
            if name == "value" {
                assert_eq!(blocked, 4 * 3000);
                continue;
            }
            let [thread] = threads(&trace, name)[..] else {
                panic!("{name} in {:?}", trace.threads)
            };
            let (mut began, mut ended) = (0, 0);
            let mut before = 0;
            for event in trace.thread_events(thread) {
                let called = match event.what {
                    What::Enter { method } => &*trace.methods[&method].name,
                    What::ContendedEnter { .. } => {
                        began += 1;
                        continue;
                    }
                    What::ContendedEntered { .. } => {
                        ended += 1;
                        continue;
                    }
                    _ => continue,
                };
                match called {
                    "counting" => before = ended,
                    // Printing may wait, and so may ending.
                    "counted" => break,
                    _ => {}
                }
            }
            let version = &jdk.version;
            assert_eq!(began, ended, "{name} on JDK {version}");
            assert!(
                (before..=ended).contains(&blocked),
                "{name} on JDK {version}: {blocked} of {before} to {ended}"
            );
            all += blocked;
        }
        assert!(all >= 4, "{printed}");
        assert_eq!(
            balanced_calls(&trace)["Contended$Counter.increment"],
            4 * 3000
        );
    }
}
