//! Event libraries (Whodunit §4.1): which handler was called for what, compared with the programs' own records. Each
//! program runs with a small library of ours that has the public functions of the real one, and with the real one if it is
//! installed.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use fulcrum_test_support::programs::Recipe;
use fulcrum_wire::transactions::{Calling, Record, word};

use crate::support::{Entry, Lab, Log, Ran, numbers};

/// Items of handlers begin after those of shared memory.
const FIRST_ITEM: u64 = 1 << 32;

fn source(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/libraries");
    folder.join(name)
}

fn gcc(arguments: &[&str], files: &[&Path]) -> Vec<OsString> {
    let words = ["gcc", "-g", "-O1", "-pthread", "-D_GNU_SOURCE", "-w"];
    let words = words.iter().chain(arguments).map(OsString::from);
    words
        .chain(files.iter().map(|it| it.as_os_str().to_owned()))
        .collect()
}

fn recipe(name: &str) -> Recipe {
    Recipe::new(&format!("libraries-{name}"))
        .reads(source("calls.h"))
        .reads(source("../common.h"))
}

/// A program with our stand-in for its library.
fn with_stand_in(name: &str) -> Lab {
    let (program, library) = (format!("{name}.c"), format!("stand_in_{name}.c"));
    let (program, library) = (source(&program), source(&library));
    let folder = recipe(name)
        .reads(&program)
        .reads(&library)
        .command(gcc(
            &["-shared", "-fPIC", "-o", "libstand_in.so"],
            &[&library],
        ))
        .command(gcc(
            &["-o", name, "-L.", "-Wl,-rpath,$ORIGIN"],
            &[&program, Path::new("libstand_in.so")],
        ))
        .build();
    Lab::of(folder.join(name))
}

/// The file of an installed library. Prints a message if it is missing.
fn installed(library: &str) -> Option<PathBuf> {
    let option = format!("-print-file-name={library}");
    let output = Command::new("gcc").arg(option).output().unwrap();
    let path = PathBuf::from(String::from_utf8(output.stdout).unwrap().trim());
    if !path.is_absolute() {
        eprintln!("{library} is not installed: the case with it was not run.");
        return None;
    }
    Some(path)
}

/// A program with the real library, if that is installed.
fn with_real(name: &str, library: &str) -> Option<Lab> {
    let library = installed(library)?;
    let program = source(&format!("{name}.c"));
    let folder = recipe(name)
        .reads(&program)
        .reads(&library)
        .command(gcc(&["-o", name], &[&program, &library]))
        .build();
    Some(Lab::of(folder.join(name)))
}

/// A call of a handler: the kernel's thread number, and the number of the call in the thread, from 1.
type Call = (u64, u64);

/// The handler of a call, and the call that registered it, if any.
type CallOrigin = (u64, Option<Call>);

/// What the program reports about its calls.
fn said(ran: &Ran) -> HashMap<Call, CallOrigin> {
    let text = ran.text();
    let lines = text.lines().filter(|it| it.starts_with("call"));
    let calls = lines.map(|line| {
        let [thread, number, function, from_thread, from] = numbers(line)[..] else {
            panic!("{line}");
        };
        let from = (from_thread != 0).then_some((from_thread, from));
        ((thread, number), (function, from))
    });
    calls.collect()
}

/// A handler that a thread is in.
#[derive(Clone, Copy)]
struct Within {
    call: Option<Call>,
    item: u64,
}

/// What the log contains about calls.
#[derive(Default)]
struct Logged {
    /// The handler of each call, and what it was called for.
    calls: HashMap<Call, (u64, u64)>,
    /// The calls that produced each item, one or more.
    produced: HashMap<u64, Vec<Option<Call>>>,
}

impl Logged {
    /// `functions` are the program's handlers. All others belong to a library.
    fn of(log: &Log, functions: &HashSet<u64>) -> Logged {
        let mut logged = Logged::default();
        for (&thread, &id) in &log.ids {
            let mut within = Vec::new();
            let mut count = 0;
            for entry in log.entries.iter().filter(|it| it.thread == thread) {
                logged.take(entry, (id.into(), &mut count), &mut within, functions);
            }
        }
        logged
    }

