//! Threads, forked children, executed programs, and the ways that processes end.

use std::os::unix::process::ExitStatusExt;

use fulcrum_wire::transactions::{Record, state, word};

use crate::support::{Lab, Ran, Settings, numbers};

fn lab() -> Lab {
    Lab::build("processes.c")
}

/// The numbers of the lines that begin with a word.
fn lines(ran: &Ran, first: &str) -> Vec<Vec<u64>> {
    let text = ran.text();
    let lines = text
        .lines()
        .filter(|line| line.split(' ').next() == Some(first));
    lines.map(numbers).collect()
}

#[test]
fn a_log_tells_its_program_its_modules_and_its_threads() {
    let lab = lab();
    let ran = lab.run(&["threads"]);
    assert!(ran.output.status.success());
    let log = ran.log();
    assert_eq!(log.word(word::STATE), state::ENDED);
    assert!(log.word(word::END_NS) > log.word(word::START_NS));
    assert_eq!((log.word(word::PARENT), log.word(word::DROPPED)), (0, 0));
    let programs = log.each(|it| match it.record {
        Record::Program(file) => Some(file),
        _ => None,
    });
    assert_eq!(programs, [lab.program.to_str().unwrap().as_bytes()]);
    let modules = log.each(|it| match it.record {
        Record::Module {
            file, start, end, ..
        } => {
            assert!(start < end);
            Some(String::from_utf8_lossy(file).into_owned())
        }
        _ => None,
    });
    assert!(
        modules.iter().any(|file| file.ends_with("/processes")),
        "{modules:?}"
    );
    assert!(
        modules.iter().any(|file| file.contains("libc.so")),
        "{modules:?}"
    );
    let spawned = log.each(|it| match it.record {
        Record::Spawn { thread } => Some((it.thread, thread)),
        _ => None,
    });
    assert_eq!(spawned, [(1, 2), (1, 3), (1, 4)]);
    let begun = log.each(|it| match it.record {
        Record::Begin { by } => Some((it.thread, by)),
        _ => None,
    });
    assert_eq!(begun, [(1, 0), (2, 1), (3, 1), (4, 1)]);
    let ended = log.each(|it| matches!(it.record, Record::End).then_some(it.thread));
    assert_eq!(ended, [2, 3, 4]);
    assert_eq!(u64::from(log.ids[&1]), log.pid());
    assert_eq!(log.names[&1], "processes");
}

#[test]
fn a_forked_child_has_a_log_of_its_own_that_names_its_parent() {
    let ran = lab().run(&["forks"]);
    let [child] = lines(&ran, "fork")[0][..] else {
        panic!("{}", ran.text());
    };
    let parent = ran.logs.iter().find(|log| log.pid() != child).unwrap();
    let forks = parent.each(|it| match it.record {
        Record::Fork { child } => Some((it.thread, u64::from(child))),
        _ => None,
    });
    assert_eq!(forks, [(2, child)]);
    let log = ran.log_of(child, 0);
    let words = [
        word::PARENT,
        word::PARENT_TURN,
        word::PARENT_THREAD,
        word::STATE,
    ];
    let expected = [parent.pid(), 0, 2, state::ENDED];
    assert_eq!(words.map(|at| log.word(at)), expected);
    assert_eq!(log.ids.keys().copied().collect::<Vec<_>>(), [1]);
    assert_eq!(ran.logs.len(), 2);
}

#[test]
fn a_call_path_has_the_return_addresses_of_the_callers() {
    let ran = lab().run(&["paths"]);
    let expected = lines(&ran, "path");
    assert_eq!(expected.len(), 4);
    let parent = &ran.logs[0];
    let paths = parent.each(|it| match it.record {
        Record::Fork { .. } => Some(it.head.path),
        _ => None,
    });
    assert_eq!(paths.len(), 4);
    for (path, expected) in paths.iter().zip(&expected) {
        let &[inner, into_middle, into_outer] = &expected[..] else {
            panic!("{expected:?}");
        };
        let path = parent.path(*path);
        assert!(
            (inner..inner + 200).contains(&path[0]),
            "{path:x?} {expected:x?}"
        );
        assert_eq!(path[1..3], [into_middle, into_outer]);
        // `paths` and `main`, and then libc, of which nothing is known here.
        assert_eq!(path.len(), 6, "{path:x?}");
    }
    // The frame of another size is the same path; so is the second call, but from another place.
    assert_eq!(paths[0], paths[1]);
    assert_eq!(paths[0], paths[2]);
    assert_ne!(paths[0], paths[3]);
    let others = parent.path(paths[3]);
    assert_eq!(parent.path(paths[0])[..3], others[..3]);
}

#[test]
fn executed_programs_are_turns_and_children_of_vfork_write_nothing() {
    let ran = lab().run(&["programs"]);
    let [child, 3] = lines(&ran, "executed")[0][..] else {
        panic!("{}", ran.text());
    };
    assert_eq!(ran.log_of(child, 0).word(word::STATE), state::EXECUTED);
    let second = ran.log_of(child, 1);
    assert_eq!(second.word(word::STATE), state::ENDED);
    assert_eq!(second.word(word::PARENT), 0);
    let [vforked, 4] = lines(&ran, "vforked")[0][..] else {
        panic!("{}", ran.text());
    };
    // Its only log is that of the program which it executed.
    let logs = ran.logs.iter().filter(|log| log.pid() == vforked);
    assert_eq!(logs.map(|log| log.turn()).collect::<Vec<_>>(), [0]);
    let [ended, 5] = lines(&ran, "ended")[0][..] else {
        panic!("{}", ran.text());
    };
    assert!(ran.logs.iter().all(|log| log.pid() != ended));
    let parent = &ran.logs[0];
    assert_eq!(parent.word(word::STATE), state::ENDED);
    let forks = parent.each(|it| match it.record {
        Record::Fork { child } => Some(u64::from(child)),
        _ => None,
    });
    assert_eq!(forks, [child, vforked, ended]);
}

#[test]
fn a_child_that_nobody_announces_writes_nothing() {
    let ran = lab().run(&["raw"]);
    assert_eq!(ran.text(), "raw 7\n");
    assert_eq!(
        ran.log()
            .each(|it| matches!(it.record, Record::Fork { .. }).then_some(())),
        []
    );
}

#[test]
fn every_end_is_as_alone_and_told() {
    let lab = lab();
    for (arguments, expected) in [
        (["exit", "3"], state::ENDED),
        (["quick", "4"], state::ENDED),
        (["at once", "5"], state::ENDED),
        (["abort", ""], state::OPEN),
    ] {
        let alone = lab.alone(&arguments);
        let ran = lab.run(&arguments);
        let log = ran.logs.last().unwrap();
        assert_eq!(log.word(word::STATE), expected, "{arguments:?}");
        let how = |status: std::process::ExitStatus| (status.code(), status.signal());
        assert_eq!(how(ran.output.status), how(alone.status), "{arguments:?}");
        assert_eq!(ran.output.stderr, alone.stderr);
    }
}

#[test]
fn a_log_that_is_full_says_so_and_the_program_goes_on() {
    let lab = lab();
    let limit = 1 << 18;
    let ran = lab.run_with(Settings { limit, head: 0 }, &["fill"]);
    assert_eq!(ran.text(), "filled\n");
    let log = ran.log();
    assert_eq!(log.word(word::STATE), state::FULL);
    assert!(log.word(word::DROPPED) > 1000);
    assert!(log.word(word::NEXT) <= limit);
    assert!(log.word(word::END_NS) > log.word(word::START_NS));
}
