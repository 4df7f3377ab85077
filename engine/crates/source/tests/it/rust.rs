//! Tables: a Rust text with the cursor at `│`, and what it becomes.

use fulcrum_source::{Language, ProgressPointKind, SourceFile, apply};

fn edited(marked: &str, kind: ProgressPointKind) -> String {
    let at = marked.find('│').expect("the case marks the cursor");
    let text = marked.replacen('│', "", 1);
    match SourceFile::parse(text.as_str().into(), Language::Rust).progress_point(at, kind) {
        Ok(edits) => apply(&text, &edits),
        Err(refused) => format!("refused: {refused}"),
    }
}

/// What becomes of the statements of a function that returns nothing.
fn check(kind: ProgressPointKind, body: &str, expect: &str) {
    let wrap = |body: &str| format!("fn f() {{\n{body}}}\n");
    assert_eq!(edited(&wrap(body), kind), wrap(expect), "{body}");
}

fn progress(body: &str, expect: &str) {
    check(ProgressPointKind::Throughput, body, expect);
}

#[test]
fn the_end_of_the_innermost_loop() {
    progress(
        "    for x in xs {│\n        work(x);\n    }\n",
        "    for x in xs {\n        work(x);\n        fulcrum_progress::progress!();\n    }\n",
    );
    progress(
        "    while let Some(x) = next() {\n        for y in x {\n            work(y);│\n        }\n    }\n",
        "    while let Some(x) = next() {\n        for y in x {\n            work(y);\n            \
         fulcrum_progress::progress!();\n        }\n    }\n",
    );
    progress(
        "    loop { a(); │b(); }\n",
        "    loop { a(); b(); fulcrum_progress::progress!(); }\n",
    );
    progress(
        "    loop {}│\n",
        "    loop {\n        fulcrum_progress::progress!();\n    }\n",
    );
}

#[test]
fn what_a_loop_ends_with_gets_its_semicolon() {
    progress(
        "    for x in xs {\n        work(x)│\n    }\n",
        "    for x in xs {\n        work(x);\n        fulcrum_progress::progress!();\n    }\n",
    );
    progress(
        "    for x in xs {\n        println!(\"{x}\")│\n    }\n",
        "    for x in xs {\n        println!(\"{x}\");\n        fulcrum_progress::progress!();\n    }\n",
    );
    progress(
        "    for x in xs {\n        if x {\n            a()│\n        }\n    }\n",
        "    for x in xs {\n        if x {\n            a()\n        }\n        fulcrum_progress::progress!();\n    }\n",
    );
    progress(
        "    loop {a()│}\n",
        "    loop {a(); fulcrum_progress::progress!(); }\n",
    );
}

#[test]
fn a_closing_jump_stays_last() {
    progress(
        "    loop {\n        a();│\n        break;\n    }\n",
        "    loop {\n        a();\n        fulcrum_progress::progress!();\n        break;\n    }\n",
    );
    progress(
        "    loop {\n        a();│\n        continue\n    }\n",
        "    loop {\n        a();\n        fulcrum_progress::progress!();\n        continue\n    }\n",
    );
}

#[test]
fn outside_of_loops_it_follows_the_statement() {
    progress(
        "    let a = 1;│ // one\n    b(a)\n",
        "    let a = 1; // one\n    fulcrum_progress::progress!();\n    b(a)\n",
    );
    progress(
        "    a();\n    b()│\n",
        "    a();\n    b();\n    fulcrum_progress::progress!();\n",
    );
    progress(
        "│\n    a();\n",
        "    fulcrum_progress::progress!();\n\n    a();\n",
    );
    assert_eq!(
        edited(
            "fn f() -> u32 {\n    a();\n    match x {│ _ => 1 }\n}\n",
            ProgressPointKind::Throughput
        ),
        "fn f() -> u32 {\n    a();\n    fulcrum_progress::progress!();\n    match x { _ => 1 }\n}\n",
        "what a function returns stays last"
    );
}

#[test]
fn closures_and_futures_end_the_search_for_a_loop() {
    progress(
        "    for x in xs {\n        spawn(move || {\n            work(x);│\n        });\n    }\n",
        "    for x in xs {\n        spawn(move || {\n            work(x);\n            \
         fulcrum_progress::progress!();\n        });\n    }\n",
    );
    progress(
        "    for x in xs {\n        let all = x.map(|y| y│ + 1);\n    }\n",
        "    for x in xs {\n        let all = x.map(|y| y + 1);\n        fulcrum_progress::progress!();\n    }\n",
    );
}