    fn take(
        &mut self,
        entry: &Entry,
        (id, count): (u64, &mut u64),
        within: &mut Vec<Within>,
        functions: &HashSet<u64>,
    ) {
        match entry.record {
            Record::Handler {
                item,
                function,
                depth,
                how,
                ..
            } => {
                within.truncate(depth as usize - 1);
                assert_eq!(within.len(), depth as usize - 1, "no depth is left out");
                let item = match how {
                    Calling::Onward => within.last().map_or(0, |it| it.item),
                    _ => item,
                };
                let call = functions.contains(&function).then(|| {
                    *count += 1;
                    (id, *count)
                });
                if let Some(call) = call {
                    self.calls.insert(call, (function, item));
                }
                within.push(Within { call, item });
            }
            Record::Returned { depth } => within.truncate(depth as usize - 1),
            Record::Produce { item } if item >= FIRST_ITEM => {
                let by = within.last().and_then(|it| it.call);
                self.produced.entry(item).or_default().push(by);
            }
            _ => {}
        }
    }
}

/// Compares the log with the program's report, call by call.
fn check(what: &str, ran: &Ran, least: usize) {
    let errors = String::from_utf8_lossy(&ran.output.stderr);
    assert!(ran.output.status.success(), "{what}: {errors}");
    let said = said(ran);
    assert!(said.len() >= least, "{what}: {} calls", said.len());
    let functions = said.values().map(|(function, _)| *function).collect();
    let logged = Logged::of(ran.log(), &functions);
    assert_eq!(logged.calls.len(), said.len(), "{what}");
    for (call, (function, from)) in &said {
        let (named, item) = logged.calls[call];
        let by = logged.produced.get(&item);
        assert_eq!(
            (named, by),
            (*function, Some(&vec![*from])),
            "{what}: {call:?}, item {item:#x}"
        );
    }
    assert_eq!(ran.log().word(word::DROPPED), 0, "{what}");
}

/// Runs a program with our stand-in and with the real library.
fn both(name: &str, library: &str, arguments: &[&str], least: usize) {
    check(name, &with_stand_in(name).run(arguments), least);
    if let Some(lab) = with_real(name, library) {
        check(library, &lab.run(arguments), least);
    }
}

#[test]
fn each_handler_of_libevents_is_called_for_what_registered_it() {
    both("event", "libevent-2.1.so.7", &["chains"], 30_000);
}

#[test]
fn events_that_are_called_alike_are_told_apart() {
    both("event", "libevent-2.1.so.7", &["same"], 12);
}

#[test]
fn each_handler_of_libuvs_is_called_for_what_registered_it() {
    both("uv", "libuv.so.1", &[], 70_000);
}

#[test]
fn each_handler_of_glibs_is_called_for_what_registered_it() {
    both("glib", "libglib-2.0.so.0", &[], 40_000);
}

#[test]
fn each_handler_of_libevs_is_called_for_what_registered_it() {
    both("ev", "libev.so.4", &[], 40_000);
}

/// Calls to a plug-in's own library, which the program does not have, are followed as well.
#[test]
fn a_plug_ins_own_library_is_followed() {
    let [program, library, host] = ["event.c", "stand_in_event.c", "host.c"].map(source);
    let folder = recipe("plugin")
        .reads(&program)
        .reads(&library)
        .reads(&host)
        .command(gcc(
            &["-shared", "-fPIC", "-o", "libstand_in.so"],
            &[&library],
        ))
        .command(gcc(
            &[
                "-shared",
                "-fPIC",
                "-Dmain=run",
                "-o",
                "plugin.so",
                "-L.",
                "-Wl,-rpath,$ORIGIN",
            ],
            &[&program, Path::new("libstand_in.so")],
        ))
        .command(gcc(&["-o", "host"], &[&host, Path::new("-ldl")]))
        .build();
    let lab = Lab::of(folder.join("host"));
    let plugin = folder.join("plugin.so");
    let ran = lab.run(&[plugin.to_str().unwrap(), "chains"]);
    check("plug-in", &ran, 30_000);
}

