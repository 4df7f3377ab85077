//! Threads, forked children, executed programs, and the ways in which processes end.

use std::io::Write as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::Stdio;
use std::sync::atomic::Ordering;

use fulcrum_test_support::programs::Recipe;
use fulcrum_test_support::wait::until;
use fulcrum_wire::transactions::{CHUNK, HEADER, Record, SETTINGS_FILE, setting, state, word};

use crate::support::{Engine, Header, Lab, Log, Ran, Settings, logs, numbers};

fn lab() -> Lab {
    Lab::build("processes.c")
}

/// The numbers in the lines that begin with a word.
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
    assert_eq!(expected.len(), 5);
    let parent = &ran.logs[0];
    let paths = parent.each(|it| match it.record {
        Record::Fork { .. } => Some(it.head.path),
        _ => None,
    });
    assert_eq!(paths.len(), 5);
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
        // `paths` and `main`, followed by libc, for which there is no unwind table here.
        assert_eq!(path.len(), 6, "{path:x?}");
    }
    assert_eq!((paths[0], paths[0]), (paths[1], paths[2]));
    // From other places, with the same stack, and with a frame of another size.
    let distinct: std::collections::BTreeSet<_> = paths.iter().collect();
    assert_eq!(distinct.len(), 3);
    for path in &paths[3..] {
        assert_eq!(parent.path(paths[0])[..3], parent.path(*path)[..3]);
    }
}

/// The functions of a path are logged first. The engine's table for them may come at any later time.
#[test]
fn a_library_that_comes_later_is_told_and_becomes_part_of_paths() {
    let lab = lab();
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/plugin.c");
    let library = Recipe::new("plugin")
        .reads(&source)
        .command(
            ["gcc", "-O1", "-shared", "-fPIC", "-o", "plugin.so"]
                .map(std::ffi::OsStr::new)
                .into_iter()
                .chain([source.as_os_str()]),
        )
        .build()
        .join("plugin.so");
    let engine = Engine::start(lab.session(), Settings::default());
    let mut command = lab.command(&["plugin", library.to_str().unwrap()]);
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut program = command.spawn().unwrap();
    let mut input = program.stdin.take().unwrap();
    let pid = u64::from(program.id());
    let file = lab.session().join(format!("{pid}-0.txlog"));
    let whole = |log: &Log| {
        let depths = log.each(|it| match it.record {
            Record::Path { addresses, .. } => Some(addresses.len() / 8),
            _ => None,
        });
        // `inner`, `through`, `plugin` in `main`, and libc.
        depths.into_iter().max() >= Some(4)
    };
    until("a whole path", || {
        input.write_all(b"x").unwrap();
        Header::map(&file)?;
        whole(&Log::read(&file)).then_some(())
    });
    input.write_all(b"q").unwrap();
    assert!(program.wait().unwrap().success());
    drop(engine);
    let log = Log::read(&file);
    let code: Vec<(u64, u64)> = log.each(|it| match it.record {
        Record::Module {
            file, start, end, ..
        } if file.ends_with(b"plugin.so") => Some((start, end)),
        _ => None,
    });
    assert_eq!(code.len(), 1);
    assert_eq!(log.word(word::UNWIND_WANTED), 2);
    let forks = log.each(|it| match it.record {
        Record::Fork { .. } => Some(log.path(it.head.path)),
        _ => None,
    });
    assert!((code[0].0..code[0].1).contains(&forks.last().unwrap()[1]));
}

/// Everything that was written is complete, whenever it is read.
#[test]
fn killed_programs_leave_whole_records() {
    let lab = Lab::build("rpc.c");
    for chunks in 2..=9 {
        let files = tempfile::tempdir().unwrap();
        let engine = Engine::start(lab.session(), Settings::default());
        let mut command = lab.command(&["unix", files.path().to_str().unwrap(), "1000000000"]);
        command.stdout(Stdio::null()).process_group(0);
        let mut program = command.spawn().unwrap();
        let pid = u64::from(program.id());
        until("so many chunks of the server", || {
            let files = std::fs::read_dir(lab.session()).unwrap();
            let headers = files.filter_map(|file| Header::map(&file.unwrap().path()));
            let word = |header: &Header, at| header.word(at).load(Ordering::Acquire);
            let mut servers = headers.filter(|it| word(it, word::PARENT) == pid);
            let next = word(&servers.next()?, word::NEXT);
            (next >= HEADER + chunks * CHUNK).then_some(())
        });
        // SAFETY: signals the process group of the program that was just started.
        assert_eq!(unsafe { libc::kill(-(pid as i32), libc::SIGKILL) }, 0);
        program.wait().unwrap();
        drop(engine);
        let both = logs(lab.session());
        let ours = both
            .iter()
            .filter(|log| log.pid() == pid || log.word(word::PARENT) == pid);
        let ours: Vec<_> = ours.collect();
        assert_eq!(ours.len(), 2);
        for log in ours {
            assert_eq!(log.word(word::STATE), state::OPEN);
            let told = |of: fn(&Record) -> Option<(u64, u64)>| log.each(|it| of(&it.record));
            let sent = told(|record| match *record {
                Record::Send { offset, length, .. } => Some((offset, length)),
                _ => None,
            });
            assert!(!sent.is_empty());
            // No record is missing in between.
            assert!(
                sent.windows(2)
                    .all(|pair| pair[0].0 + pair[0].1 == pair[1].0)
            );
        }
    }
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
    // Its only log belongs to the program that it executed.
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
    let limit = 1 << 17;
    let ran = lab.run_with(
        Settings {
            limit,
            head: 0,
            ..Settings::default()
        },
        &["fill"],
    );
    assert_eq!(ran.text(), "filled\n");
    let log = ran.log();
    assert_eq!(log.word(word::STATE), state::FULL);
    assert!(log.word(word::DROPPED) > 1000);
    assert!(log.word(word::NEXT) <= limit);
    assert!(log.word(word::END_NS) > log.word(word::START_NS));
}

/// Nobody would answer, so the program does not wait, and writes nothing.
#[test]
fn a_program_that_starts_after_the_engine_was_killed_runs_as_alone() {
    let lab = lab();
    drop(Engine::start(lab.session(), Settings::default()));
    let mut engine = std::process::Command::new("true").spawn().unwrap();
    engine.wait().unwrap();
    let path = lab.session().join(SETTINGS_FILE);
    let mut settings = std::fs::read(&path).unwrap();
    let gone = u64::from(engine.id()).to_le_bytes();
    settings[8 * setting::ENGINE..][..8].copy_from_slice(&gone);
    std::fs::write(&path, settings).unwrap();
    let output = lab.command(&["exit", "3"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(logs(lab.session()).is_empty());
}

/// Threads that end leave the rest of their space to others.
#[test]
fn a_thousand_short_threads_need_little_room() {
    let limit = 1 << 19;
    let ran = lab().run_with(
        Settings {
            limit,
            head: 0,
            ..Settings::default()
        },
        &["fill"],
    );
    let log = ran.log();
    assert_eq!(
        (log.word(word::STATE), log.word(word::DROPPED)),
        (state::ENDED, 0)
    );
    let begun = log.each(|it| matches!(it.record, Record::Begin { by: 1 }).then_some(it.thread));
    let ended = log.each(|it| matches!(it.record, Record::End).then_some(it.thread));
    assert_eq!(begun, (2..=2001).collect::<Vec<_>>());
    assert_eq!(begun, ended);
}