#[test]
fn latency_takes_the_functions_name_and_finds_its_pair() {
    check(
        ProgressPointKind::LatencyBegin,
        "    a();│\n",
        "    fulcrum_progress::begin!(\"f\");\n    a();\n",
    );
    check(
        ProgressPointKind::LatencyEnd,
        "    fulcrum_progress::begin!(\"request\");\n    a();│\n",
        "    fulcrum_progress::begin!(\"request\");\n    a();\n    fulcrum_progress::end!(\"request\");\n",
    );
    check(
        ProgressPointKind::LatencyBegin,
        "    #[cold]\n    let x = a();│\n",
        "    fulcrum_progress::begin!(\"f\");\n    #[cold]\n    let x = a();\n",
    );
}

#[test]
fn imported_macros_have_their_short_names() {
    let text = "use fulcrum_progress::{begin, progress};\nfn f() {\n    a();│\n}\n";
    assert!(edited(text, ProgressPointKind::Throughput).contains("    a();\n    progress!();\n"));
    assert!(
        edited(text, ProgressPointKind::LatencyEnd)
            .contains("    fulcrum_progress::end!(\"f\");\n")
    );
}

#[test]
fn removal_takes_the_line() {
    for (body, rest) in [
        (
            "    a();\n    fulcrum_progress::progress!();│\n    b();\n",
            "    a();\n    b();\n",
        ),
        (
            "    loop { a(); fulcrum_progress::progress!();│ }\n",
            "    loop { a(); }\n",
        ),
        (
            "    let _guard = fulcrum_progress::scope!(\"x\");│\n    b();\n",
            "    b();\n",
        ),
    ] {
        check(ProgressPointKind::Remove, body, rest);
    }
}

#[test]
fn refusals_say_what_to_do() {
    for (text, kind, expect) in [
        (
            "fn f() {\n    progress!();│\n}\n",
            ProgressPointKind::Remove,
            "refused: There is no progress point on line 2: put the cursor on a line with a macro of fulcrum_progress.",
        ),
        (
            "const fn f() -> u32 {\n    1│\n}\n",
            ProgressPointKind::Throughput,
            "refused: Line 2 is in a const function or block, which cannot hold a progress point: put it where the function is called.",
        ),
        (
            "struct │S;\n",
            ProgressPointKind::Throughput,
            "refused: Line 1 is not inside a function with a body: put the cursor on the loop or statement to measure.",
        ),
        (
            "macro_rules! m {\n    () => { a()│ };\n}\n",
            ProgressPointKind::Throughput,
            "refused: Line 2 is inside a macro definition: put the cursor where the macro is used.",
        ),
    ] {
        assert_eq!(edited(text, kind), expect);
    }
}

/// Whatever the cursor points at: good code or a sentence, and removing the point again leaves the file as it was.
#[test]
fn every_position_of_a_file() {
    let text = include_str!("../data/server.rs");
    let source = SourceFile::parse(text.into(), Language::Rust);
    let squeezed = |text: &str| text.split_whitespace().collect::<String>().replace(';', "");
    let (mut inserted, mut refused) = (0, 0);
    for at in 0..=text.len() {
        for kind in [
            ProgressPointKind::Throughput,
            ProgressPointKind::LatencyBegin,
            ProgressPointKind::LatencyEnd,
        ] {
            let Ok(edits) = source.progress_point(at, kind) else {
                refused += 1;
                continue;
            };
            inserted += 1;
            let now = apply(text, &edits);
            let point = now.find("fulcrum_progress::").expect("it was inserted");
            let removal = SourceFile::parse(now.as_str().into(), Language::Rust)
                .progress_point(point, ProgressPointKind::Remove)
                .unwrap_or_else(|why| panic!("{why} {kind:?} at {at}:\n{now}"));
            let back = apply(&now, &removal);
            assert_eq!(squeezed(&back), squeezed(text), "{kind:?} at {at}:\n{now}");
            // A value is never followed by anything, and only unit values get a semicolon.
            assert!(
                !now.contains("Ok(self.hits);") && !now.contains("total;\n"),
                "{now}"
            );
        }
    }
    assert!(
        inserted > 3000 && refused > 1000,
        "{inserted} edits, {refused} refusals"
    );
}