#[test]
fn functions_of_other_meaning_with_such_names_are_left_alone() {
    let [plugin, host] = ["names.c", "host.c"].map(source);
    let folder = recipe("names")
        .reads(&plugin)
        .reads(&host)
        .command(gcc(&["-shared", "-fPIC", "-o", "names.so"], &[&plugin]))
        .command(gcc(&["-o", "host"], &[&host, Path::new("-ldl")]))
        // The same as a library that the program is linked to.
        .file(
            "linked.c",
            "int run(int, char **);\nint main(int argc, char **argv) { return run(argc, argv); }\n",
        )
        .command(gcc(
            &["-o", "linked", "-L.", "-Wl,-rpath,$ORIGIN"],
            &[Path::new("linked.c"), Path::new("names.so")],
        ))
        .build();
    let plugin = folder.join("names.so");
    for (program, arguments) in [("host", vec![plugin.to_str().unwrap()]), ("linked", vec![])] {
        let lab = Lab::of(folder.join(program));
        let (ran, alone) = (lab.run(&arguments), lab.alone(&arguments));
        assert!(ran.output.status.success(), "{program}: {:?}", ran.output);
        assert_eq!(ran.output.stdout, alone.stdout, "{program}");
        assert!(alone.stdout.len() > 20, "{program}");
        let handlers = ran
            .log()
            .each(|it| matches!(it.record, Record::Handler { .. }).then_some(()));
        assert_eq!(handlers.len(), 0);
    }
}

/// Streams of the server: bytes are received in the handler that reads, and the answer is sent for it.
fn check_streams(what: &str, ran: &Ran) {
    let errors = String::from_utf8_lossy(&ran.output.stderr);
    assert!(ran.output.status.success(), "{what}: {errors}");
    let text = ran.text();
    let handlers = text.lines().find(|it| it.starts_with("handlers"));
    let [reads, _writes] = numbers(handlers.unwrap())[..] else {
        panic!("{text}");
    };
    let log = ran.log();
    let main = *log.ids.keys().next().unwrap();
    let (mut within, mut received, mut sent) = (Vec::new(), 0, 0);
    let mut produced: HashMap<u64, u32> = HashMap::new();
    for entry in log.entries.iter().filter(|it| it.thread == main) {
        match entry.record {
            Record::Handler {
                item,
                function,
                stream,
                depth,
                ..
            } => {
                within.truncate(depth as usize - 1);
                let before = within.last().map_or(0, |it: &(u64, u32)| it.1);
                // A handler registered for reading belongs to its stream. One called within another continues its work.
                let stream = [stream, produced.get(&item).copied().unwrap_or(0), before];
                let stream = stream.into_iter().find(|it| *it != 0).unwrap_or(0);
                within.push((function, stream));
            }
            Record::Returned { depth } => within.truncate(depth as usize - 1),
            Record::Produce { item } => {
                produced.insert(item, within.last().map_or(0, |it| it.1));
            }
            Record::Receive { stream, length, .. } if length > 0 => {
                received += 1;
                assert_eq!(within, [(reads, stream)], "{what}: {received}");
            }
            Record::Send {
                stream, length: 8, ..
            } => {
                sent += 1;
                assert_eq!(within.last().map(|it| it.1), Some(stream), "{what}: {sent}");
            }
            _ => {}
        }
    }
    assert_eq!((received, sent), (10_000, 10_000), "{what}");
}

#[test]
fn what_libevents_buffers_read_is_read_by_the_programs_handler() {
    for (what, arguments) in [("at once", &[][..]), ("deferred", &["deferred"])] {
        if let Some(lab) = with_real("buffers", "libevent-2.1.so.7") {
            check_streams(what, &lab.run(arguments));
        }
    }
}

#[test]
fn what_libuv_reads_is_read_by_the_programs_handler() {
    if let Some(lab) = with_real("streams", "libuv.so.1") {
        check_streams("libuv", &lab.run(&[]));
    }
}

#[test]
fn operations_of_io_uring_are_counted() {
    let ran = with_stand_in("uring").run(&[]);
    let errors = String::from_utf8_lossy(&ran.output.stderr);
    assert!(ran.output.status.success(), "{errors}");
    let counted = numbers(&ran.text())[0];
    assert!(counted >= 30);
    assert_eq!(ran.log().word(word::UNSEEN_OPERATIONS), counted);
}
