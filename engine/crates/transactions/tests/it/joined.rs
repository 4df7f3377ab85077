//! Synopses across processes (Whodunit §7.4), and damaged records.

use fulcrum_transactions::stitch::{ProcessRecord, StitchError, Stitched};
use fulcrum_transactions::{
    Activity, Dictionary, ExportError, ExportedContext, ExportedElement, Joined, Link, ProcessId,
    Sample, Synopsis, UnknownLink,
};

use crate::support::bookstore::{Process, message};
use crate::support::{handler, path, request};

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
    record.profile.add(&Sample {
        context: Synopsis::EMPTY,
        thread: name,
        instance: None,
        stack: &[],
        cpu_ns: 1,
    });
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

/// §7.4: a synopsis is joined with its process.
#[test]
fn synopses_are_resolved_across_processes_and_unknown_ones_are_errors() {
    let mut front = Process::new(1, "front");
    let mut back = Process::new(2, "back");
    let (client, mut server) = (Activity::default(), Activity::default());
    message(
        (&mut front, &client, "main > call"),
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

/// A proxy and its upstream run the same program and do the same. They are two stages, and the request at the first one
/// names both.
#[test]
fn another_process_of_the_same_program_is_another_stage() {
    let (mut front, mut back) = (Process::new(1, "nginx"), Process::new(2, "nginx"));
    let (mut at_front, mut at_back) = (Activity::default(), Activity::default());
    let read = handler(&mut front.dictionary, "read");
    at_front.execute(&mut front.dictionary, Synopsis::EMPTY, read);
    let name = request(&mut front.dictionary, "GET /a");
    at_front.go_on(&mut front.dictionary, name);
    message(
        (&mut front, &at_front, "main > send"),
        (&mut back, &mut at_back),
        1,
        0,
    );
    let received = at_back.context();
    let read = handler(&mut back.dictionary, "read");
    at_back.execute(&mut back.dictionary, received, read);
    let name = request(&mut back.dictionary, "GET /file");
    at_back.go_on(&mut back.dictionary, name);
    back.sample(at_back.context(), "nginx", "main > read", 7);
    let stitched = Stitched::of(vec![front.end(), back.end()], Vec::new()).unwrap();
    let types = stitched.types();
    assert_eq!((&*types[0].name, types[0].cpu.cpu_ns), ("GET /a", 7));
    let context = stitched
        .type_of(ProcessId(2), at_back.context())
        .map(|it| stitched.type_name(it));
    assert_eq!(context, Some("GET /a"));
}
